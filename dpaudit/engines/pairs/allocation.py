"""Pairs for releases at one secret step out of t: the law of the mean of t likelihood ratios.

With X = dP/dQ under Q for one step, and M the mean of t independent copies, the whole has the likelihood ratio M:
delta is E(M - e^epsilon)_+ in the order "remove" and E(1 - e^epsilon M)_+ in the order "add", convex functions of M.
From above, X becomes a mean-preserving spread on a grid 0, g, 2g, ...; from below, a label on that grid, whose sum over
the steps is a test. Sums are powers of a Fourier transform with a proved error. They are taken at several tilts, so
that rounding is as small as the tail that an order asks about; at every knot the best bound counts.
"""

import math
from bisect import bisect_left
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from dpaudit.engines.law import Law, Weights, composed, weighted
from dpaudit.engines.pairs.finite_pair import FinitePair, told_apart
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import SampledOrder

_UNIT = 2.0**-53
_MOST = 1 << 18  # knots of a sum
_FEWEST = 1 << 12
_PLACED = 1 << 16  # knots of a sum of labels where a record has several places
_TOP = 14.0  # the tilt over the whole window, in logarithms, at which what lies above it is bounded
_RATES = (5.0, 20.0)  # -ln of the probability of the tail on which a tilt puts the weights, about
_SIDES: dict[SampledOrder, float] = {"remove": 1.0, "add": -1.0}  # the tail of the mean that an order asks about
_LOOK = 2000  # places at which a law is looked at to choose tilts
_APART = 1.3  # the ratio of two tilts from which on both are tried
_SLOPES = 400  # tilts that are chosen from
_RARE = -80.0  # the logarithm of a weight beyond the window that is small enough
_BEYOND = (20.0, 5.0, 60.0, 180.0, 540.0)  # slopes over the window that bound what lies beyond
_TINY = 1e-300
_LIGHT = 1e-5  # the same where the cap costs about as much of epsilon, and nothing of delta
_HEAVY = 1e-16  # a mass under P at which a likelihood ratio is capped
Rows: TypeAlias = tuple[tuple[Floats, int], ...]


def allocated_above(step: FinitePair, steps: int, width: float, tail: float, order: SampledOrder) -> FinitePair:
    """Return a pair that dominates the allocation of one step, which `step` dominates, in an order of the neighbours.

    Guarantee: a ratio above a cap c counts as c, and E(X - c)_+ is given to infinity; so is what lies above the window.
    In the order "add" a cap only raises the curve, so that it may be lower.
    """
    ratios, under_q = _ratios(step)
    cap, lost = _capped(ratios, under_q, _lost(tail, order))
    size, g = _window(ratios, under_q, cap, steps, width)
    under_q = under_q * (1 + step.error + 1e-14)
    at = np.minimum(ratios, cap) / g
    row = _labels(at, under_q)
    row[0] += step.missing
    row = row * (1 + 1e-13)
    masses = _sum_above(((row, steps),), size, _tilts(row, steps, size, order))
    tilted = weighted(np.asarray(row, np.float64), _TOP / size, steps, upwards=True)
    weight = steps * tilted.log_scale * (1 + 1e-13) - _TOP + _log_beyond([tilted], size) + math.log(size * g / steps)
    means = np.arange(1, size) * (g / steps)
    removed = FinitePair(
        losses=np.log(means),
        masses=np.asarray(masses[1:] * means, np.float64),
        infinite=min(1.0, step.infinite + lost * (1 + 1e-9) + math.exp(min(0.0, weight)) + _TINY),
        missing=float(masses[0]),
        error=step.error + 8 * _UNIT * (4 + float(np.abs(np.log(means[[0, -1]])).max())) + 1e-13,
    )
    return _without_tail(removed if order == "remove" else removed.reversed(), tail)


def _without_tail(pair: FinitePair, tail: float) -> FinitePair:
    """Return a pair from above with its largest losses given to infinity, as long as they are rarer than `tail`.

    What rounding puts far out would count for much where such pairs are composed.
    """
    order = np.argsort(-pair.losses, kind="stable")
    number = int(np.searchsorted(np.cumsum(pair.masses[order]), tail))
    lost, remaining = pair.masses[order[:number]], np.sort(order[number:], kind="stable")
    return replace(
        pair,
        losses=pair.losses[remaining],
        masses=pair.masses[remaining],
        infinite=min(1.0, pair.infinite + float(lost.sum()) * (1 + pair.error + 1e-12)),
    )


def _lost(tail: float, order: SampledOrder) -> float:
    """Return the probability under P of ratios that are capped."""
    return max(tail, _HEAVY) if order == "remove" else max(tail, _LIGHT)


def allocated_below(
    step: FinitePair, steps: int, places: int, width: float, tail: float, order: SampledOrder
) -> FinitePair:
    """Return a pair that the allocation of one step dominates, at one or several places: the sum of labels.

    The label of a step is one of the two knots around its value, by chance: around its likelihood ratio X, or around
    ln(1 + X / steps) where there are several places. Any label is a test: under P it is drawn from the law of a step
    with the record at so many steps, wherever they are. The sum of logarithms is about that of the elementary symmetric
    polynomial of all X, which the likelihood ratio is. With order "add" the two laws change places.
    """
    ratios, under_q = _ratios(step)
    cap, _ = _capped(ratios, under_q, _lost(tail, order))
    if places == 1:
        values = np.minimum(ratios, cap)
        size, g = _window(ratios, under_q, cap, steps, width)
    else:
        values, size = np.log1p(np.minimum(ratios, cap) / steps), _PLACED
        mean, top = float(values @ under_q), float(values.max())
        spread = math.sqrt(steps * float(((values - mean) ** 2) @ under_q))
        g = (steps * mean + (places + 2) * top + 14 * spread) / size
    p, r = _labels(values / g, step.masses), _labels(values / g, under_q)
    slip = step.error + 1e-12
    with_record, without = ((p, places), (r, steps - places)), ((r, steps),)
    first, second = (with_record, without) if order == "remove" else (without, with_record)
    tilts = _tilts(r, steps, size, order)
    lower, upper = _sum_below(_scaled(first, 1 - slip), size, tilts), _sum_above(_scaled(second, 1 + slip), size, tilts)
    return told_apart(lower, upper, step.infinite * (1 - 1e-12) if order == "remove" else 0.0)


def _labels(at: Floats, masses: Floats) -> Floats:
    """Return masses shared between the two knots around each place."""
    knots = np.floor(at).astype(np.int64)
    part = at - knots
    number = int(knots.max()) + 2
    shared = np.bincount(knots, masses * (1 - part), number) + np.bincount(knots + 1, masses * part, number)
    return np.asarray(shared, np.float64)


def _scaled(rows: Rows, factor: float) -> Rows:
    """Return rows times a factor."""
    return tuple((row * factor, times) for row, times in rows)


def _tilts(row: Floats, steps: int, size: int, order: SampledOrder) -> list[float]:
    """Return tilts per knot: one that puts a sum on the tail that an order asks about, and one that tames the other.

    They enter no proof. Where a ratio far out would take over, the tilt is the largest one below.
    """
    block = -(-len(row) // _LOOK)
    masses = np.add.reduceat(row, np.arange(0, len(row), block))
    places = block * np.arange(len(masses)) + (block - 1) / 2
    logarithms = np.log(np.maximum(masses, _TINY))
    mass = math.log(max(float(masses.sum()), _TINY))  # of a step that hides next to nothing there may be none
    slopes = _SIDES[order] * np.geomspace(1e-3, 600.0, _SLOPES) / len(row)

    def rate(index: int) -> float:
        """Return -ln of Chernoff's bound on the tail on which a slope puts the weights, which grows with the slope."""
        exponents = logarithms + slopes[index] * places
        top = float(exponents.max())
        weights = np.exp(exponents - top)
        total = float(weights.sum())
        mean = float((weights * places).sum()) / total
        return steps * (float(slopes[index]) * mean - top - math.log(total) + mass)

    near, far = (float(slopes[max(0, bisect_left(range(_SLOPES), at, key=rate) - 1)]) for at in _RATES)
    return [near, *([far] if far / near > _APART else []), _TOP / size]


def _sum_above(rows: Rows, size: int, tilts: list[float]) -> Floats:
    """Return bounds from above on the masses of a sum modulo `size`."""
    bounds = np.full(size, math.inf)
    for tilt in tilts:
        law = composed([weighted(row, tilt, times, upwards=True) for row, times in rows if times], 0, size, size)
        np.minimum(bounds, _untilted(law, law.coefficients + law.error, tilt, upwards=True), out=bounds)
    return bounds


def _sum_below(rows: Rows, size: int, tilts: list[float]) -> Floats:
    """Return bounds from below on the masses of a sum."""
    bounds = np.zeros(size)
    for tilt in tilts:
        parts = [weighted(row, tilt, times, upwards=False) for row, times in rows if times]
        law = composed(parts, 0, size, size)
        alias = math.exp(min(0.0, _log_beyond(parts, size)))
        np.maximum(bounds, _untilted(law, law.coefficients - law.error - alias, tilt, upwards=False), out=bounds)
    return bounds


def _ratios(step: FinitePair) -> tuple[Floats, Floats]:
    """Return the likelihood ratio of each atom, and its probability under Q."""
    return np.exp(np.minimum(step.losses, 700.0)), step.masses * np.exp(-step.losses)


def _capped(ratios: Floats, under_q: Floats, tail: float) -> tuple[float, float]:
    """Return a cap c with E(X - c)_+ of about `tail`, and that expectation."""
    order = np.argsort(ratios, kind="stable")
    x, r = ratios[order], under_q[order]
    above = np.cumsum((x * r)[::-1])[::-1]
    index = int(np.searchsorted(-above, -tail))
    cap = float(x[min(index, len(x) - 1)])
    over = x > cap
    return max(cap, 1.0), float(((x[over] - cap) * r[over]).sum())


def _window(ratios: Floats, under_q: Floats, cap: float, steps: int, width: float) -> tuple[int, float]:
    """Return the number of knots of a sum and their distance, so fine that a spread adds little to a `width`."""
    capped = np.minimum(ratios, cap)
    second = float((capped * (capped * under_q)).sum())  # in this order no square overflows
    reach = steps + 2 * cap + 14 * math.sqrt(steps * min(second, cap))
    wanted = width * math.sqrt(steps) / 2
    size = min(_MOST, max(_FEWEST, 1 << math.ceil(math.log2(reach / wanted))))
    return size, max(reach / size, cap / (size - 4))


def _untilted(law: Law, coefficients: Floats, tilt: float, *, upwards: bool) -> Floats:
    """Return the masses that coefficients stand for."""
    side = 1 if upwards else -1
    knots = np.arange(len(coefficients))
    exponents = (law.log_scale - tilt * knots) + side * (law.blur + 1e-12 + 8 * _UNIT * abs(tilt) * knots)
    return np.asarray(np.maximum(coefficients, 0.0) * np.exp(np.minimum(exponents, 600.0)), np.float64)


def _log_beyond(parts: list[Weights], size: int) -> float:
    """Return the logarithm of a bound on the weights above the window, by Chernoff's inequality."""
    if sum((len(part.weights) - 1) * part.times for part in parts) < size:
        return -800.0
    log_bound = 0.0
    for slope in (width / size for width in _BEYOND):
        moment = math.fsum(part.times * part.log_moment(slope) for part in parts)
        log_bound = min(log_bound, moment - slope * size + 1e-13 * (abs(moment) + slope * size))
        if log_bound < _RARE:
            break
    return log_bound
