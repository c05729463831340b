"""The smallest rho of a loss: the supremum over all orders above 1 of its Renyi divergence over the order.

Where K(s) is the cumulant of the loss at s and v = (s + 1/2)^2, the ratio at order 1 + s is K / (v - 1/4). For the pair
of a black box and for that of Laplace noise K is concave in v: it is the logarithm of a product of terms 1 + v / r with
positive r, as cosh(x u) and cosh(x u) + sinh(x u) / (2u) are such functions of v = u^2. K is 0 at v = 1/4, so that the
supremum is the slope there: the limit at order 1, which is the Kullback-Leibler divergence.
Source: Bun and Steinke (2016), Definition 1.1; Canonne, Kamath and Steinke (2020), Theorem 4, for what theorems state.
"""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from dpaudit.accounting.curves.renyi_divergence import ratio_in_cells
from dpaudit.accounting.curves.thresholds import log_moments
from dpaudit.engines.renyi import log_moment
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import DiscreteLoss

Moments: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""Bounds on the cumulant of a loss, or on the largest one of several, at each of some powers."""
_ULP = 2.0**-52
_DIGITS = 60
_LARGE = 1000  # a shift beyond which e^-shift is rounded to what it cannot exceed
_DOUBT = 2e-13  # what rounding may make of a stated probability, beside what it is
_SHORT, _LONG = 0.05, 500.0  # ranges below which a series is nearer than the closed form, and beyond its exponents
_ROUNDED = 1e-12  # relative; more than a few roundings
_NEAR_ONE, _FAR = 1e-7, 1e12
_MOST, _FEWEST, _ENTRIES = 4000, 400, 1 << 23
_COLUMNS = 8000  # what a power costs where all thresholds are searched, in atoms
_CUT, _NARROW, _CLOSE = 40, 1e-9, 1e-10  # pieces of a cell; relative: when to stop, and what rounding makes of a sum


def rho_of_black_box(epsilon: Fraction) -> Fraction:
    """Return epsilon tanh(epsilon / 2), rounded up: the smallest rho of whatever loses at most epsilon either way.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3: randomised response dominates it.

    >>> round(float(rho_of_black_box(Fraction(1))), 12)
    0.46211715726
    """
    if epsilon > _LARGE:
        return epsilon
    slope = math.tanh(float(epsilon) / 2) * (1 + 4 * _ULP)
    return min(epsilon * Fraction(min(1.0, slope)), epsilon**2 / 2)


def rho_of_laplace(shift: Fraction) -> Fraction:
    """Return shift - 1 + e^-shift, rounded up: the smallest rho of Laplace noise, `shift` in units of its scale.

    >>> round(float(rho_of_laplace(Fraction(1))), 12)
    0.367879441171
    """
    if shift > _LARGE:
        return shift - 1 + Fraction(1, 10**50)
    with localcontext() as context:
        context.prec = _DIGITS
        x = Decimal(shift.numerator) / Decimal(shift.denominator)
        exact = x - 1 + (-x).exp()
        near = float(exact) if exact > 0 else 0.0
    return min(Fraction(near * (1 + 2 * _ULP)) + Fraction(1, 10**50), shift**2 / 2)


@lru_cache(maxsize=256)
def rho_of_threshold(shift: float) -> tuple[float, float]:
    """Return bounds on the rho of Laplace noise that is seen through the worst threshold.

    >>> [round(end, 5) for end in rho_of_threshold(2.0)]
    [0.97442, 0.97442]
    """
    if not shift:
        return 0.0, 0.0
    last = max(10.0, 1e3 / shift)
    low, high = _largest_ratio(lambda powers: log_moments(shift, powers), shift, last, _COLUMNS)
    return low, min(high, float(rho_of_laplace(Fraction(shift))))


def rho_of_range(span: float) -> tuple[float, float]:
    """Return bounds on the rho of losses that lie within `span` of each other: r / (E - 1) - 1 + ln((E - 1) / r).

    Of a short range by its series r^2/8 - r^4/576 + r^6/25920 - ..., which alternates.
    Source: Dong, Durfee and Rogers (2020) for the pairs; the supremum of their divergences over the order is the limit
    at order 1 (Harrison and Manurangsi, 2026).

    >>> [round(end, 9) for end in rho_of_range(1.0)]
    [0.123301561, 0.123301561]
    """
    if span < _SHORT:
        near = span**2 / 8 - span**4 / 576
        return near * (1 - _ROUNDED), (near + span**6 / 25920) * (1 + _ROUNDED)
    if span > _LONG:
        return (span - 1 - math.log(span)) * (1 - _ROUNDED), span**2 / 8
    share = math.expm1(span) / span
    exact = 1 / share - 1 + math.log(share)
    return exact * (1 - _ROUNDED) - 1e-15, exact * (1 + _ROUNDED) + 1e-15


def rho_of_atoms(loss: DiscreteLoss) -> Fraction:
    """Return the smallest rho of a loss without infinite mass, in both orders, within 1e-8 of it and never below.

    Edge cases: below 1e-6 the rounding of stated probabilities may widen it; it never exceeds that of a black box.
    """
    return Fraction(max(_rho_between(way)[1] for way in {loss, loss.reversed()}))


def rho_shown_by_atoms(loss: DiscreteLoss) -> float:
    """Return what some order, or the limit at order 1, shows of the rho of one order of the laws; never above it."""
    return _rho_between(loss)[0]


@lru_cache(maxsize=256)
def _rho_between(loss: DiscreteLoss) -> tuple[float, float]:
    """Return bounds on the supremum of one order: chords of the cumulant, which is convex, lie above it.

    Below the first order of the grid the divergence is at most the one there, and beyond the last the largest loss.
    The cells between orders that may hold the supremum are cut again, and again.
    """
    largest = max(abs(value) for value, _ in loss.atoms)
    if largest == 0:
        return 0.0, 0.0
    mean = math.fsum(p * value for value, p in loss.atoms)
    last = min(_FAR, max(10.0, 2 * largest / max(mean, 1e-300)))
    low, high = _largest_ratio(lambda powers: _cumulants(loss, powers), largest, last, len(loss.atoms))
    return max(low, mean * (1 - _CLOSE) - 4 * _DOUBT * (1 + largest)), high


def _largest_ratio(moments: Moments, largest: float, last: float, columns: int) -> tuple[float, float]:
    """Return bounds on the supremum of K(s) / (s (1 + s)), from bounds on K at powers up to `last`.

    Below the first power the divergence is at most the one there, and beyond the last the largest loss. The cells
    between powers that may hold the supremum are cut again, and again. `columns` is what a power costs.
    """
    first = _NEAR_ONE / max(1.0, largest)
    powers = np.geomspace(first, last, min(_MOST, max(_FEWEST, _ENTRIES // columns)))
    low, high, end = 0.0, 0.0, largest / last
    for finer in (_CUT, _CUT, 0):
        lows, cumulants = moments(powers)
        highs = np.minimum(cumulants / powers, largest)
        low = max(low, float((lows / (powers * (1 + powers))).max()))
        if powers[0] == first:
            end = max(end, float(highs[0]))
        cells = ratio_in_cells(1 + powers, powers, highs)
        wide = np.flatnonzero(cells > low * (1 + _NARROW)) if finer else np.array([], dtype=np.int64)
        high = max(high, float(np.delete(cells, wide).max(initial=0.0)))
        if not len(wide) or len(wide) * finer > _MOST:
            high = max(high, float(cells.max()))
            break
        powers = np.unique(np.concatenate([np.geomspace(powers[i], powers[i + 1], finer) for i in wide]))
    return low, max(end, high) * (1 + 1e-11)


def _cumulants(loss: DiscreteLoss, powers: Floats) -> tuple[Floats, Floats]:
    """Return bounds on ln E[e^(s loss)]; near 0 by the excess over 1, which holds the digits.

    Each probability may be off by a share of _DOUBT, and their sum is 1.
    """
    values, masses = (np.asarray(column, np.float64) for column in zip(*loss.atoms, strict=True))
    near = powers * np.abs(values).max() < 1
    excess = np.empty(int(near.sum()))
    for index, power in enumerate(powers[near]):
        terms = masses * np.expm1(power * values)
        excess[index] = terms.sum() + _DOUBT * np.abs(terms).sum()
    far = np.asarray(log_moment(loss, powers[~near]) if not near.all() else [])
    highs = np.concatenate([np.log1p(np.maximum(excess, 0.0)), np.maximum(far, 0.0) * (1 + 1e-12) + 2 * _DOUBT])
    return highs * (1 - _CLOSE) - 8 * _DOUBT, highs
