"""Upper bounds on regret: what is proved of a champion, and published bounds that say nothing at the horizons here."""

import math
from typing import Any

import numpy as np
import pytest

from algorithms import Capri, DpEbs, GOptimalDueling, Lplr, LsviUcb, UcrlVtr
from algorithms.problems import load
from dpaudit import Streams
from dpaudit.model.constants import regret_upper_bound


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("utilities", [False, True])
def test_a_champion_loses_no_more_than_is_proved_of_it(epsilon: float, utilities: bool) -> None:
    """All five instances, four standard errors up; a 20th of the bound is too low."""
    config = DpEbs(epsilon=epsilon, horizon=10**6, arms=5, variant="champion")
    name = "utility_regret" if utilities else "preference_regret"
    for seed in range(5):
        problem = load("hardest_duels")(seed=seed, utilities=utilities)
        bound = config.regret_upper_bound(problem)
        assert bound is not None
        lost = config.run(problem, Streams.spawn(np.random.default_rng(seed)), 12).arrays[name]
        assert lost.mean() + 4 * lost.std(ddof=1) / math.sqrt(12) < bound.value < bound.most
        assert lost.mean() > bound.value / 20


_EPISODES: dict[str, Any] = {"episodes": 2_000, "steps": 4, "epsilon": 10.0, "delta": 1e-5}
_PUBLISHED: dict[str, tuple[Any, Any, float]] = {
    "dp_ebs": (DpEbs(epsilon=1.0, horizon=10_000, arms=5), load("hardest_duels")(), 7.08),
    "g_optimal": (
        GOptimalDueling(epsilon=1.0, horizon=10_000, arms=5, dimension=5),
        load("hardest_duels")(utilities=True),
        10.8,
    ),
    "capri": (
        Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=10_000, kernel="features"),
        load("hardest_bandit")(),
        10.8,
    ),
    "lplr": (Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2), load("hardest_linear")(), 15.83),
    "lsvi_ucb": (LsviUcb(dimension=4, **_EPISODES), load("hardest_process")(), 28.8),
    "ucrl_vtr": (UcrlVtr(model="joint", dimension=3, **_EPISODES), load("hardest_mixture")(), 12.1),
}


@pytest.mark.parametrize("name", _PUBLISHED)
def test_no_published_bound_says_anything_at_these_horizons(name: str) -> None:
    """It is the most that can be lost, which no measured regret exceeds; and it says from which horizon it is less."""
    algorithm, problem, begins = _PUBLISHED[name]
    bound = algorithm.regret_upper_bound(problem)
    assert bound.value == bound.most == problem.largest_regret * algorithm.number_of_units
    assert bound.log10 == pytest.approx(begins, abs=0.1)
    assert problem.uniform_regret < problem.largest_regret


def test_nothing_is_stated_where_a_theorem_has_no_constant_or_is_another_variants() -> None:
    """Theorem 9, pure claims, batches, cut widths, and a champion among options of which none beats all others."""
    duels = load("hardest_duels")()
    mixture, process = load("hardest_mixture")(), load("hardest_process")()
    pure: dict[str, Any] = {"episodes": 100, "steps": 4, "epsilon": 1.0, "calibration": "pure_repaired"}
    assert UcrlVtr(model="joint", bonus="bernstein", dimension=3, **_EPISODES).regret_upper_bound(mixture) is None
    assert UcrlVtr(model="joint", dimension=3, **pure).regret_upper_bound(mixture) is None
    assert LsviUcb(dimension=4, **pure).regret_upper_bound(process) is None
    shape: dict[str, Any] = {"epsilon": 1.0, "horizon": 10_000, "arms": 5}
    assert DpEbs(variant="batched", **shape).regret_upper_bound(duels) is None
    assert DpEbs(variant="champion", width_factor=0.5, **shape).regret_upper_bound(duels) is None
    even = load("hardest_duels")(arms=2, seed=1)
    object.__setattr__(even, "preferences", np.full((2, 2), 0.5))
    assert DpEbs(variant="champion", epsilon=1.0, horizon=10_000, arms=2).regret_upper_bound(even) is None
    assert regret_upper_bound(horizon=1e9, most=1.0, source="a theorem", log10=8.0) is None
    known = regret_upper_bound(horizon=1e9, most=1.0, source="a theorem", log10=8.0, value=5.0)
    assert known is not None
    assert known.value == 5.0
