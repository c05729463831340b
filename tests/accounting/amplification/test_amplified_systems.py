"""Brackets of small samples, secret steps and shuffles, against every data set and every output counted out."""

from dataclasses import replace

import numpy as np
import pytest

from dpaudit import bracket_delta, fold
from dpaudit.engines import QUICK
from dpaudit.engines.pairs.derived import pair_above
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import DiscreteLoss
from tests.accounting.amplification.amplified_systems import Drawn, draw
from tests.accounting.amplification.integer_systems import draw_counted
from tests.accounting.amplification.named_pairs import NAMED

ROUNDING = 1e-9, 1e-14
"""What sums over outputs may be wrong by, relatively and besides."""


def judged(seed: int, *, broken: bool = False) -> list[tuple[float, Bracket]]:
    """Return the truth and the bracket of one system at two epsilons; `broken` declares half of what it releases."""
    rng = np.random.default_rng([14, seed])
    system = draw(rng)
    declared: Drawn = replace(system, rate=system.rate / 2, steps=2 * system.steps) if broken else system
    form = fold(declared.declaration(), system.neighbours, (NAMED,))
    epsilons = (0.0, float(np.round(rng.uniform(0.02, 1) * 1.5, 3)))
    return [(system.delta(epsilon), bracket_delta(form, epsilon, QUICK)) for epsilon in epsilons]


def below_truth(truth: float, bracket: Bracket) -> bool:
    """Return whether an upper end is surely below the truth."""
    return bracket.upper < truth * (1 - ROUNDING[0]) - ROUNDING[1]


@pytest.mark.parametrize("number", [80, pytest.param(10_000, marks=pytest.mark.slow)], ids=["some", "ten thousand"])
def test_no_bracket_of_an_enumerated_system_is_wrong(number: int) -> None:
    """Samples of every scheme, secret steps, shuffled reports: no end of a bracket lies on the wrong side."""
    for seed in range(number):
        for truth, bracket in judged(seed):
            assert not below_truth(truth, bracket), seed
            assert bracket.lower <= truth * (1 + ROUNDING[0]) + ROUNDING[1], seed


def judged_count(seed: int, *, broken: bool = False) -> list[tuple[float, Bracket]]:
    """Return the truth and the bracket of noisy counts whose record is replaced; `broken` declares half of the rate."""
    rng = np.random.default_rng([19, seed])
    system = draw_counted(rng)
    declared = replace(system, rate=system.rate / 2) if broken else system
    form = fold(declared.declaration(), "replace_one", (NAMED,))
    epsilons = (0.0, float(np.round(rng.uniform(0.02, 1) * 1.5, 3)))
    return [(system.delta(epsilon), bracket_delta(form, epsilon, QUICK)) for epsilon in epsilons]


@pytest.mark.parametrize("number", [40, pytest.param(2000, marks=pytest.mark.slow)], ids=["some", "two thousand"])
def test_no_bracket_of_an_enumerated_count_is_wrong(number: int) -> None:
    """Integer noise on Poisson samples, a record replaced: both ends lie on their side, and meet the truth closely."""
    for seed in range(number):
        for truth, bracket in judged_count(seed):
            assert not below_truth(truth, bracket), seed
            assert truth * (1 - 5e-3) - 1e-9 <= bracket.lower <= truth * (1 + ROUNDING[0]) + ROUNDING[1], seed
            assert bracket.upper <= truth * (1 + 5e-3) + 1e-9, seed


def test_half_of_a_counts_rate_is_caught() -> None:
    """The broken twin of noisy counts."""
    assert all(any(below_truth(*found) for found in judged_count(seed, broken=True)) for seed in range(3))


def test_half_of_a_rate_and_twice_the_steps_are_caught() -> None:
    """The broken twin: an upper end that lies below the truth is seen."""
    systems = (13, 28, 51, 178)
    assert all(any(below_truth(*found) for found in judged(seed, broken=True)) for seed in systems)


def test_a_raised_loss_leaves_its_rest_to_the_other_law() -> None:
    """Both laws of a pair from above are whole, although its atoms are moved to common knots."""
    loss = DiscreteLoss(atoms=((-1.791759469228055, 0.125), (0.0, 0.125), (1.791759469228055, 0.75)))
    pair = pair_above(loss, 0.01, 1e-30)
    assert pair.masses.sum() >= 1 - 1e-15
    assert (pair.masses * np.exp(-pair.losses)).sum() + pair.missing >= 1 - 1e-15
