"""Moments of releases on samples that hardly ever hold the record: bounds where a grid resolves nothing.

With E_P[e^-L] at most 1, g(L) = e^(s L) - 1 + s (e^-L - 1) has the mean E_P[e^(s L)] - 1 at most. It is convex, 0 at
L = 0 with slope 0, and so grows beyond 0: where L exceeds epsilon > 0, (1 - e^(epsilon - L)) <= 1 <= g(L) / g(epsilon).
Hence

    delta(epsilon) <= (E_P[e^(s L)] - 1) / (e^(s epsilon) - 1 - s (1 - e^-epsilon)),

which is small where the record is hardly ever in a sample, whatever epsilon is. At whole orders 1 + s the moment is a
finite sum; that of adding a record is at most that of removing it.
Source: Mironov, Talwar and Zhang (2019), Theorem 5 and Section 3.3, for the moments.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from dpaudit.engines.engine import Engine
from dpaudit.model.bracket import Bracket, smallest_epsilon
from dpaudit.model.losses import Composition, SampledGaussianLoss

_ORDERS = (*range(2, 17), 18, 20, 23, 26, 30, 35, 40, 46, 53, 61, 70, 81, 93, 107, 123, 141, 162, 186, 214, 246)
_RARE = 0.1  # expected samples with the record, up to which these bounds may be the better ones
_SMALLEST = 1e-300
_LARGE = 700.0
_MOST = 10**300
_LEAST = -600.0  # a logarithm of an excess below which it counts as this one, so that nothing underflows
_ULP = 2.0**-52


def log_excess(mu: float, rate: float, order: int) -> float:
    """Return ln(E_P[e^((order - 1) L)] - 1) for removing a record, rounded up; `order` is 2 or more.

    The sum over k >= 2 of C(order, k) (1 - rate)^(order - k) rate^k (e^(k (k - 1) mu^2 / 2) - 1): the terms k = 0 and 1
    add up to 1 less what the others have in the binomial law.

    >>> round(log_excess(1.0, 0.01, 2), 6) == round(math.log(1e-4 * (math.e - 1)), 6)
    True
    """
    k = np.arange(2, order + 1)
    growth = k * (k - 1) * (mu * mu / 2)
    with np.errstate(divide="ignore", under="ignore"):
        grown = growth + np.log(-np.expm1(-growth))
    chances = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    chances += (order - k) * math.log1p(-rate) + k * math.log(rate)
    total = float(np.logaddexp.reduce(chances + grown))
    if not total > _LEAST:
        return _LEAST
    size = float(np.abs(chances).max() + np.abs(np.maximum(grown, 2 * _LEAST)).max()) + 3 * math.lgamma(order + 1)
    return total + 64 * _ULP * (size + order)


@lru_cache(maxsize=1024)
def _log_moments(mu: float, rate: float) -> tuple[float, ...]:
    """Return ln E_P[e^((order - 1) L)] at all orders, rounded up; infinity where it is beyond floating point."""
    logs = [log_excess(mu, rate, order) for order in _ORDERS]
    return tuple(math.log1p(math.exp(log)) * (1 + 4 * _ULP) if log < _LARGE else math.inf for log in logs)


def log_delta_above(composition: Composition, epsilon: float) -> float:
    """Return an upper bound on ln delta(`epsilon`), 0 where `epsilon` is not above 0."""
    best = 0.0
    moments = [(_log_moments(loss.mu, loss.rate), times) for loss, times in composition.parts]  # type: ignore[union-attr]
    for place, order in enumerate(_ORDERS if epsilon > 0 else ()):
        total = math.fsum(moment[place] * times for moment, times in moments) * (1 + 4 * _ULP)
        if not total < _LARGE:
            break
        power = order - 1
        rest = (1 - power * math.expm1(-epsilon)) * math.exp(-power * epsilon)
        gap = power * epsilon + math.log1p(-rest) if rest < 0.5 else _log_gap(power, epsilon)
        if gap > -math.inf:
            best = min(best, math.log(math.expm1(total)) - gap + 1e-11 * (1 + abs(gap)))
    return best


def _log_gap(power: int, epsilon: float) -> float:
    """Return ln(e^(power epsilon) - 1 - power (1 - e^-epsilon)) for small `epsilon`, rounded down by 1e-9."""
    gap = math.expm1(power * epsilon) + power * math.expm1(-epsilon)
    rounding = 8 * _ULP * (math.expm1(power * epsilon) - power * math.expm1(-epsilon))
    return math.log(gap - rounding) if gap > 2 * rounding else -math.inf


def _above(composition: Composition, epsilon: float) -> float:
    """Return an upper bound on delta at `epsilon`; 1 at 0."""
    return min(1.0, max(math.exp(log_delta_above(composition, epsilon)), _SMALLEST))


def _delta(composition: Composition, epsilon: float) -> Bracket:
    """Bound delta(epsilon) from above."""
    return Bracket(lower=0.0, upper=_above(composition, epsilon), engines=("renyi",))


def _epsilon(composition: Composition, delta: float) -> Bracket:
    """Bound the smallest epsilon from above."""
    upper = math.inf if delta <= _SMALLEST else smallest_epsilon(lambda at: _above(composition, at), delta)
    return Bracket(lower=0.0, upper=upper, engines=("renyi",))


def _covers(composition: Composition) -> bool:
    """Return whether there are several releases, each on a sample, that hold the record hardly ever."""
    if composition.events < 2:
        return False
    rate = 0.0
    for loss, times in composition.parts:
        if not (isinstance(loss, SampledGaussianLoss) and 0 < loss.rate < 1 and 0 < loss.mu < 1e6 and times < _MOST):
            return False
        rate += loss.rate * times
    return rate <= _RARE


RARE = Engine(name="renyi", covers=_covers, delta=_delta, epsilon=_epsilon)
"""Upper bounds by whole moments, for samples that hold the record hardly ever."""
