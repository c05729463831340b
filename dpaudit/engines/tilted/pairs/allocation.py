"""Pairs for releases at one secret step out of t: the law of the mean of t likelihood ratios.

With X = dP/dQ under Q for one step, and M the mean of t independent copies, the whole has the likelihood ratio M:
delta is E(M - e^epsilon)_+ in the order "remove" and E(1 - e^epsilon M)_+ in the order "add", convex functions of M.
From above, X becomes a mean-preserving spread on a grid 0, g, 2g, ...; from below, a label on that grid, whose sum over
the steps is a test. Sums are powers of a Fourier transform with a proved error, tilted so that rounding in the upper
tail is as small as the tail.
"""

import math

import numpy as np

from dpaudit.engines.tilted.law import Law, Weights, composed, weighted
from dpaudit.engines.tilted.pairs.finite_pair import FinitePair, Floats
from dpaudit.model.losses import SampledOrder

_UNIT = 2.0**-53
_MOST = 1 << 18  # knots of a sum
_FEWEST = 1 << 12
_TILTS: dict[SampledOrder, float] = {
    "remove": 14.0,
    "add": 14.0,
}  # by how much rounding shrinks from the bottom of the window to its top, in logarithms
_RARE = -36.0  # the logarithm of a weight beyond the window that is small enough
_TINY = 1e-300
_LIGHT = 1e-5  # the same where the cap costs about as much of epsilon, and nothing of delta
_HEAVY = 1e-16  # a mass under P at which a likelihood ratio is capped


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
    tilt = _TILTS[order]
    held = weighted(np.asarray(row, np.float64), tilt / size, steps, upwards=True)
    law = composed([held], 0, size, size)
    masses = _untilted(law, law.coefficients + law.error, tilt / size, upwards=True)
    top = _log_beyond([held], size)
    weight = law.log_scale + law.blur - tilt + top + math.log(size * g / steps)
    means = np.arange(1, size) * (g / steps)
    whole = FinitePair(
        losses=np.log(means),
        masses=np.asarray(masses[1:] * means, np.float64),
        infinite=min(1.0, step.infinite + lost * (1 + 1e-9) + math.exp(min(0.0, weight)) + _TINY),
        missing=float(masses[0]),
        error=step.error + 8 * _UNIT * (4 + float(np.abs(np.log(means[[0, -1]])).max())) + 1e-13,
    )
    return whole if order == "remove" else whole.reversed()


def _lost(tail: float, order: SampledOrder) -> float:
    """Return the probability under P of ratios that are capped."""
    return max(tail, _HEAVY) if order == "remove" else max(tail, _LIGHT)


def allocated_below(step: FinitePair, steps: int, width: float, tail: float, order: SampledOrder) -> FinitePair:
    """Return a pair that the allocation of one step dominates: the sum of labels.

    The label of a step is one of the two knots around its likelihood ratio, by chance; the law of the sum is that of
    one step under P and the others under Q, against all under Q. With order "add" the two laws change places.
    """
    ratios, under_q = _ratios(step)
    cap, _ = _capped(ratios, under_q, _lost(tail, order))
    size, g = _window(ratios, under_q, cap, steps, width)
    at = np.minimum(ratios, cap) / g
    p, r = _labels(at, step.masses), _labels(at, under_q)
    slip = step.error + 1e-12
    with_record, without = ((p, 1), (r, steps - 1)), ((r, steps),)
    first, second = (with_record, without) if order == "remove" else (without, with_record)
    lower = _sum_of(first, size, _TILTS[order] / size, 1 - slip, upwards=False)
    upper = _sum_of(second, size, _TILTS[order] / size, 1 + slip, upwards=True)
    held = (lower > 1e-290) & (upper > 1e-290)
    return FinitePair(
        losses=np.asarray(np.log(lower[held] / upper[held]), np.float64),
        masses=lower[held],
        infinite=step.infinite * (1 - 1e-12) if order == "remove" else 0.0,
        error=1e-13,
    )


def _labels(at: Floats, masses: Floats) -> Floats:
    """Return masses shared between the two knots around each place."""
    knots = np.floor(at).astype(np.int64)
    part = at - knots
    number = int(knots.max()) + 2
    found = np.bincount(knots, masses * (1 - part), number) + np.bincount(knots + 1, masses * part, number)
    return np.asarray(found, np.float64)


def _sum_of(rows: tuple[tuple[Floats, int], ...], size: int, tilt: float, factor: float, *, upwards: bool) -> Floats:
    """Return the masses of a sum modulo `size`, moved to one side by all errors."""
    parts = [weighted(row * factor, tilt, times, upwards=upwards) for row, times in rows if times]
    law = composed(parts, 0, size, size)
    if upwards:
        return _untilted(law, law.coefficients + law.error, tilt, upwards=True)
    alias = math.exp(min(0.0, _log_beyond(parts, size)))
    return _untilted(law, law.coefficients - law.error - alias, tilt, upwards=False)


def _ratios(step: FinitePair) -> tuple[Floats, Floats]:
    """Return the likelihood ratio of each atom, and its probability under Q."""
    return np.exp(np.minimum(step.losses, 700.0)), step.masses * np.exp(-step.losses)


def _capped(ratios: Floats, under_q: Floats, tail: float) -> tuple[float, float]:
    """Return a cap c with E(X - c)_+ of about `tail`, and that expectation."""
    order = np.argsort(ratios)
    x, r = ratios[order], under_q[order]
    above = np.cumsum((x * r)[::-1])[::-1]
    index = int(np.searchsorted(-above, -tail))
    cap = float(x[min(index, len(x) - 1)])
    over = x > cap
    return max(cap, 1.0), float(((x[over] - cap) * r[over]).sum())


def _window(ratios: Floats, under_q: Floats, cap: float, steps: int, width: float) -> tuple[int, float]:
    """Return the number of knots of a sum and their distance, so fine that a spread adds little to a `width`."""
    held = np.minimum(ratios, cap)
    second = float((held * held * under_q).sum())
    reach = steps + 2 * cap + 14 * math.sqrt(steps * min(second, cap))
    wanted = width * math.sqrt(steps) / 2
    size = min(_MOST, max(_FEWEST, 1 << math.ceil(math.log2(reach / wanted))))
    return size, max(reach / size, cap / (size - 4))


def _untilted(law: Law, coefficients: Floats, tilt: float, *, upwards: bool) -> Floats:
    """Return the masses that coefficients stand for."""
    side = 1 if upwards else -1
    exponents = law.log_scale + side * (law.blur + 1e-12) - tilt * np.arange(len(coefficients))
    return np.asarray(np.maximum(coefficients, 0.0) * np.exp(np.minimum(exponents, 600.0)), np.float64)


def _log_beyond(parts: list[Weights], size: int) -> float:
    """Return the logarithm of a bound on the weights above the window, by Chernoff's inequality."""
    if sum((len(part.weights) - 1) * part.times for part in parts) < size:
        return -800.0
    found = 0.0
    for slope in (20 / size, 5 / size, 60 / size):
        moment = math.fsum(part.times * part.log_moment(slope) for part in parts)
        found = min(found, moment - slope * size + 1e-13 * (abs(moment) + slope * size))
        if found < _RARE:
            break
    return found
