"""The trade-off curve: the least error of the second kind of any test, by its error of the first kind.

f(a) = sup over x >= 0 of 1 - h(x) - x a, so that any bounds on h give bounds on f. It is the convexified minimum over
both orders of the neighbours. Source: Dong, Roth and Su (2022), Proposition 2.12.
"""

import numpy as np

from dpaudit.accounting.curves.hockey_stick import POINTS, HockeyStick
from dpaudit.accounting.curves.table import CurveTable
from dpaudit.engines.transform import Floats

_ROUNDING = 1e-14
_SMALLEST, _SMALL = 1e-6, 3  # every third level is a small one


def trade_off_bounds(curve: HockeyStick, level: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper bounds on f at each `level`, a probability of an error of the first kind.

    Guarantee: no test of any two neighbours errs less than the lower bound; no larger curve than the upper bound is
    true of all of them.

    >>> half = HockeyStick(epsilons=(0.0, 1.0), lower=(0.5, 0.5), upper=(0.5, 0.5))
    >>> low, high = trade_off_bounds(half, np.array([0.25]))
    >>> [round(float(end[0]), 6) for end in (low, high)]
    [0.25, 0.25]
    """
    x, high = np.exp(curve.epsilons), np.asarray(curve.upper)
    straight = 1 - high - np.multiply.outer(level, x)
    turned = (1 - high - level[:, None]) / x
    scale = _ROUNDING * (1 + np.multiply.outer(level, x))
    below = np.maximum((straight - scale).max(axis=1), (turned - 2 * _ROUNDING / x).max(axis=1))
    places, heights = curve.vertices()
    lines = 1 - heights - np.multiply.outer(level, places) + _ROUNDING * (1 + np.multiply.outer(level, places))
    most = np.minimum(lines.max(axis=1), 1 - level)
    return np.clip(below, 0.0, 1.0), np.clip(most, np.clip(below, 0.0, 1.0), 1.0)


def trade_off_table(curve: HockeyStick, points: int = POINTS) -> CurveTable:
    """Return the trade-off curve at `points` levels from 10^-6 to 1."""
    small = np.geomspace(_SMALLEST, 0.05, points // _SMALL, endpoint=False)
    levels = np.concatenate([small, np.linspace(0.05, 1.0, points - len(small))])
    low, high = trade_off_bounds(curve, levels)
    return CurveTable(
        kind="tradeoff",
        meaning="the least probability of an error of the second kind, over all tests of two neighbours, at a "
        "probability of an error of the first kind; the worst of both orders, convexified",
        columns=("false_positive_rate", "lower", "upper"),
        rows=tuple(zip(levels.tolist(), low.tolist(), high.tolist(), strict=True)),
    )
