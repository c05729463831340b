"""With usable widths the best option is found, and privacy costs what the theorems say it must."""

import math
from typing import Any

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.problems import load
from algorithms.problems.duels import Duels
from dpaudit import Streams
from dpaudit.model.mechanism import Array

NO_NOISE = 1e6


def regret(config: DpEbs, problem: Duels, runs: int, seed: int = 0) -> tuple[Any, Any]:
    transcript = config.run(problem, Streams.spawn(np.random.default_rng(seed)), runs)
    found = (transcript.arrays["recommended"] == problem.best).mean()
    return transcript.arrays["utility_regret"].mean(), found


def tree(epsilon: float, horizon: int, arms: int = 5, **settings: Any) -> DpEbs:
    return DpEbs(epsilon=epsilon, horizon=horizon, arms=arms, width="tight", **settings)


def slope(x: Array, y: list[Any]) -> Any:
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def test_the_best_option_is_found_whenever_the_others_are_removed() -> None:
    """eps = 4 and T = 1e5: all runs end with the best option, at failure probability 1/T."""
    assert regret(tree(4, 100_000), load("bradley_terry")(), 6)[1] == 1.0


def test_extra_regret_of_the_trees_falls_like_one_over_epsilon() -> None:
    """T4 for Algorithm 1 with the usable width: slope -1 +- 0.2 over eps 2, 4, 8 at T = 4e5."""
    problem = load("bradley_terry")(arms=3)
    epsilons = np.array([2.0, 4.0, 8.0])
    base = regret(tree(NO_NOISE, 400_000, arms=3), problem, 8)[0]
    found = [regret(tree(e, 400_000, arms=3), problem, 4)[0] - base for e in epsilons]
    assert slope(epsilons, found) == pytest.approx(-1, abs=0.2)


def test_privacy_is_almost_free_in_two_dimensions() -> None:
    """T7: R(1) / R(infinity) <= 1.3 for d = 2, K = 20, T = 1e5, over 24 problems; the best option is never dropped."""
    totals = np.zeros(2)
    for seed in range(24):
        problem = load("sphere")(arms=20, dimension=2, seed=seed)
        for place, epsilon in enumerate((1.0, NO_NOISE)):
            config = GOptimalDueling(epsilon=epsilon, horizon=100_000, arms=20, dimension=2)
            transcript = config.run(problem, Streams.spawn(np.random.default_rng(seed)), 4)
            totals[place] += transcript.arrays["utility_regret"].mean()
            assert transcript.arrays["survivors"][:, -1, problem.best].all()
    assert totals[0] / totals[1] <= 1.3


def test_every_option_is_played_as_often_as_privacy_demands() -> None:
    """T8: any private algorithm plays each option 0.0259 / eps times or more on average; these do, many times over."""
    for config in (tree(0.1, 2_000), DpEbs(epsilon=0.1, horizon=2_000, arms=5, variant="batched")):
        plays = config.run(load("bradley_terry")(), Streams.spawn(np.random.default_rng(0)), 5).arrays["plays"]
        assert plays.sum(axis=2).mean(axis=0).min() >= (3 / (4 * math.e) - 0.25) / 0.1


def test_the_local_variant_learns_at_a_price() -> None:
    """At eps = 2 local privacy costs regret above that without noise, and ends with the best option."""
    problem = load("bradley_terry")()
    local, found = regret(DpEbs(epsilon=2, horizon=100_000, arms=5, model="local", width="tight"), problem, 6)
    assert found == 1.0
    assert local > regret(tree(NO_NOISE, 100_000), problem, 6)[0]
