"""An adaptive choice between losses on a grid: masses whose curve lies above the maximum of the options' curves.

At a knot the target is the largest proved upper bound of any option, and the masses are those of the one curve that
is linear in e^epsilon between the targets ("connect the dots"). The maximum of convex curves is convex, so that such a
curve lies above it everywhere. Below 0 the reversed losses say the same in numbers that do not cancel: the
probability under Q of a reversed loss l is the one under P of -l, divided by e^-l.
Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Section 4; Zhu, Dong and Wang (2022), Proposition 8.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.engines.single import single_delta
from dpaudit.model.losses import ChoiceLoss

Floats: TypeAlias = NDArray[np.float64]
_MOST = 1 << 14  # knots on either side of 0
_ROUNDING = 2.0**-48  # relative; what a handful of floating-point operations can do to a term
_TINY = 1e-300  # stands for a probability that underflows
_DIGITS = 2.0**20  # so that multiples of a width are exact


def dominating_masses(loss: ChoiceLoss, width: float, tail: float) -> tuple[float, int, Floats, float]:
    """Return a width near the wanted one, the knots below 0, a mass under P for each knot, and the mass at infinity.

    Shape: masses stand at whole multiples of the width, from that many below 0 upwards. What lies beyond the last knot,
    about `tail`, counts as infinite.
    Guarantee: every mass is rounded up, so that the curve of the masses is nowhere below the maximum of the options'.
    """
    there, back = _reach(loss, tail), _reach(loss.reversed(), tail)
    h = knot_width(max(width, max(there, back) / _MOST))
    right, left = (_targets(order, h, end) for order, end in ((loss, there), (loss.reversed(), back)))
    return h, len(left) - 1, connected_masses(right, left, h), float(right[-1])


def knot_width(wanted: float) -> float:
    """Return a width, as wanted or a little more, whose multiples are exact.

    >>> knot_width(0.1) >= 0.1
    True
    """
    step = 2.0 ** math.floor(math.log2(wanted))
    return math.ceil(wanted / step * _DIGITS) / _DIGITS * step


def connected_masses(right: Floats, left: Floats, h: float) -> Floats:
    """Return the masses under P of the curve through `right` at 0, h, 2h, ... and, reversed, through `left`.

    Shape: one mass for each knot from len(left) - 1 below 0 to len(right) - 1 above it.

    >>> connected_masses(np.array([0.4, 0.0]), np.array([0.4, 0.0]), 1.0).round(6).tolist()
    [0.232791, 0.134419, 0.632791]
    """
    right, left = (np.append(max(right[0], left[0]), side[1:]) for side in (right, left))
    shrink, decay = -math.expm1(-h), math.exp(-h)
    middle = 1 + (decay * left[1] - right[0]) / shrink - (right[0] - right[1]) * decay / shrink
    middle += _ROUNDING * (1 + 2 / shrink)
    losses = h * np.arange(len(left) - 1, 0, -1)
    below = np.maximum(_masses(left, h)[::-1] * np.exp(-losses) * (1 + _ROUNDING), _TINY)
    return np.asarray(np.concatenate([below, [max(0.0, middle)], _masses(right, h)]), np.float64)


def _masses(targets: Floats, h: float) -> Floats:
    """Return the masses of all knots but the first, rounded up, that bring a curve to its targets."""
    falls = targets[:-1] - targets[1:]
    from_below = falls / -math.expm1(-h)
    to_above = np.append(falls[1:], 0.0) / math.expm1(h)
    return np.maximum(from_below - to_above + _ROUNDING * (np.abs(from_below) + np.abs(to_above)), 0.0)


def _targets(loss: ChoiceLoss, h: float, end: float) -> Floats:
    """Return upper bounds on delta at 0, h, 2h, ... to just beyond `end`."""
    return np.array([_upper(loss, h * j) for j in range(math.ceil(end / h) + 2)])


def _upper(loss: ChoiceLoss, epsilon: float) -> float:
    """Return the largest proved upper bound of any option."""
    return max(single_delta(option, epsilon)[1] for option in loss.options)


def _reach(loss: ChoiceLoss, tail: float) -> float:
    """Return an epsilon beyond which no more than about `tail` is lost, apart from what is infinite."""
    goal = max(tail, loss.infinite_mass * (1 + 1e-9))
    low, high = 0.0, 1.0
    while _upper(loss, high) > goal:
        low, high = high, 2 * high
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if _upper(loss, middle) > goal else (low, middle)
    return high
