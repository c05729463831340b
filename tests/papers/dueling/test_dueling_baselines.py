"""Policies without privacy follow their papers, and beat uniform play."""

import math
from typing import Any

import numpy as np
import pytest

from algorithms._dueling.baselines.copeland import DoubleThompson, RelativeUpperConfidence, bounds
from algorithms._dueling.baselines.divergence import RelativeMinimumDivergence
from algorithms._dueling.baselines.simulation import simulate
from algorithms.problems import load

POLICIES: dict[str, Any] = {
    "rucb": RelativeUpperConfidence,
    "double_thompson": DoubleThompson,
    "rmed1": RelativeMinimumDivergence,
}
WINS = np.array([[0.0, 3.0], [1.0, 0.0]])


def test_the_bounds_are_the_papers() -> None:
    """Share +- sqrt(0.51 ln t / n) at t = 10: 0.75 +- 0.5419, one half on the diagonal, 1 and 0 where nobody met."""
    upper, lower = bounds(WINS, 0.51, 10)
    half = math.sqrt(0.51 * math.log(10) / 4)
    assert upper[0, 1] == pytest.approx(0.75 + half)
    assert lower[1, 0] == pytest.approx(0.25 - half)
    assert upper[0, 0] == lower[1, 1] == 0.5
    assert bounds(np.zeros((2, 2)), 0.51, 10)[0][0, 1] == 1


def test_the_divergence_is_that_of_losing_pairs() -> None:
    """I_2 = 4 d(1/4, 1/2) = 4 (ln 2 - h(1/4)); the winner's is 0."""
    held = RelativeMinimumDivergence(arms=2)
    held.wins = WINS
    entropy = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert held.divergences() == pytest.approx([0, 4 * (math.log(2) - entropy)])


def test_a_sole_candidate_becomes_the_champion_and_meets_its_strongest_rival() -> None:
    """RUCB with overwhelming counts: option 0 against whoever's upper bound over it is largest."""
    held = RelativeUpperConfidence(arms=3)
    held.wins = np.array([[0, 900.0, 60], [100, 0, 900], [40, 100, 0]])
    assert held.choose(1000, np.random.default_rng(0)) == (0, 2)
    assert held.champion == 0


def test_double_thompson_meets_its_only_open_rival_or_itself() -> None:
    """Counts that leave no doubt: the best option plays itself; with one pair open, it meets that rival or itself."""
    held = DoubleThompson(arms=3)
    held.wins = np.array([[0, 9e6, 9e6], [1e6, 0, 9e6], [1e6, 1e6, 0]])
    assert {held.choose(1000, np.random.default_rng(seed)) for seed in range(20)} == {(0, 0)}
    held = DoubleThompson(arms=3)
    held.wins = np.array([[0, 9e6, 3.0], [1e6, 0, 9e6], [2.0, 1e6, 0]])
    assert {held.choose(1000, np.random.default_rng(seed)) for seed in range(60)} == {(0, 0), (0, 2)}


def test_rmed1_meets_every_pair_once_and_then_the_favourite() -> None:
    """The first three duels of three options; then option 1, which lost to the favourite 0, meets it."""
    held, rng = RelativeMinimumDivergence(arms=3), np.random.default_rng(0)
    assert [held.choose(number, rng) for number in (1, 2, 3)] == [(0, 1), (0, 2), (1, 2)]
    held.wins = np.array([[0, 8.0, 8.0], [2.0, 0, 8.0], [2.0, 2.0, 0]])
    assert held.divergences()[0] == 0
    assert held.choose(4, rng) == (0, 0)
    assert held.choose(5, rng) == (1, 0)


@pytest.mark.parametrize("name", POLICIES)
def test_of_two_options_the_one_known_beyond_doubt_meets_itself(name: str) -> None:
    """Nine million wins of ten: no regret is left; with one win of two, the rival is met."""
    held = POLICIES[name](arms=2)
    if name == "rmed1":
        held.queue = []
    held.wins = np.array([[0, 9e6], [1e6, 0]])
    assert held.choose(100, np.random.default_rng(0)) == (0, 0)
    held = POLICIES[name](arms=2)
    held.wins = np.array([[0, 1.0], [1.0, 0]])
    met = {held.choose(100, np.random.default_rng(seed)) for seed in range(20)}
    assert met & {(0, 1), (1, 0)}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_learns_the_best_option(name: str) -> None:
    """After 3,000 rounds regret is below half of that of uniform play, which is the mean over all pairs."""
    problem = load("sphere")(arms=6, dimension=2, norm=2.0, seed=3)
    plays = simulate(POLICIES[name](arms=6), problem, 3_000, np.random.default_rng(1))
    assert plays.sum() == 3_000
    regret, uniform = (plays * problem.utility_regret).sum(), 3_000 * problem.utility_regret.mean()
    assert regret < 0.5 * uniform
