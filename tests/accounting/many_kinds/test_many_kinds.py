"""Thousands of kinds of losses: classes keep brackets true, and an answer comes."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import PROVED_UPPERS, TILTED
from dpaudit.engines.basic import total_supremum
from dpaudit.engines.tilted.classes import few_kinds
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import (
    Composition,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

KINDS = 2600


def epsilon_of(*parts: tuple[SimpleLoss, int]) -> Bracket:
    """Return the smallest epsilon of a composition at delta 1e-5."""
    composition = Composition(parts=parts)
    return bracket_epsilon(NormalForm(upper=(composition,), lower=(composition,)), 1e-5)


def sized(kind: str, size: float) -> SimpleLoss:
    """Return a loss of a kind and a size."""
    return LaplaceLoss(shift=size) if kind == "laplace" else SampledGaussianLoss(mu=200 * size, rate=0.01)


@pytest.mark.parametrize(("kind", "width"), [("laplace", 0.03), ("sampled", 0.2)])
def test_many_kinds_lie_between_their_smallest_and_largest(kind: str, width: float) -> None:
    """All kinds at the smallest cost no more, all at the largest no less; how far both ends may lie is asserted."""
    sizes = np.linspace(0.0049, 0.0051, KINDS)
    found = epsilon_of(*((sized(kind, float(size)), 1) for size in sizes))
    assert found.upper >= epsilon_of((sized(kind, float(sizes[0])), KINDS)).lower
    assert found.lower <= epsilon_of((sized(kind, float(sizes[-1])), KINDS)).upper
    middle = epsilon_of((sized(kind, 0.005), KINDS))
    assert middle.upper * (1 - width) < found.lower <= found.upper < middle.lower * (1 + width)


def test_classes_count_every_member_once_on_both_sides() -> None:
    """Few kinds on either side, as many events as before, and the upper side's sizes are nowhere below the lower's."""
    sizes = np.geomspace(0.001, 0.01, KINDS)
    low, high = few_kinds(Composition(parts=tuple((sized("sampled", float(size)), 1) for size in sizes)), 1 << 19)
    for side, compared in ((low, np.less_equal), (high, np.greater_equal)):
        held = [(loss, times) for loss, times in side if isinstance(loss, SampledGaussianLoss)]
        assert len(held) < KINDS / 4
        assert sum(times for _, times in held) == KINDS
        each = sorted(size for loss, times in held for size in [loss.mu / 200] * times)
        assert compared(each, sizes * (1 + (1e-12 if compared is np.less_equal else -1e-12))).all()


def test_the_largest_losses_of_thousands_of_kinds_add_up_within_an_ulp_each() -> None:
    """Both bounds lie around the exact sum of ratios, and next to it."""
    parts = tuple((LaplaceLoss.exactly(Fraction(1, 1000 + i)), 1) for i in range(1500))
    exact = sum((loss.exact for loss, _ in parts), start=Fraction(0))
    low, high = total_supremum(Composition(parts=parts))
    assert Fraction(low) <= exact <= Fraction(high)
    assert high - low <= 1e-15 * high
    assert total_supremum(Composition(parts=(*parts, (GaussianLoss(mu=1.0), 1)))) == (math.inf, math.inf)


def test_the_upper_side_alone_is_as_near_as_both_sides_together() -> None:
    """Above the lower end that the same engine proves, and near its upper one, on half the knots."""
    losses = tuple((LaplaceLoss(shift=1 / (50.0 + i)), 1) for i in range(30))
    composition = Composition(parts=(*losses, (GaussianLoss(mu=0.1), 1)))
    for alone, both, width in (
        (TILTED.epsilon(composition, 1e-6, PROVED_UPPERS), TILTED.epsilon(composition, 1e-6), 1e-5),
        (TILTED.delta(composition, 0.5, PROVED_UPPERS), TILTED.delta(composition, 0.5), 2e-4),
    ):
        assert both.lower <= alone.upper <= both.upper * (1 + width)
        assert alone.lower == 0
