"""Adaptive choices of bounded ranges: the exponential mechanism, several times in a row; of one range from both sides.

A pair of range r has at worst two losses, t and t - r, t with probability u = (E - e^t) / (E - 1), E = e^r, and any t
from 0 to r. Which t is worst depends on what is asked, so that each step may choose its own from what was seen:

    D_0(x) = (1 - x)_+,    D_n(x) = sup_t  u D_(n-1)(x e^-t) + (1 - u) D_(n-1)(x e^(r-t)).

From below t and ln x lie on a grid of step h = r / m: those are strategies. Each keeps what it loses under Q, so that
its tangent holds between places of the grid. From above t lies in a cell [A, B] of e^t: X D(x / X) is convex in X, so
that it lies below the chord through both ends, and the value is c0 / X + c1 + c2 X, which is largest at an end or at
the root of c0 / c2. D_n is convex in x, so that chords hold between places.
Source: Dong, Durfee and Rogers (2020), Lemma 3.2 and Definition 4.1, for the pairs and the recursion.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpaudit.engines import renyi
from dpaudit.engines.engine import Ends, Engine, crossing
from dpaudit.engines.precision import Precision
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import Composition, DiscreteLoss, SimpleLoss

_FINEST, _COARSEST = 80, 6  # places of the grid within a range
_DEVIATIONS = 11.0  # of the sum of losses, each r / 2, that a window holds on either side
_SLIP = 2.0**-47  # over h: what rounding makes of a share or a slope, for each step
_NARROWEST, _WIDEST = 1e-3, 40.0  # ranges of which E - 1 keeps its digits
_CLOSED = 1e-13  # relative; what rounding makes of the closed form


class _Curve(NamedTuple):
    """D_n at places x: from below with the mass under Q of the event that shows it, and from above."""

    x: Floats
    low: Floats
    under_q: Floats
    high: Floats


def curve_at_once(span: float, epsilon: float) -> float:
    """Return the delta of one release of a bounded range: (e^(r/2) - e^(epsilon/2))^2 / (e^r - 1).

    >>> curve_at_once(2.0, 2.0), curve_at_once(2.0, 0.0) == math.tanh(0.5)
    (0.0, True)
    """
    gap = (span - epsilon) / 2
    return math.expm1(gap) ** 2 * math.exp(epsilon - span) / -math.expm1(-span) if gap > 0 else 0.0


@lru_cache(maxsize=32)
def _adaptive(span: float, times: int, cells: int) -> _Curve:
    """Return the curve of so many adaptive choices of one range."""
    h = span / cells
    reaches = [math.ceil(min(n * span, _window(span, n)) / h) for n in range(1, times + 1)]
    places = np.arange(-reaches[0], reaches[0] + 1) * h
    steps = np.exp(np.arange(cells + 1) * h)
    low = np.maximum(0.0, -np.expm1(places))
    under, high = (places < 0).astype(np.float64), low
    for reach in reaches:
        low, under = _strategy(low, under, steps, reach)
        high = _bound(high, steps, reach)
    slip = times * _SLIP / h / -math.expm1(-span)
    x = np.exp(np.arange(-reaches[-1], reaches[-1] + 1) * h)
    return _Curve(x, low * (1 - slip), under * (1 + slip), np.minimum(1.0, high * (1 + slip) + 1e-300))


def _window(span: float, times: int) -> float:
    """Return how far from 0 a sum of losses is followed."""
    return times * span**2 / 4 + _DEVIATIONS * math.sqrt(times) * span / 2 + span


def _strategy(low: Floats, under: Floats, steps: Floats, reach: int) -> tuple[Floats, Floats]:
    """Return one more step from below, on a window that reaches so many places; left of it all is told apart by 1 - x.

    Right of it nothing is told apart.
    """
    cells, exp_range, size = len(steps) - 1, steps[-1], 2 * reach + 1
    before = len(low) // 2
    pad = cells + reach - before
    outer = np.exp(np.log(steps[1]) * np.arange(-before - pad, -before))
    p = np.concatenate([1 - outer, low, np.zeros(pad)])
    q = np.concatenate([np.ones(pad), under, np.zeros(pad)])
    best, best_q = p[cells : cells + size].copy(), q[cells : cells + size].copy()
    for k in range(1, cells):
        share = (exp_range - steps[k]) / (exp_range - 1)
        at, above = slice(cells - k, cells - k + size), slice(2 * cells - k, 2 * cells - k + size)
        gain = share * p[at] + (1 - share) * p[above]
        better = gain > best
        event = share / steps[k] * q[at] + (1 - share) * exp_range / steps[k] * q[above]
        np.copyto(best, gain, where=better)
        np.copyto(best_q, event, where=better)
    return best, best_q


def _bound(high: Floats, steps: Floats, reach: int) -> Floats:
    """Return one more step from above, likewise; left of a window a curve lies below the chord from (0, 1)."""
    cells, exp_range, size = len(steps) - 1, steps[-1], 2 * reach + 1
    pad = cells + reach - len(high) // 2
    outer = np.exp(np.log(steps[1]) * np.arange(-pad, 0))
    padded = np.concatenate([1 - (1 - high[0]) * outer, high, np.full(pad, high[-1])])

    def moved(k: int) -> tuple[Floats, Floats, Floats]:
        """Return D at x e^-t, and with D at x e^(r-t) what t from place k on is made of."""
        curve, beyond = padded[cells - k : cells - k + size], padded[2 * cells - k : 2 * cells - k + size]
        return curve, exp_range * curve - beyond, beyond - curve

    rounded = _SLIP / math.log(steps[1]) * exp_range
    curve, share, rise = moved(0)
    best = curve.copy()
    for k in range(cells):
        a, b = steps[k], steps[k + 1]
        curve, share_after, rise_after = moved(k + 1)
        c0 = a * b / (b - a) * (share - share_after)
        c2 = (b * rise_after - a * rise) / (b - a)
        heights = share_after + b * rise_after
        inside = np.flatnonzero((c0 < 0) & (c2 < 0) & (c0 <= c2 * (a * a)) & (c0 >= c2 * (b * b)))
        c1 = b * share_after[inside] - a * share[inside] + a * b * (rise[inside] - rise_after[inside])
        root = c1 / (b - a) - 2 * np.sqrt(c0[inside] * c2[inside])
        heights[inside] = np.maximum(heights[inside], root)
        np.maximum(best, (heights + rounded * curve) / (exp_range - 1), out=best)
        share, rise = share_after, rise_after
    return best


def _covers(composition: Composition) -> bool:
    """Return whether some loss has a bounded range, and all others moments where there are others."""
    ranged = any(_span(loss) is not None for loss, _ in composition.parts)
    return ranged and (len(composition.parts) == 1 or renyi.has_moments(composition))


def _span(loss: SimpleLoss) -> float | None:
    """Return the range of a loss, None of one without."""
    return loss.span if isinstance(loss, DiscreteLoss) else None


def _curve(span: float, times: int, entries: float) -> _Curve | None:
    """Return the curve of choices, cut as finely as so many entries allow; None where that is too coarse."""
    reach = min(times * span, _window(span, times))
    cells = min(_FINEST, math.floor(math.sqrt(entries * span / (2 * times * reach))))
    return _adaptive(span, times, cells) if _NARROWEST <= span <= _WIDEST and cells >= _COARSEST else None


def _delta(composition: Composition, epsilon: float, precision: Precision) -> Ends:
    """Bound the largest delta that choices of ranges reach at an epsilon of 0 or more."""
    upper = 1.0
    if composition.events > 1 and renyi.has_moments(composition):
        upper = renyi.delta_ends(composition, epsilon, precision, ranged=True)[1]
    if len(composition.parts) > 1:
        return 0.0, upper
    low, high = _chosen_delta(composition, epsilon, precision)
    return min(low, upper), min(high, upper)


def _chosen_delta(composition: Composition, epsilon: float, precision: Precision) -> Ends:
    """Return bounds on the largest delta that choices of one range reach at an epsilon of 0 or more."""
    ((loss, times),) = composition.parts
    span = _span(loss) or 0.0
    if times == 1:
        exact = curve_at_once(span, epsilon)
        return exact * (1 - _CLOSED), min(1.0, exact * (1 + _CLOSED))
    if epsilon >= times * span:
        return 0.0, 0.0
    curve = _curve(span, times, precision.entries)
    if curve is None:
        return 0.0, 1.0
    x = math.exp(min(epsilon, 700.0))
    after = int(np.searchsorted(curve.x, x, side="right"))
    if after == len(curve.x):
        return 0.0, float(curve.high[-1])
    x_before, x_after = curve.x[after - 1], curve.x[after]
    slip = 4 * times * _SLIP * len(curve.x) / (2 * math.log(curve.x[-1])) / -math.expm1(-span)
    tangents = (
        curve.low[after - 1] - curve.under_q[after - 1] * (x - x_before) * (1 + slip),
        curve.low[after] + curve.under_q[after] * (x_after - x) * (1 - slip),
    )
    share = (x - x_before) / (x_after - x_before)
    chord = float(curve.high[after - 1] * (1 - share) + curve.high[after] * share) * (1 + _CLOSED)
    low = max(0.0, *(float(tangent) for tangent in tangents)) * (1 - _CLOSED)
    return min(low, chord), min(1.0, chord)


def _epsilon(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Bound the smallest epsilon of 0 or more at which choices of ranges reach no more than `delta`."""
    upper = math.inf
    if composition.events > 1 and renyi.has_moments(composition):
        upper = renyi.epsilon_ends(composition, delta, precision, ranged=True)[1]
    if len(composition.parts) > 1:
        return 0.0, upper
    low, high = _chosen_epsilon(composition, delta, precision)
    return min(low, upper), min(high, upper)


def _chosen_epsilon(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Return bounds on the smallest epsilon of 0 or more at which choices of one range reach no more than `delta`.

    At delta 0 it is the sum of all ranges, which choices come as near to as one likes.
    """
    ((loss, times),) = composition.parts
    span = _span(loss) or 0.0
    if times > 1 and delta:
        return crossing(lambda epsilon: _chosen_delta(composition, epsilon, precision), delta)
    root = math.exp(span / 2) - math.sqrt(delta * math.expm1(span))
    exact = 2 * math.log(max(1.0, root)) if delta else times * span
    off = _CLOSED * (1 + exact) if delta else _CLOSED * exact
    return max(0.0, exact - off), exact + off


RANGE = Engine(name="range", covers=_covers, delta_ends=_delta, epsilon_ends=_epsilon)
"""Both sides for choices of one bounded range, and the moments of pairs that have ranges from above.

Several releases of a bounded range have no pair that is the worst at every epsilon. The product of the laws that
dominate each of them is larger than any, so that these bounds are compared with no lower side of that product.
"""
