"""The losses whose curves are the larger one of both orders of a finite loss, and a lower bound on the smaller one."""

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

from dpaudit.model.losses.discrete import DiscreteLoss

_Rows = list[tuple[Fraction, Fraction]]
_LARGEST = Fraction(10**300)  # a ratio that a float holds


@lru_cache(maxsize=32)
def larger_order(loss: DiscreteLoss) -> DiscreteLoss:
    """Return the symmetric loss with the larger curve of `loss` and of its reverse at every epsilon.

    It dominates both, also where each step of a run has another order. With x = e^epsilon both curves are convex and
    piecewise linear in x, and so is their maximum; a change of slope at x is an atom of the loss ln x. All of it is
    rational arithmetic on the stated floats, rounded once at the end.
    Source: Zhu, Dong and Wang (2022), Proposition 8.

    >>> steep = DiscreteLoss(atoms=((math.log(2), 0.5), (math.log(0.75), 0.5)), reverse_infinite_mass=1 / 12)
    >>> round(steep.infinite_mass, 12), round(larger_order(steep).infinite_mass, 12)
    (0.0, 0.083333333333)
    """
    rows = [(Fraction(p), Fraction(p * math.exp(-v))) for v, p in loss.atoms]
    return larger_of(tuple(rows), *_whole(rows, loss))


@lru_cache(maxsize=32)
def larger_of(rows: tuple[tuple[Fraction, Fraction], ...], infinite: Fraction, reverse: Fraction) -> DiscreteLoss:
    """Return the same for exact laws: pairs of positive probabilities, and what only the first or the second law has.

    >>> thirds = (Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(1, 2))
    >>> larger_of(thirds, Fraction(0), Fraction(0)).supremum == math.log(2)
    True
    """
    curves = _Curve(list(rows), infinite), _Curve([(q, p) for p, q in rows], reverse)
    at = sorted({p / q for p, q in rows} | {q / p for p, q in rows})
    at = sorted({*at, *_crossings(curves, [Fraction(0), *at])})
    return _symmetric(at, [max(curve.at(x) for curve in curves) for x in at], max(infinite, reverse))


@lru_cache(maxsize=32)
def smaller_order(loss: DiscreteLoss) -> DiscreteLoss:
    """Return the symmetric loss that `loss` and its reverse both dominate: what is known of a pair in unknown order.

    Its curve is the largest convex one below both. Between the corners of both curves the smaller one is concave, so
    that the corners alone count. What rounding left out of a law is not at infinity: it would be an atom of no pair.

    >>> steep = DiscreteLoss(atoms=((math.log(2), 0.5), (math.log(0.75), 0.5)), reverse_infinite_mass=1 / 12)
    >>> least = smaller_order(steep)
    >>> least.infinite_mass, least.hockey_stick(0.5) <= steep.reversed().hockey_stick(0.5)
    (0.0, True)
    """
    rows = [(Fraction(p), Fraction(p * math.exp(-v))) for v, p in loss.atoms]
    infinite, reverse = Fraction(loss.infinite_mass), Fraction(loss.reverse_infinite_mass)
    curves = _Curve(rows, infinite), _Curve([(q, p) for p, q in rows], reverse)
    at = sorted({Fraction(0), Fraction(1)} | {p / q for p, q in rows} | {q / p for p, q in rows})
    corners: list[tuple[Fraction, Fraction]] = []
    for x in at:
        height = min(curve.at(x) for curve in curves)
        while len(corners) > 1 and _inside(corners[-2], corners[-1], (x, height)):
            corners.pop()
        corners.append((x, height))
    return _symmetric([x for x, _ in corners], [height for _, height in corners], min(infinite, reverse))


def _inside(
    left: tuple[Fraction, Fraction], middle: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]
) -> bool:
    """Return whether the middle point lies on or above the line between the others."""
    return (middle[1] - left[1]) * (right[0] - middle[0]) >= (right[1] - middle[1]) * (middle[0] - left[0])


def _symmetric(at: list[Fraction], heights: list[Fraction], lost: Fraction) -> DiscreteLoss:
    """Return the symmetric loss with a convex curve, by its heights at its corners; a change of slope is an atom.

    A law that rounding has made larger than 1 is divided by its sum, so that it stays a law where it is mapped again.
    """
    slopes = [(b - a) / (y - x) for (x, y), (a, b) in zip(pairwise(at), pairwise(heights), strict=True)]
    gains = {x: after - before for x, before, after in zip(at[1:-1], slopes, slopes[1:], strict=False)}
    if slopes:
        gains[at[-1]] = -slopes[-1]
    total = lost + sum((q + q * x for x, q in gains.items() if x > 1), start=Fraction(0))
    share = max(Fraction(1), total)
    upper = [(log_ratio(x), float(q / share), float(q * x / share)) for x, q in gains.items() if x > 1 and q > 0]
    mirrored = [(-value, q) for value, q, _ in upper]
    atoms = [*mirrored, (0.0, float(1 - total / share)), *((value, p) for value, _, p in upper)]
    beyond = float(lost / share)
    return DiscreteLoss(atoms=tuple(atoms), infinite_mass=beyond, reverse_infinite_mass=beyond, symmetric=True)


def log_ratio(ratio: Fraction) -> float:
    """Return the logarithm of a ratio, right to a few units in the last place, near 1 and for long fractions too.

    >>> log_ratio(Fraction(10**18 + 1, 10**18))
    1e-18
    """
    if Fraction(1, 2) < ratio < 2:
        return math.log1p(float(ratio - 1))
    if 1 / _LARGEST < ratio < _LARGEST:
        return math.log(ratio)  # the logarithms of two long integers would cancel
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _whole(rows: _Rows, loss: DiscreteLoss) -> tuple[Fraction, Fraction]:
    """Return both masses at infinity, of which the one that rounding left too small is raised: both sums are equal."""
    lost, other = Fraction(loss.infinite_mass), Fraction(loss.reverse_infinite_mass)
    gap = lost - other + sum((p - q for p, q in rows), start=Fraction(0))
    return lost + max(Fraction(0), -gap), other + max(Fraction(0), gap)


class _Curve:
    """h(x) = infinite + the sum of (p - x q)_+ over rows, at rational x."""

    def __init__(self, rows: _Rows, infinite: Fraction) -> None:
        by_ratio = sorted((p / q, p, q) for p, q in rows if q)
        self.knots = [x for x, _, _ in by_ratio]
        self.p = [*accumulate((p for _, p, _ in reversed(by_ratio)), initial=infinite)][::-1]
        self.q = [*accumulate((q for _, _, q in reversed(by_ratio)), initial=Fraction(0))][::-1]

    def at(self, x: Fraction) -> Fraction:
        """Return the curve at x."""
        first = bisect_left(self.knots, x)
        return self.p[first] - x * self.q[first]


def _crossings(curves: tuple[_Curve, _Curve], at: list[Fraction]) -> list[Fraction]:
    """Return where both curves cross between neighbouring places, between which both are linear."""
    gaps = [curves[0].at(x) - curves[1].at(x) for x in at]
    pairs = zip(pairwise(at), pairwise(gaps), strict=True)
    return [x + (y - x) * a / (a - b) for (x, y), (a, b) in pairs if a * b < 0]
