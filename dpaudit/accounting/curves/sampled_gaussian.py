"""Moments of the likelihood ratio of a Gaussian release on a Poisson sample, at any order, from both sides.

With r = 1 - rate + rate e^(mu x - mu^2 / 2) and x normal, the mean of r is 1. The moment of order a of a removed record
is the mean of r^a, that of an added one the mean of r^(1 - a); either is 1 plus the mean of the convex function
r^c - 1 - c (r - 1), which is nowhere negative. In cells of x its mean lies above the value at the cell's mean ratio
(Jensen) and below the chord between the ends.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpaudit.accounting.curves.hockey_stick import Floats
from dpaudit.model.losses import SampledGaussianLoss
from dpaudit.model.losses.sampled_ratios import absent

Side = tuple[float, float]
_CELLS = 1 << 17
_REACH = 12.0  # deviations beyond the means that matter
_SMALL = 1e-3  # of a ratio less 1, up to which a series is used
_TERMS = 7
_MARGIN = 1e-9  # relative; what probabilities of cells, powers and sums may be wrong by
_SHARE = 1e-7  # what the place of a mean between the ends of its cell may be wrong by
_LARGEST = 600.0  # of an exponent
_FAR = 37.0  # deviations, where normal probabilities underflow
_LEAST_RATE = 1e-12


@lru_cache(maxsize=1024)
def sampled_gaussian_log_moment(loss: SampledGaussianLoss, order: float) -> Side:
    """Return lower and upper bounds on (order - 1) times the Renyi divergence at an order above 1.

    Guarantee: they differ by about a relative 1e-6.
    Edge cases: (0, infinity) for rates up to 1e-12, and where order times mu exceeds 25 or mu itself 16.
    """
    mu, rate = loss.mu, loss.rate
    power = order if loss.order == "remove" else 1 - order
    stop = max(power, 1.0) * mu + _REACH
    if not (stop < _FAR and mu * stop < _LARGEST and rate > _LEAST_RATE):
        return 0.0, math.inf
    ends = np.linspace(-_REACH, stop, _CELLS + 1)
    masses = _between(ends)
    at_ends = rate * np.expm1(mu * ends - mu * mu / 2)
    means = np.clip(rate * (_between(ends - mu) / masses - 1), at_ends[:-1], at_ends[1:])
    shift = max(0.0, power * math.log1p(float(at_ends[-1])) - _LARGEST)
    values, steps = _excess(at_ends, power, shift), np.diff(at_ends)
    shares = np.where(steps > 0, (means - at_ends[:-1]) / np.maximum(steps, 1e-300), 1.0)
    chords = values[:-1] + shares * np.diff(values) + _SHARE * np.abs(np.diff(values))
    low = float((masses * _excess(means, power, shift)).sum()) * (1 - _MARGIN)
    high = float((masses * chords).sum()) * (1 + _MARGIN) + _outside(loss, power, stop, shift)
    return _log_above_one(max(0.0, low), shift), _log_above_one(high, shift)


def _log_above_one(excess: float, shift: float) -> float:
    """Return ln(1 + excess e^shift)."""
    if shift == 0 or excess == 0:
        return math.log1p(excess)
    return float(np.logaddexp(0.0, math.log(excess) + shift))


def _between(ends: Floats) -> Floats:
    """Return the normal probabilities between `ends`, each from its nearer tail."""
    left = np.diff(ndtr(ends))
    right = -np.diff(ndtr(-ends))
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
    whole = np.expm1(exponents) if shift == 0 else np.exp(exponents - shift) - scale
    return np.asarray(np.maximum(np.where(small, series * scale, whole - power * far * scale), 0.0), np.float64)


def _outside(loss: SampledGaussianLoss, power: float, stop: float, shift: float) -> float:
    """Return a bound on the mean beyond the cells, times e^-shift.

    On the left the function is at most its value at 1 - rate, the least ratio. On the right it is at most r^power for a
    power above 1, where r is at most e^z and, once rate e^z exceeds 1 - rate, at most 2 rate e^z; else it is at most
    -power (r - 1).
    """
    mu, rate = loss.mu, loss.rate
    if rate == 1:
        return math.inf
    left = float(_excess(np.array([-rate]), power, shift)[0]) * float(ndtr(-_REACH))
    if power < 0:
        return left - power * (rate * float(ndtr(mu - stop)) + float(ndtr(-stop)))
    above = mu * stop - mu * mu / 2 + math.log(rate) > math.log(absent(rate))
    scale = min(0.0, power * (math.log(2) + math.log(rate))) if above else 0.0
    exponent = scale + power * (power - 1) * mu * mu / 2 + math.log(max(float(ndtr(power * mu - stop)), 1e-300)) - shift
    return left + (math.exp(exponent) * 1.001 if exponent < _LARGEST else math.inf)
