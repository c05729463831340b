"""Whole numbers, and choices among values that differ between data sets, in coupled runs: weighed by exact masses."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits.outputs.calls import as_run
from audits.procedures.replayed import replayed
from audits.replay.conditions import Condition
from audits.replay.coupled_runs import Coupled, Coupling
from audits.replay.one_call import Player
from audits.replay.recording import WHOLE, Recorder
from dpaudit import Claim
from dpaudit.model.mechanism import Array

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
SWAP = Claim(epsilon=1.0, neighbours="replace_one")
FOUR, THREE = [1, 2, 3, 4], [1, 2, 3]

Function = Callable[..., Any]


def geometric(rows: list[int], rng: np.random.Generator, epsilon: float) -> int:
    """A count with discrete Laplace noise: the difference of two geometric draws."""
    p = 1 - math.exp(-epsilon)
    return len(rows) + int(rng.geometric(p)) - int(rng.geometric(p))


def poisson(rows: list[int], rng: np.random.Generator) -> int:
    return int(rng.poisson(len(rows)))


def binomial(rows: list[int], rng: np.random.Generator) -> int:
    return len(rows) + int(rng.binomial(6, 0.4))


def central(rows: list[int], rng: np.random.Generator) -> int:
    """A value of the data, by an exponential mechanism on its distance from 3; 5 is a value on one side."""
    values = [5 if row == 4 else row for row in rows] + [1]
    weights = np.exp(-np.abs(np.array(values) - 3.0))
    return int(rng.choice(values, p=weights / weights.sum()))


def mean_worth(function: Function, shift: list[float], condition: Condition) -> tuple[float, float]:
    """Return the mean worth of an event at epsilon 1, from four rows more likely, and its standard error."""
    coupling = Coupling(player=Player(run=as_run(function)[0]), neighbours=(FOUR, THREE), shift=np.array(shift))
    event = Coupled(coupling=coupling, conditions=(condition,), side=0, stake=1.0, growth=1.0)
    weighed = np.array(
        [
            [event.heard(coupling.player.call(data, 5, side, n), side) for n in range(400)]
            for side, data in enumerate((FOUR, THREE))
        ]
    )
    each: Array = (weighed[..., 0] - math.e * weighed[..., 1]).sum(axis=0)
    return float(each.mean()), float(each.std()) / math.sqrt(len(each))


def two_sided(least: int) -> float:
    """The probability that discrete Laplace noise at epsilon 2 is at least so large, for 0 and above."""
    ratio = math.exp(-2.0)
    return ratio**least / (1 + ratio)


CASES: dict[str, tuple[Function, list[float], float, float]] = {
    "geometric": (lambda rows, rng: geometric(rows, rng, 2.0), [1.0, 0.0], 4.0, two_sided(0) - math.e * two_sided(1)),
    "geometric, another shift": (
        lambda rows, rng: geometric(rows, rng, 2.0),
        [0.0, 3.0],
        4.0,
        two_sided(0) - math.e * two_sided(1),
    ),
    "poisson": (poisson, [], 7.0, stats.poisson.sf(6, 4) - math.e * stats.poisson.sf(6, 3)),
    "binomial": (binomial, [1.0], 9.0, stats.binom.sf(4, 6, 0.4) - math.e * stats.binom.sf(5, 6, 0.4)),
    "values of the data": (
        central,
        [],
        3.0,
        (1 + math.exp(-2)) / (1 + math.exp(-1) + 3 * math.exp(-2)) - math.e / (1 + math.exp(-1) + 2 * math.exp(-2)),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_worth_of_an_event_is_its_exact_margin(case: str) -> None:
    """The probability from four rows less e times that from three, by closed forms.

    Five standard errors of 400 runs: a false alarm has probability 6e-7 for each case.
    """
    function, shift, least, margin = CASES[case]
    mean, error = mean_worth(function, shift, Condition(name="number ", low=least))
    assert abs(mean - margin) <= 5 * error + 1e-12


def test_equal_values_are_one_choice() -> None:
    """1 stands twice among five values and twice among four: couples choose the same value, by its whole chance."""
    coupling = Coupling(player=Player(run=as_run(central)[0]), neighbours=(FOUR, THREE), shift=np.zeros(0))
    whole = {side: coupling.player.call(data, 1).weighed[0] for side, data in enumerate((FOUR, THREE))}
    assert [draw.values.tolist() for draw in whole.values()] == [[1, 2, 3, 5], [1, 2, 3]]
    calls = [coupling.player.call(FOUR, 5, number) for number in range(40)]
    for couple in (coupling.couple(call, 0) for call in calls):
        if couple.calls[0].returned != [5]:
            assert couple.calls[0].returned == couple.calls[1].returned
        else:
            assert couple.shares == (1.0, 0.0)


@pytest.mark.parametrize("law", WHOLE)
def test_log_masses_are_those_of_the_law(law: str) -> None:
    """Against SciPy, within and outside of the support."""
    parameters = {"geometric": (0.3,), "poisson": (2.5,), "binomial": (7.0, 0.4)}[law]
    known = {"geometric": stats.geom, "poisson": stats.poisson, "binomial": stats.binom}[law]
    numbers = np.arange(-2, 12)
    with np.errstate(invalid="ignore"):
        _, deviation, log_mass = WHOLE[law][1](numbers, *map(np.asarray, parameters))
    assert log_mass == pytest.approx(known.logpmf(numbers, *parameters))
    assert deviation == pytest.approx(known.std(*parameters))


def test_whole_numbers_keep_their_type_and_are_left_out() -> None:
    """As NumPy returns them; without noise they are their centre, moved they are whole."""
    plain, quiet = Recorder(seed=(1,)).generator(), Recorder(seed=(1,), factor=0.0).generator()
    assert type(plain.geometric(0.5)) is int
    assert plain.poisson(3.0, 2).dtype == np.int64
    assert (quiet.geometric(0.2), quiet.poisson(3.2), quiet.binomial(10, 0.5)) == (1, 3, 5)
    moved = Recorder(seed=(1,), shifts=(1.4,))
    assert moved.generator().geometric(0.5) == Recorder(seed=(1,)).generator().geometric(0.5) + 1
    assert np.random.default_rng(0).geometric(0.5, (2, 3)).shape == quiet.geometric(0.5, (2, 3)).shape


@pytest.mark.parametrize(
    ("function", "pair", "claim", "broken"),
    [
        (lambda rows, rng: geometric(rows, rng, 2.0), (FOUR, THREE), CLAIM, True),
        (lambda rows, rng: geometric(rows, rng, 1.0), (FOUR, THREE), CLAIM, False),
        (lambda rows, rng: rng.choice(np.sort(rows), p=[0.2, 0.6, 0.2]), ([1, 2, 3], [1, 2.5, 3]), SWAP, True),
        (lambda rows, rng: float(rows[rng.choice(3, p=[0.5, 0.2, 0.3])]), ([1, 2, 3], [1, 5, 3]), SWAP, True),
        (lambda rows, rng: [1, 2, 3][rng.choice(3, p=[0.2, 0.6, 0.2])], ([1, 2, 3], [1, 2.5, 3]), SWAP, False),
    ],
)
def test_a_replay_finds_half_the_noise_and_candidates_from_the_data(
    function: Function, pair: tuple[Any, Any], claim: Claim, broken: bool
) -> None:
    """With 1,000 runs. A chosen place may stand for another value. Twins: the noise of the proof, public candidates."""
    looked = replayed(function, pair, None, claim, runs=1_000, rng=np.random.default_rng(1))
    assert (looked.violation is not None) is broken
