"""The tail of the privacy loss of the worst pair: how often an output moves the odds by more than e^epsilon.

P(L > epsilon) = h(x) - x h'(x+) with x = e^epsilon. h is convex, so that difference quotients on either side of x bound
the derivative. A pair that another one dominates may have a heavier tail somewhere; what holds of every pair, and of
whatever is computed from an output, stands in a column of its own (see `loss_tail`).
"""

import math
from collections.abc import Callable

from dpaudit.accounting.curves.hockey_stick import reach
from dpaudit.accounting.curves.table import CurveTable
from dpaudit.accounting.loss_tail import LossTail
from dpaudit.accounting.normal_form import NormalForm, both_orders
from dpaudit.engines import CLOSED, DEFAULT, TILTED, is_closed
from dpaudit.engines.tilted.engine import curves_near
from dpaudit.model.losses import Composition

Sides = Callable[[float], tuple[float, float]]
POINTS = 13
_STEPS = (1e-6, 1e-5, 1e-4, 5e-4, 2e-3, 4e-3, 8e-3, 2e-2, 6e-2, 0.2)
_ROUNDING = 1e-15


def tail_of_pair(composition: Composition, epsilon: float) -> tuple[float, float]:
    """Return lower and upper bounds on P(L > epsilon), for the pair (P, Q) that the composition is the loss of.

    Raises: UnsupportedError: no engine covers the composition.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> low, high = tail_of_pair(Composition.of(GaussianLoss(mu=0.26805)), 1.0)
    >>> round(low, 7), round(high, 7)
    (0.0001612, 0.0001612)
    """
    sides = _both_ways(composition, epsilon)
    here = sides(epsilon)
    lows, highs = [0.0, here[0]], [1.0]
    for step in _STEPS:
        start, end = epsilon - step, epsilon + step
        before, after = sides(start), sides(end)
        fall, rise = -math.expm1(start - epsilon), -math.expm1(epsilon - end)
        highs.append((before[1] - (1 - fall) * here[0] + _ROUNDING * before[1]) / fall)
        lows.append((here[0] - (1 - rise) * after[1] - _ROUNDING * here[0]) / rise)
    low = min(1.0, max(lows) * (1 - 4 * _ROUNDING))
    return low, max(low, min(1.0, *highs))


def _both_ways(composition: Composition, epsilon: float) -> Sides:
    """Return bounds on h around an epsilon, below 0 by the reversed pair: h(x) = 1 - x + x h_reversed(1 / x)."""
    sides = _sides(composition, epsilon)
    other = _sides(composition.reversed(), epsilon) if epsilon < _STEPS[-1] else sides

    def ask(at: float) -> tuple[float, float]:
        if at >= 0:
            return sides(at)
        low, high = (-math.expm1(at) + math.exp(at) * end for end in other(-at))
        return low * (1 - 4 * _ROUNDING), high * (1 + 4 * _ROUNDING)

    return ask


def _sides(composition: Composition, epsilon: float) -> Sides:
    """Return bounds on h around an epsilon: closed forms, one transform for all, or the engines."""
    if not composition.parts:
        return lambda at: (0.0, 0.0)
    if not is_closed(composition) and (curves := curves_near(composition, epsilon)) is not None:
        lower, upper = curves
        return lambda at: (lower.delta(at), upper.delta(at))
    asked = TILTED if TILTED.covers(composition) else CLOSED
    return lambda at: asked.delta_ends(composition, at, DEFAULT)


def tail_table(form: NormalForm, every_pair: LossTail, *, violated: bool, points: int = POINTS) -> CurveTable:
    """Return the tail of the worst pair, over both orders, beside a bound for every pair of neighbours.

    Where the pair that dominates is not known to be attained, only the bound for every pair stands above.
    """
    end = reach(form)
    epsilons = tuple(end * step / (points - 1) for step in range(points))
    attained = form.upper == form.lower
    rows = []
    for epsilon in epsilons:
        low, high = _worst(form.lower, epsilon)
        every = 1.0 if violated else max(low, every_pair.above(epsilon))
        rows.append((epsilon, low, min(high, every) if attained and not violated else every, every))
    return CurveTable(
        kind="tail",
        meaning="the probability that an output moves the odds of two neighbours by more than e^epsilon: of the worst "
        "pair, from both sides, and of every pair and whatever is computed from an output",
        columns=("epsilon", "lower", "upper", "every_pair_upper"),
        rows=tuple(rows),
        notes=() if attained else ("No pair is known to attain the bound from above; it is that for every pair.",),
    )


def _worst(alternatives: tuple[Composition, ...], epsilon: float) -> tuple[float, float]:
    """Return the largest tail of alternatives in both orders of the neighbours."""
    sides = [tail_of_pair(order, epsilon) for order in both_orders(alternatives)]
    return max(low for low, _ in sides), max(high for _, high in sides)
