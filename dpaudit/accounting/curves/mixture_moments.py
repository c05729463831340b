"""Moments of the likelihood ratio of two mixtures of shifts of one noise, at any order, from both sides.

So are a sample that holds a record or not, one whose record is replaced, and a person with several records. With
r = p / q, which grows with the output, the mean of r under Q is 1. The moment of order a is the mean of r^a: 1 plus the
mean of the convex function r^a - 1 - a (r - 1), which is nowhere negative. In cells of outputs its mean lies above the
value at the cell's mean ratio (Jensen) and below the chord between the ends.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpaudit.engines.transform import Floats
from dpaudit.model.losses import MixtureLoss
from dpaudit.model.losses.mixture import MixedNoise, paired_shifts

Side = tuple[float, float]
_CELLS = 1 << 18  # for each shift
_REACH = 12.0  # deviations beyond the means that matter
_SMALL = 1e-3  # of a ratio less 1, up to which a series is used
_TERMS = 7
_MARGIN = 1e-9  # relative; what probabilities of cells, powers and sums may be wrong by
_LOST = 2.0**-50  # of the terms that nearly cancel; more than rounding makes of their difference
_SHARE = 1e-7  # what the place of a mean between the ends of its cell may be wrong by
_LARGEST = 600.0  # of an exponent
_FAR = 37.0  # deviations, where normal probabilities underflow
_NOTHING = 2.0**-53  # a ratio below which none is told from 0
_LEAST = 1e-12  # of the weight of a shift that one law alone has


@lru_cache(maxsize=1024)
def mixture_log_moment(loss: MixtureLoss, order: float) -> Side:
    """Return lower and upper bounds on (order - 1) times the Renyi divergence at an order above 1.

    Guarantee: they differ by about a relative 1e-6.
    Edge cases: (0, infinity) where exponentials are no floats, and for weights that differ by 1e-12 or less.
    """
    rows, (low, stop) = paired_shifts(loss.above, loss.below), _window(loss, order)
    if not low < stop or max(abs(gap) for *_, gap, _ in rows) <= _LEAST:
        return 0.0, math.inf
    ends = np.linspace(low, stop, _CELLS // len(rows) + 1)
    cells = np.array([_between(ends - s, loss.noise) for s, *_ in rows])
    masses, apart = (np.array([row[i] for row in rows]) @ cells for i in (2, 3))
    at_ends = _ratio_less_one(loss, ends)
    means = np.clip(apart / masses, at_ends[:-1], at_ends[1:])
    shift = max(0.0, order * math.log1p(float(at_ends[-1])) - _LARGEST)
    values, steps = _excess(at_ends, order, shift), np.diff(at_ends)
    shares = np.where(steps > 0, (means - at_ends[:-1]) / np.maximum(steps, 1e-300), 1.0)
    chords = values[:-1] + shares * np.diff(values) + _SHARE * np.abs(np.diff(values))
    least, most = _outside(loss, order, values, shift)
    cancelling = np.where(np.abs(means) * order < _SMALL, 0.0, np.minimum(order * np.abs(means), 1.0))
    lost = _LOST * float((masses * cancelling).sum()) * math.exp(-shift)
    least += float((masses * _excess(means, order, shift)).sum()) * (1 - _MARGIN) - lost
    most += float((masses * chords).sum()) * (1 + _MARGIN) + lost
    return _log_above_one(max(0.0, least), shift), _log_above_one(most, shift)


def _window(loss: MixtureLoss, order: float) -> tuple[float, float]:
    """Return the outputs between which cells lie, all between two shifts of Laplace noise; none where no floats do."""
    (top, _), (last, _), first = loss.above[-1], loss.below[-1], loss.below[0][0]
    if loss.noise == "laplace":
        return (first, top) if order * (top - first) < _LARGEST else (0.0, 0.0)
    low, stop = first - _REACH, last + order * (top - last) + _REACH
    fits = stop - last < _FAR and max(abs(first), abs(top)) * max(abs(low), abs(stop)) < _LARGEST
    return (low, stop) if fits else (0.0, 0.0)


def _log_above_one(excess: float, shift: float) -> float:
    """Return ln(1 + excess e^shift)."""
    if shift == 0 or excess == 0:
        return math.log1p(excess)
    return float(np.logaddexp(0.0, math.log(excess) + shift))


def _ratio_less_one(loss: MixtureLoss, outputs: Floats) -> Floats:
    """Return (p - q) / q at outputs: shifts that both laws have cancel before anything is rounded."""
    rows = paired_shifts(loss.above, loss.below)
    logs = np.array([-((outputs - s) ** 2) / 2 if loss.noise == "gaussian" else -np.abs(outputs - s) for s, *_ in rows])
    sizes = np.exp(logs - logs.max(axis=0))
    over, under = (np.array([row[i] for row in rows]) @ sizes for i in (3, 2))
    return np.maximum(np.maximum.accumulate(over / under), _NOTHING - 1)


def _below(ends: Floats, noise: MixedNoise) -> Floats:
    """Return the probability of noise below `ends`."""
    tail = np.exp(-np.abs(ends)) / 2
    return np.asarray(ndtr(ends) if noise == "gaussian" else np.where(ends < 0, tail, 1 - tail))


def _between(ends: Floats, noise: MixedNoise) -> Floats:
    """Return the probabilities of noise between `ends`, each from its nearer tail."""
    left = np.diff(_below(ends, noise))
    right = -np.diff(_below(-ends, noise))
    return np.where(ends[1:] <= 0, left, right)


def _excess(less: Floats, power: float, shift: float) -> Floats:
    """Return (r^power - 1 - power (r - 1)) e^-shift of ratios r, given less 1."""
    small = np.abs(less) * max(1.0, abs(power)) < _SMALL
    near, far = np.where(small, less, 0.0), np.where(small, 0.0, less)
    series, term, factor = np.zeros_like(near), near, power
    for k in range(2, _TERMS):
        factor *= (power - k + 1) / k
        term = term * near
        series += factor * term
    scale = math.exp(-shift)
    exponents = power * np.log1p(far)
    direct = np.expm1(exponents) if shift == 0 else np.exp(exponents - shift) - scale
    return np.asarray(np.maximum(np.where(small, series * scale, direct - power * far * scale), 0.0), np.float64)


def _outside(loss: MixtureLoss, order: float, values: Floats, shift: float) -> Side:
    """Return bounds on the mean beyond the cells, times e^-shift.

    The ratio of Laplace noise is constant there. Of Gaussian noise, on the left it lies between its limit and that of
    the first cell, and Q is at most its lowest shift's noise. On the right p is at most a share of its highest shift's
    noise, that of the last cell, and q at least the weighted noise of its own highest shift; the moment of two normal
    laws of a distance d is e^(a (a - 1) d^2 / 2).
    """
    low, stop = _window(loss, order)
    (shifted, weight), (first, least) = loss.above[0], loss.below[0]
    (top, _), (last, share) = loss.above[-1], loss.below[-1]
    if loss.noise == "laplace":
        sides = (v * np.array([math.exp(low - s), math.exp(s - stop)]) / 2 for s, v in loss.below)
        both_tails = float(sum(side @ values[[0, -1]] for side in sides))
        return both_tails * (1 - _MARGIN), both_tails * (1 + _MARGIN)
    limit = float(_excess(np.array([weight / least - 1]), order, shift)[0]) if shifted == first else math.inf
    lowest = max(float(values[0]), min(limit, (order - 1) * math.exp(-shift)))  # at most that of ratio 0
    left = lowest * float(ndtr(low - first))
    apart = top - last
    top_share = math.fsum(w * math.exp(-(top - s) * (stop - (top + s) / 2)) for s, w in loss.above)
    exponent = order * math.log(top_share) - (order - 1) * math.log(share) + order * (order - 1) * apart**2 / 2 - shift
    exponent += math.log(max(float(ndtr(last + order * apart - stop)), 1e-300))
    return 0.0, left + (math.exp(exponent) * 1.001 if exponent < _LARGEST else math.inf)
