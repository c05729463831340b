"""Thousands of kinds of losses: classes keep brackets true, and an answer comes."""

import numpy as np
import pytest

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines.verified.merging import MOST_JOINED, merged
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition, LaplaceLoss, SampledGaussianLoss, SimpleLoss

KINDS = MOST_JOINED + 100


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


@pytest.mark.parametrize("kind", ["laplace", "sampled"])
def test_classes_count_every_member_once_on_both_sides(kind: str) -> None:
    """Few kinds on either side, as many events as before, and the upper side's sizes are nowhere below the lower's."""
    sizes = np.geomspace(0.001, 0.01, KINDS)
    low, high = merged(Composition(parts=tuple((sized(kind, float(size)), 1) for size in sizes)))
    for side, compared in ((low, np.less_equal), (high, np.greater_equal)):
        held = [(loss, times) for loss, times in side if isinstance(loss, LaplaceLoss | SampledGaussianLoss)]
        assert len(held) < KINDS / 4
        assert sum(times for _, times in held) == KINDS
        each = sorted(size for loss, times in held for size in [_size(loss)] * times)
        assert compared(each, sizes * (1 + (1e-12 if compared is np.less_equal else -1e-12))).all()


def _size(loss: LaplaceLoss | SampledGaussianLoss) -> float:
    return loss.shift if isinstance(loss, LaplaceLoss) else loss.mu / 200
