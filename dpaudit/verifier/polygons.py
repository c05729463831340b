"""Privacy curves as convex polygons in x = e^loss: their corners, and the symmetric losses whose curves they are."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from dpaudit.verifier.losses import Loss, Multiset, alone, discrete, reverse, reversed_all
from dpaudit.verifier.numerics.rates import log_ratio
from dpaudit.verifier.refusals import Array, follow

UP = 2e-10  # relative; more than rounding makes of slopes and sums
_MOST = 2000  # outcomes of a table in both orders
Number = TypeVar("Number", float, Fraction)
Curve = Callable[[Fraction], Fraction]


def hull(points: Sequence[tuple[Number, Number]]) -> list[int]:
    """Return which points, the first coordinate growing, are corners of the largest convex curve below all of them."""
    corners: list[int] = []
    for i, (x, y) in enumerate(points):
        while len(corners) > 1:
            (x0, y0), (x1, y1) = points[corners[-2]], points[corners[-1]]
            if (y1 - y0) * (x - x1) < (y - y1) * (x1 - x0):
                break
            corners.pop()
        corners.append(i)
    return corners


def fallen(curve: Callable[[float], float], largest: float, delta: float) -> float:
    """Return about where a curve has fallen to a delta, in steps of the logarithm; the largest epsilon if nowhere."""
    places = largest * 10.0 ** np.linspace(-5, 0, 1 << 10)
    low, high = 0, len(places) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if curve(float(places[middle])) > delta else (low, middle)
    return float(places[high])


def symmetric(knots: Array, heights: list[float]) -> tuple[Array, Array, float]:
    """Return the losses and masses, and what is lost, of the symmetric pair whose curve has these heights at knots."""
    raised = 1 + UP + 1e-15 / float(np.diff(knots).min())
    x, h = np.exp(knots), np.minimum(1.0, np.array(heights) * raised)
    x, h = np.concatenate([1 / x[:0:-1], x]), np.concatenate([1 - (1 - h[:0:-1]) / x[:0:-1], h])
    corners = np.array(hull([(0.0, 1.0), *zip(x.tolist(), h.tolist(), strict=True)])[1:]) - 1
    x, h, values = x[corners], h[corners], np.concatenate([-knots[:0:-1], knots])[corners]
    slopes = np.append(np.diff(h) / np.diff(x), 0.0)
    over = values > 0
    masses = np.maximum(0.0, np.diff(slopes, prepend=-1.0))[over]
    values, p = values[over], masses * x[over]
    total = max(1.0, float(h[-1]) + math.fsum([*p, *masses]))
    zero_mass = max(0.0, 1 - (float(h[-1]) + math.fsum([*p, *masses])) / total)
    losses = np.concatenate([-values[::-1], [0.0], values])
    return losses, np.concatenate([masses[::-1] / total, [zero_mass], p / total]), float(h[-1])


def listed(values: Array, masses: Array, lost: float) -> Loss:
    """Return a symmetric loss by its values."""
    return discrete(list(zip(values.tolist(), masses.tolist(), strict=True)), lost, lost)


def either(part: Multiset) -> Multiset:
    """Return one finite loss as the larger curve of both orders, which is convex; other parts as given."""
    if not alone(part) or part == reversed_all(part):
        return part
    ((_, atoms, lost, other, *_),) = part
    return larger([(Fraction(p), Fraction(p * math.exp(-v))) for v, p in atoms], Fraction(lost), Fraction(other))


def larger(rows: list[tuple[Fraction, Fraction]], lost: Fraction, other: Fraction) -> Multiset:
    """Return the larger curve of two laws in both orders; `lost` is what only the first one has, `other` the second."""
    curves = _both_curves(rows, lost, other)
    at = sorted({Fraction(1), *(max(p / q, q / p) for p, q in rows)})
    pairs = [(x, y, *(curves[0](end) - curves[1](end) for end in (x, y))) for x, y in pairwise(at)]
    at = sorted({*at, *(x + (y - x) * a / (a - b) for x, y, a, b in pairs if a * b < 0)})
    return Counter([_even([(x, max(curve(x) for curve in curves)) for x in at], float(max(lost, other)))])


def smaller(part: Multiset) -> Multiset:
    """Return a part with each finite loss as what lies below both of its orders: the corners of a convex curve."""
    lower_losses: Multiset = Counter()
    for either_side, n in part.items():
        binned = either_side[0] == "between" and either_side != reverse(either_side)
        loss = either_side[2] if binned else either_side
        if loss[0] != "discrete" or loss == reverse(loss):
            lower_losses[loss] += n
            continue
        rows = [(Fraction(p), Fraction(q)) for v, p in loss[1] if (q := p * math.exp(-v))]
        curves = _both_curves(rows, Fraction(loss[2]), Fraction(loss[3]))
        at = sorted({Fraction(0), Fraction(1), *(x for p, q in rows for x in (p / q, q / p))})
        points = [(x, min(curve(x) for curve in curves)) for x in at]
        even = _even([points[i] for i in hull(points)], min(loss[2], loss[3]))
        lower_losses[("between", even, even) if binned else even] += n
    return lower_losses


def _both_curves(rows: list[tuple[Fraction, Fraction]], lost: Fraction, other: Fraction) -> list[Curve]:
    """Return the curves of two laws in both orders, at each x = e^l: sums over the outcomes of a larger ratio."""
    follow(len(rows) <= _MOST, f"a table of more than {_MOST} outcomes in both orders is beyond this checker")

    def curve(side: list[tuple[Fraction, Fraction]], end: Fraction) -> Curve:
        ranked = sorted(((-p / q, p, q) for p, q in side))
        ratios = [row[0] for row in ranked]
        sums = [[*accumulate((row[i] for row in ranked), initial=Fraction(0))] for i in (1, 2)]

        def at(x: Fraction) -> Fraction:
            n = bisect_left(ratios, -x)
            return end + sums[0][n] - x * sums[1][n]

        return at

    return [curve(rows, lost), curve([(q, p) for p, q in rows], other)]


def _even(points: list[tuple[Fraction, Fraction]], beyond: float) -> Loss:
    """Return the symmetric loss of a convex curve by its points: a change of slope at e^l > 1 is Q's mass at l."""
    slopes = [(b - a) / (y - x) for (x, a), (y, b) in pairwise(points)]
    changes = zip(points[1:], slopes, [*slopes, Fraction(0)][1:], strict=True)  # none where no outcome is shared
    gains = [(x, after - before) for (x, _), before, after in changes if x > 1 and after != before]
    over = [(log_ratio(x), float(x * q), float(q)) for x, q in gains]
    atoms = [(v, p) for v, p, _ in over if p] + [(-v, q) for v, _, q in over if q]
    return discrete([*atoms, (0.0, max(0.0, 1 - beyond - math.fsum(p for _, p in atoms)))], beyond, beyond)
