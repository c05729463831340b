"""A search over configurations: declared as the best of many runs, run as declared, and audited."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from algorithms.dp_sgd import DpSgd
from dpaudit import BestOf, Release, Stated, bracket_epsilon, fold
from dpaudit.errors import DeclarationError
from dpaudit.model.declaration import Declaration
from dpaudit.tuning import Search
from mechanisms import Laplace

RUN = Stated(epsilon=1.0, source="a run")
LAWS = {
    "fixed": (BestOf(part=RUN, law="fixed", runs=3), 1 / 8),
    "geometric": (BestOf(part=RUN, law="geometric", gamma=0.2), 0.2 / 1.2),
    "logarithmic": (BestOf(part=RUN, law="logarithmic", gamma=0.2), np.log(0.6) / np.log(0.2)),
    "negative binomial": (BestOf(part=RUN, law="negative_binomial", gamma=0.2, eta=2.0), (0.6**-2 - 1) / (0.2**-2 - 1)),
    "poisson": (BestOf(part=RUN, law="poisson", mean=4.0), np.exp(-2)),
}


@dataclass(frozen=True)
class Noisy:
    """A run that releases one number with Laplace noise; the learning rate is nothing that the data reads."""

    scale: float = 1.0
    learning_rate: float = 0.1

    def declaration(self) -> Declaration:
        noise = Laplace(scale=self.scale, l1_sensitivity=1.0, neighbours="replace_one")
        return Release(label="model", mechanism=noise)


@pytest.mark.parametrize("law", LAWS)
def test_the_number_of_runs_has_the_declared_law(law: str) -> None:
    """The mean of 2^-K is the generating function at 1/2; 20,000 draws are within 6 deviations (false alarm 2e-9)."""
    runs, expected = LAWS[law]
    search = Search(configurations=(Noisy(),), runs=runs)
    rng = np.random.default_rng(1)
    drawn = 0.5 ** np.array([search.number_of_runs(rng) for _ in range(20_000)])
    assert abs(drawn.mean() - expected) <= 6 * drawn.std() / np.sqrt(20_000) + 1e-12


def test_the_run_with_the_best_score_is_shown() -> None:
    """Nothing is shown of no run."""
    seen: list[float] = []

    def train(drawn: Noisy, rng: np.random.Generator) -> tuple[float, float]:
        seen.append(float(rng.normal()))
        return seen[-1], -abs(seen[-1])

    search = Search(configurations=(Noisy(), Noisy(learning_rate=1.0)), runs=BestOf(part=RUN, law="fixed", runs=9))
    assert search.best(train, np.random.default_rng(2)) == min(seen, key=abs)
    assert len(seen) == 9
    rare = Search(configurations=(Noisy(),), runs=BestOf(part=RUN, law="poisson", mean=1e-9))
    assert rare.best(train, np.random.default_rng(2)) is None


def test_configurations_that_release_different_things_are_refused() -> None:
    with pytest.raises(DeclarationError, match=r"configurations\[1\] releases something else"):
        Search(configurations=(Noisy(), Noisy(scale=2.0)), runs=RARE)
    with pytest.raises(ValueError, match="one configuration or more"):
        Search(configurations=(), runs=RARE)


RARE = BestOf(part=RUN, law="geometric", gamma=0.2, score="validation loss")


def test_a_search_of_dp_sgd_is_declared() -> None:
    models = tuple(
        DpSgd(epsilon=8.0, delta=1e-5, noise_multiplier=2.0, sample_rate=0.01, steps=20, max_grad_norm=1.0)
        for _ in range(2)
    )
    declared = Search(configurations=models, runs=RARE).declaration()
    assert (declared.law, declared.gamma, declared.score) == ("geometric", 0.2, "validation loss")
    once = bracket_epsilon(fold(models[0].declaration(), "add_remove"), 1e-5)
    assert once.lower < bracket_epsilon(fold(declared, "add_remove"), 1e-5).upper < 0.5


@pytest.mark.parametrize(
    "law", [{"law": "negative_binomial", "gamma": 0.5, "eta": 1e-9}, {"law": "geometric", "gamma": 1 - 1e-16}]
)
def test_a_law_that_is_nearly_always_one_run_is_drawn_at_once(law: dict[str, Any]) -> None:
    search = Search(configurations=(Noisy(),), runs=BestOf(part=RUN, **law))
    assert 1 <= search.number_of_runs(np.random.default_rng(1)) <= 60


@pytest.mark.parametrize("law", ["geometric", "logarithmic"])
def test_a_law_of_too_many_runs_is_refused_by_name(law: Any) -> None:
    search = Search(configurations=(Noisy(),), runs=BestOf(part=RUN, law=law, gamma=1e-300))
    with pytest.raises(DeclarationError, match="gamma=1e-300"):
        search.number_of_runs(np.random.default_rng(1))


@pytest.mark.parametrize("scores", [(math.nan, 1.0, 2.0), (2.0, math.nan, 1.0), (1.0, 2.0, math.nan)])
def test_a_score_that_is_nan_is_the_smallest_in_every_order(scores: tuple[float, ...]) -> None:
    left = iter(scores)
    search = Search(configurations=(Noisy(),), runs=BestOf(part=RUN, law="fixed", runs=3))
    assert search.best(lambda drawn, rng: (score := next(left), score), np.random.default_rng(2)) == 2.0
