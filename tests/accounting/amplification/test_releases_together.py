"""Releases inside one Poisson sample whose record is replaced: both sides meet the pair of opposite records."""

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.model.bracket import Bracket
from mechanisms import DiscreteGaussian, DiscreteLaplace, Finite, Gaussian, Laplace, TruncatedDiscreteGaussian
from tests.accounting.amplification.named_pairs import NAMED
from tests.accounting.laws import Law, delta_of, law_of, moved, together

REACH = 70
EPSILONS = (0.0, 0.05, 0.3, 1.0)
LAPLACE = DiscreteLaplace(scale=2.0, l1_sensitivity=1, neighbours="add_remove")
WIDE = DiscreteLaplace(scale=2.5, l1_sensitivity=2, neighbours="add_remove")
NORMAL = DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="add_remove")
CUT = TruncatedDiscreteGaussian(stddev=2.0, cut=2.0, l2_sensitivity=1, neighbours="add_remove")
TABLE = Finite(first=(0.6, 0.3, 0.1), second=(0.1, 0.3, 0.6), neighbours="add_remove")
SKEWED = Finite(first=(0.6, 0.2, 0.2), second=(0.2, 0.3, 0.5), neighbours="add_remove")
PARTS: dict[str, list[Any]] = {
    "Laplace that moves by two": [WIDE],
    "normal": [NORMAL],
    "cut": [CUT],
    "two Laplace": [LAPLACE, LAPLACE],
    "Laplace and normal": [LAPLACE, NORMAL],
    "two kinds of Laplace": [LAPLACE, WIDE],
    "cut twice": [CUT, CUT],
    "three": [WIDE, CUT, LAPLACE],
}
TABLES: dict[str, list[Any]] = {
    "two tables": [TABLE, TABLE],
    "a table and noise": [TABLE, LAPLACE],
    "responses": [Finite(first=(0.7, 0.3), second=(0.3, 0.7), neighbours="add_remove")] * 5,
}


def law(noise: Any, side: int) -> Law:
    """The law of outputs without a record (0), with it (1) and with its opposite (-1)."""
    if isinstance(noise, Finite):
        return np.asarray([noise.second, noise.first][side == 1], np.float64)
    return law_of(noise, side * moved(noise), REACH)


def pair(noises: list[Any], rate: float) -> tuple[Law, Law]:
    """What a sample shows of a record and of its opposite."""
    alone, one, two = (together([law(noise, side) for noise in noises]) for side in (0, 1, -1))
    return (1 - rate) * alone + rate * one, (1 - rate) * alone + rate * two


def sample(noises: list[Any], rate: float) -> dp.Subsample:
    """All releases on one sample, each with a label of its own."""
    parts = tuple(dp.Release(label=f"r{i}", mechanism=noise) for i, noise in enumerate(noises))
    return dp.Subsample(part=dp.Sequential(parts=parts) if len(parts) > 1 else parts[0], rate=rate)


def bracket(noises: list[Any], rate: float, epsilon: float) -> Bracket:
    """Both sides of delta where the pair is named."""
    return dp.bracket_delta(dp.fold(sample(noises, rate), "replace_one", (NAMED,)), epsilon)


@pytest.mark.parametrize("rate", [0.1, 0.8, 1.0])
@pytest.mark.parametrize("case", PARTS)
def test_one_sample_is_the_sum_over_all_outputs(case: str, rate: float) -> None:
    """Opposite records: both sides are the exact sum, up to rounding and what lies beyond the outputs listed."""
    first, second = pair(PARTS[case], rate)
    beyond = 1e-11
    for epsilon in EPSILONS:
        exact, found = delta_of(first, second, epsilon), bracket(PARTS[case], rate, epsilon)
        assert found.lower <= exact + beyond
        assert exact <= found.upper + beyond
        assert found.upper - found.lower <= 1e-9 * exact + 1e-10


@pytest.mark.parametrize("rate", [0.1, 0.8])
@pytest.mark.parametrize("case", TABLES)
def test_tables_inside_one_sample(case: str, rate: float) -> None:
    """A record that changes an empty sample's answer, against one that does not; either sign of epsilon has its own."""
    first, second = pair(TABLES[case], rate)
    for epsilon in EPSILONS:
        exact, found = delta_of(first, second, epsilon), bracket(TABLES[case], rate, epsilon)
        assert found.lower <= exact + 1e-12
        assert exact <= found.upper + 1e-12
        assert found.upper - found.lower <= 1e-4 * exact + 1e-9


def test_two_samples_in_turn() -> None:
    """The exact sum over four outputs lies inside a narrow bracket."""
    noises, rate = [LAPLACE, CUT], 0.3
    first, second = pair(noises, rate)
    ratio = np.round(np.log(np.maximum(first, 1e-300) / np.maximum(second, 1e-300)), 10)
    _, group = np.unique(ratio, return_inverse=True)
    once = [np.asarray(np.bincount(group.ravel(), held), np.float64) for held in (first, second)]
    twice = [np.asarray(np.outer(held, held).ravel(), np.float64) for held in once]
    tree = dp.Repeat(part=sample(noises, rate), times=2)
    form = dp.fold(tree, "replace_one", (NAMED,))
    for epsilon in (0.1, 0.5):
        exact = delta_of(twice[0], twice[1], epsilon)
        found = dp.bracket_delta(form, epsilon)
        assert found.lower <= exact + 1e-9
        assert exact <= found.upper + 1e-9
        assert found.upper - found.lower <= 1e-3 * exact


def test_only_named_releases_move() -> None:
    """A pair of one label moves one of two releases; with none, nothing is known; a skewed table has both sides."""
    noises, rate = [LAPLACE, NORMAL], 0.3
    one = dp.Condition(kind="attained", text="A pair moves the first.", status="checked", about=("r0",))
    tree = sample(noises, rate)
    found = dp.bracket_delta(dp.fold(tree, "replace_one", (one,)), 0.05)
    alone = dp.bracket_delta(dp.fold(sample([LAPLACE], rate), "replace_one", (NAMED,)), 0.05)
    assert found.lower == pytest.approx(alone.lower, rel=1e-9) or found.lower <= alone.lower
    assert dp.bracket_delta(dp.fold(tree, "replace_one"), 0.05).lower == 0
    assert 0 < bracket([SKEWED, LAPLACE], rate, 0.05).lower < bracket([SKEWED, LAPLACE], rate, 0.05).upper


def test_continuous_noise_meets_its_integral() -> None:
    """Two Laplace sums, by a fine sum over the plane; normal noise beside has both sides within a thousandth."""
    scales, rate, epsilon = (2.0, 3.0), 0.2, 0.05
    noises = [Laplace(scale=scale, l1_sensitivity=1.0, neighbours="add_remove") for scale in scales]
    at = (np.arange(-30_000, 30_000) + 0.5) / 1000  # outputs in scales; the moves are whole steps apart
    laws = []
    for scale in scales:
        edges = [np.exp(-np.abs(at - side / scale)) * 0.0005 for side in (0, 1, -1)]
        keys, group = np.unique(np.round(np.log(edges[1] / edges[2]) * 1e6), return_inverse=True)
        assert len(keys) < 2100
        laws.append([np.bincount(group.ravel(), edge) for edge in edges])
    alone, one, two = (np.outer(a, b) for a, b in zip(*laws, strict=True))
    exact = delta_of((1 - rate) * alone + rate * one, (1 - rate) * alone + rate * two, epsilon)
    found = bracket(noises, rate, epsilon)
    assert found.lower * (1 - 1e-5) <= exact <= found.upper * (1 + 1e-5)
    assert found.upper - found.lower <= 1e-5 * found.upper
    mixed = [noises[0], Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"), LAPLACE]
    sides = dp.bracket_epsilon(dp.fold(dp.Repeat(part=sample(mixed, 0.05), times=100), "replace_one", (NAMED,)), 1e-6)
    assert sides.lower > 0
    assert sides.upper <= sides.lower * 1.001


@pytest.mark.parametrize("case", ["two Laplace", "three", "two tables", "a table and noise", "normal"])
@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_the_checker_derives_both_sides_again(case: str, factor: float) -> None:
    """Refuted below the attained epsilon and certified above the proved one; another rate is not accepted."""
    normal = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")
    noises = ({"normal": [LAPLACE, normal, normal]} | PARTS | TABLES)[case]
    target = 0.05 if case == "three" else 1e-3
    node = dp.Repeat(part=sample(noises, 0.25), times=2)
    sides = dp.bracket_epsilon(dp.fold(node, "replace_one", (NAMED,)), target)
    told = round((sides.lower if factor < 1 else sides.upper) * factor, 4)
    claim = dp.Claim(epsilon=told, delta=target, neighbours="replace_one")
    certificate = dp.certify(node, claim, conditions=(NAMED,), effort="quick")
    assert certificate.verdict == ("certified" if factor > 1 else "refuted")
    text = certificate.to_json()
    assert dp.verify(text).accepted, dp.verify(text)
    assert not dp.verify(text.replace('"rate": 0.25', '"rate": 0.2')).accepted
