"""The pair above an adaptive choice between pairs: the curve through the largest of all at each knot.

The masses are those of the one curve that is linear in e^epsilon between the largest values at knots ("connect the
dots"). The maximum of convex curves is convex, so that such a curve lies above it everywhere. Below 0 the reversed
pairs say the same in numbers that do not cancel: the probability under Q of a reversed loss l is the one under P of -l,
divided by e^-l.
Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Section 4; Zhu, Dong and Wang (2022), Proposition 8.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.transform import Floats

_MOST = 1 << 11  # knots on either side of 0
_UNIT = 2.0**-53
_ROUNDING = 2.0**-48  # relative; what a handful of floating-point operations can do to a term
_TINY = 1e-300  # stands for a probability that underflows
_DIGITS = 2.0**20  # so that multiples of a width are exact


def chosen_above(pairs: Sequence[FinitePair], width: float) -> FinitePair:
    """Return a pair whose curve lies nowhere below that of any of `pairs`, all from above.

    >>> import numpy as np
    >>> sure = FinitePair(losses=np.array([0.0]), masses=np.array([0.8]), infinite=0.2, missing=0.2)
    >>> fair = FinitePair(losses=np.array([-1.0, 1.0]), masses=np.array([0.26894142, 0.73105858]))
    >>> both = chosen_above([sure, fair], 0.01)
    >>> round(both.delta_above(0.0), 5), round(both.delta_above(2.0), 5)
    (0.46212, 0.2)
    """
    orders = [[pair, pair.reversed()] for pair in pairs]
    there, back = (max(float(order[i].losses.max(initial=0.0)) for order in orders) for i in (0, 1))
    h = knot_width(max(width, max(there, back) / _MOST))
    right, left = (
        np.max([order[i].deltas_above(h, math.ceil(end / h) + 2) for order in orders], axis=0)
        for i, end in ((0, there), (1, back))
    )
    masses = connected_masses(right, left, h)
    losses = np.asarray(h * np.arange(1 - len(left), len(right)), np.float64)
    under_q = float((masses * np.exp(-losses)).sum())
    return FinitePair(
        losses=losses,
        masses=masses,
        infinite=float(right[-1]),
        missing=max(0.0, 1 - under_q + _UNIT * (len(masses) + 8)),
        error=1e-14,
    )


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
