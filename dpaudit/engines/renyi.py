"""Renyi accounting: moments of the loss multiply, and inequalities turn them into (epsilon, delta).

With s > 0 and order alpha = 1 + s, both hold at every s, so that the search over orders needs no precision:

* for any x, (1 - e^-x)_+ <= e^(s x) (s / (1 + s))^s / (1 + s), hence

    delta(epsilon) <= E_P[e^(s L)] e^(-s epsilon) (1 - 1/alpha)^alpha / (alpha - 1);

* g(L) = e^(s L) - 1 + s (e^-L - 1) is convex, 0 at L = 0 with slope 0, and has the mean E_P[e^(s L)] - 1 at most, as
  E_P[e^-L] is at most 1. Where L exceeds epsilon > 0, (1 - e^(epsilon - L)) <= 1 <= g(L) / g(epsilon), hence

    delta(epsilon) <= (E_P[e^(s L)] - 1) / (e^(s epsilon) - 1 - s (1 - e^-epsilon)),

  which is small where the record is hardly ever in a sample, whatever epsilon is.

The moments are closed forms; of a sampled Gaussian at whole orders alone, where they are finite sums, and that of
adding a record is at most that of removing it. Losses without one are not covered.
Source: Canonne, Kamath and Steinke (2020), Proposition 12; Balle, Barthe, Gaboardi, Hsu and Sato (2020),
Theorem 21; Mironov (2017), Table II for the Laplace moment; Mironov, Talwar and Zhang (2019), Theorem 5 and
Section 3.3, for the moments of samples.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias, get_args

import numpy as np
from scipy.special import gammaln

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Ends, Engine
from dpaudit.engines.limits import options_of
from dpaudit.engines.precision import Precision
from dpaudit.engines.transform import Floats
from dpaudit.model.bracket import smallest_epsilon
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    ConcentratedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)
from dpaudit.model.losses.sampled_ratios import log_absent

_POWERS = np.exp(np.linspace(math.log(1e-6), math.log(1e9), 4001))  # s = alpha - 1
_COARSE = 40  # powers between two of the first search
_ORDERS = (*range(2, 17), 18, 20, 23, 26, 30, 35, 40, 46, 53, 61, 70, 81, 93, 107, 123, 141, 162, 186, 214, 246)
_WHOLE_POWERS = np.array(_ORDERS, np.float64) - 1
_MARGIN = 1e-13
_ULP = 2.0**-52
_LARGEST_EPSILON = 1e290
_LARGE = 700.0
Closed: TypeAlias = GaussianLoss | LaplaceLoss | ApproximateLoss | ConcentratedLoss | DiscreteLoss
"""Families whose moments have a closed form, or a closed bound."""
_MOST = 2**63  # copies of a loss; of more nothing is said
_MOST_SAMPLED, _MOST_MU = 10**300, 1e6  # the same of samples, and the shift up to which their sums are numbers
_ENTRIES = 1 << 18  # of a table of powers and atoms that is held at a time
_KINDS = 512  # losses that are told apart, beyond which other engines are narrower and as quick
_RARE = 0.1  # expected samples with the record, up to which moments of samples may give the better bound
_LEAST = -600.0  # a logarithm of an excess below which it counts as this one, so that nothing underflows


def log_moment(loss: Closed, power: Floats) -> Floats:
    """Return ln E_P[e^(power L)] over finite losses; a mass at infinity is left out, not renormalised."""
    match loss:
        case GaussianLoss(mu=mu):
            return mu * mu / 2 * power * (1 + power)
        case ConcentratedLoss(rho=rho):
            return rho * power * (1 + power)
        case LaplaceLoss(shift=x):
            total = 2 * power + 1
            return power * x + np.log1p(power / total * np.expm1(-total * x))
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            high = power * epsilon - math.log1p(math.exp(-epsilon))
            low = -(power + 1) * epsilon - math.log1p(math.exp(-epsilon))
            return np.logaddexp(high, low) + math.log1p(-delta)
        case DiscreteLoss(atoms=atoms):
            values, masses = np.array(atoms).T
            below = values - values[-1]  # so that no power overflows and the largest loss counts in full
            pieces = np.array_split(power, 1 + len(power) * len(values) // _ENTRIES)
            sums = [(np.exp(np.multiply.outer(piece, below)) * masses).sum(axis=1) for piece in pieces]
            return np.asarray(power * values[-1] + np.log(np.concatenate(sums)))


def ranged_moment(span: float, power: Floats) -> Floats:
    """Return the largest ln E_P[e^(power L)] of losses that lie within `span` of each other, whatever pair has them.

    e^(power L) is convex in e^-L, whose mean under P is 1: at worst only both ends occur, t and t - span, and with
    x = e^t the moment is x^power (a - b x) / (e^span - 1), a = e^span - e^(-power span), b = 1 - e^(-power span). It is
    largest at x = power a / ((1 + power) b).
    Source: Dong, Durfee and Rogers (2020), Section 3, for the two ends.

    >>> bool(ranged_moment(1.0, np.array([1.0]))[0] <= 2 / 8)
    True
    """
    b, excess = -np.expm1(-power * span), math.expm1(span)
    t = np.log1p(excess / b) - np.log1p(1 / power)  # a / b and power / (1 + power) near 1, whose logarithms are small
    return np.asarray(power * t + np.log1p(b / excess) - np.log1p(power), np.float64)


def log_excess(mu: float, rate: float, order: int) -> float:
    """Return ln(E_P[e^((order - 1) L)] - 1) for removing a record from a sample, rounded up; `order` is 2 or more.

    The sum over k >= 2 of C(order, k) (1 - rate)^(order - k) rate^k (e^(k (k - 1) mu^2 / 2) - 1): the terms k = 0 and 1
    add up to 1 less what the others have in the binomial law.

    >>> round(log_excess(1.0, 0.01, 2), 6) == round(math.log(1e-4 * (math.e - 1)), 6)
    True
    """
    k = np.arange(2, order + 1)
    chances, grown = excess_terms(np.asarray(k * (k - 1) * (mu * mu / 2), np.float64), rate)
    total = float(np.logaddexp.reduce(chances + grown))
    if not total > _LEAST:
        return _LEAST
    size = float(np.abs(chances).max() + np.abs(np.maximum(grown, 2 * _LEAST)).max()) + 3 * math.lgamma(order + 1)
    return total + 64 * _ULP * (size + order)


def excess_terms(growth: Floats, rate: float) -> tuple[Floats, Floats]:
    """Return the logarithms of the chances of 2, 3, ... draws, and of e^`growth` - 1 at each; their sums add up.

    The excess over 1 of the moment of a sample, at a whole order, which is the largest number of draws.
    """
    order = len(growth) + 1
    k = np.arange(2, order + 1)
    with np.errstate(divide="ignore", under="ignore"):
        grown = growth + np.log(-np.expm1(-growth))
    chances = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    return np.asarray(chances + (order - k) * log_absent(rate) + k * math.log(rate), np.float64), grown


@lru_cache(maxsize=1024)
def _sampled_moments(mu: float, rate: float) -> Floats:
    """Return ln E_P[e^((order - 1) L)] at all whole orders, rounded up; infinity where it is beyond floating point."""
    logs = [log_excess(mu, rate, order) for order in _ORDERS]
    return np.array([math.log1p(math.exp(log)) * (1 + 4 * _ULP) if log < _LARGE else math.inf for log in logs])


@lru_cache(maxsize=64)
def _log_moments(composition: Composition, indices: range, *, ranged: bool) -> tuple[Floats, Floats]:
    """Return the powers at places of the grid, and ln E[e^(s L)] of the whole at each, rounded up."""
    sampled = any(
        isinstance(option, SampledGaussianLoss) for loss, _ in composition.parts for option in options_of(loss)
    )
    powers = (_WHOLE_POWERS if sampled else _POWERS)[indices.start : indices.stop : indices.step]
    total, rounding = np.zeros_like(powers), np.zeros_like(powers)
    with np.errstate(over="ignore", invalid="ignore"):
        for loss, times in composition.parts:
            # Of a choice that follows what was seen the largest moment counts, power by power.
            sides = [_logs_of(each, times, powers, indices, ranged=ranged) for each in options_of(loss)]
            total = total + np.max([part for part, _ in sides], axis=0)
            rounding += np.max([doubt for _, doubt in sides], axis=0)
    return powers, np.nan_to_num(total + rounding, nan=math.inf, posinf=math.inf)


def _logs_of(loss: SimpleLoss, times: int, powers: Floats, indices: range, *, ranged: bool) -> tuple[Floats, Floats]:
    """Return ln E[e^(s L)] of copies of one loss, and what rounding may have made of it; 0 where a law has none."""
    if isinstance(loss, SampledGaussianLoss):
        part = times * _sampled_moments(loss.mu, loss.rate)[indices.start : indices.stop : indices.step]
        return part, 4 * _ULP * part
    if not isinstance(loss, Closed):
        return 0 * powers, 0 * powers
    span = loss.span if ranged and isinstance(loss, DiscreteLoss) else None
    moment = log_moment(loss, powers) if span is None else ranged_moment(span, powers)
    part = times * moment if times < _MOST else powers * math.inf
    return part, _MARGIN * (np.abs(part) + 2.0 * min(times, _MOST))


def _bounds(powers: Floats, moments: Floats, epsilon: float, *, finite: bool) -> Floats:
    """Return the bounds on the logarithm of delta(epsilon) that both inequalities give at each power.

    The second one takes that no loss is infinite.
    """
    convex = moments + _constant(powers) - powers * epsilon * (1 - _MARGIN)
    if not (finite and epsilon > 0):
        return np.asarray(convex)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        gaps = _log_gaps(powers, epsilon)
        excess = np.log(np.expm1(np.minimum(moments, _LARGE))) - gaps + 1e-11 * (1 + np.abs(gaps))
    usable = (moments < _LARGE) & np.isfinite(gaps)
    return np.asarray(np.where(usable, np.minimum(convex, excess), convex))


def _constant(powers: Floats) -> Floats:
    """Return ln((1 - 1/alpha)^alpha / (alpha - 1)), alpha = 1 + s."""
    return np.asarray((1 + powers) * -np.log1p(1 / powers) - np.log(powers))


def _log_gaps(powers: Floats, epsilon: float) -> Floats:
    """Return ln(e^(s epsilon) - 1 - s (1 - e^-epsilon)) at each power s, minus infinity where rounding hides it."""
    gain, fall = powers * epsilon, powers * math.expm1(-epsilon)
    subtracted = (1 - fall) * np.exp(-gain)
    near = np.expm1(np.minimum(gain, 3.0))
    rounding = 8 * _ULP * (near - fall)
    close = near + fall - rounding
    far = gain + np.log1p(-np.minimum(subtracted, 0.5))
    return np.asarray(np.where(subtracted < 0.5, far, np.where(close > rounding, np.log(close), -math.inf)))


def _log_finite(composition: Composition, epsilon: float, *, ranged: bool = False) -> float:
    """Return a bound on the logarithm of what the finite losses add to delta."""
    epsilon = min(epsilon, _LARGEST_EPSILON)  # delta is no larger at a larger epsilon, whose product is no float
    finite = not any(loss.infinite_mass for loss, _ in composition.parts)

    def bounds_at(indices: range) -> Floats:
        return _bounds(*_log_moments(composition, indices, ranged=ranged), epsilon, finite=finite)

    return min(0.0, _smallest(bounds_at))


def _smallest(bounds_at: Callable[[range], Floats]) -> float:
    """Return the smallest of the bounds at some powers, each of which holds: first a few, then all beside the best."""
    best = int(bounds_at(range(0, len(_POWERS), _COARSE)).argmin()) * _COARSE
    return float(bounds_at(range(max(0, best - _COARSE), best + _COARSE + 1)).min())


def log_delta(composition: Composition, epsilon: float) -> float:
    """Return an upper bound on ln delta(epsilon), also where delta underflows; minus infinity for a delta of 0."""
    _, infinite = total_infinite_mass(composition)
    finite = _log_finite(composition, epsilon) + 1e-12
    return float(np.logaddexp(finite, math.log(infinite) + 1e-12)) if infinite > 0 else finite


def delta_ends(composition: Composition, epsilon: float, precision: Precision, *, ranged: bool = False) -> Ends:
    """Return bounds on delta(epsilon), of which the upper one says something."""
    _, infinite = total_infinite_mass(composition)
    finite = math.exp(_log_finite(composition, epsilon, ranged=ranged)) * (1 + 1e-12) + 1e-300
    return 0.0, min(1.0, (infinite + finite) * (1 + 1e-15))


def epsilon_ends(composition: Composition, delta: float, precision: Precision, *, ranged: bool = False) -> Ends:
    """Return bounds on the smallest epsilon, of which the upper one says something."""
    finite_delta = (delta - total_infinite_mass(composition)[1]) * (1 - 1e-15)
    if finite_delta <= 0:
        return 0.0, math.inf
    if any(isinstance(loss, SampledGaussianLoss) for loss, _ in composition.parts):
        return 0.0, smallest_epsilon(lambda at: delta_ends(composition, at, precision)[1], delta)

    def bounds_at(indices: range) -> Floats:
        powers, moments = _log_moments(composition, indices, ranged=ranged)
        return np.asarray((moments + _constant(powers) - math.log(finite_delta) + 1e-12) / powers)

    return 0.0, max(0.0, _smallest(bounds_at) * (1 + 1e-14))


def has_moments(composition: Composition) -> bool:
    """Return whether every moment is a closed form of some finite loss.

    >>> has_moments(Composition.of(LaplaceLoss(shift=1.0)))
    True
    """
    return all(isinstance(loss, Closed) and loss.infinite_mass < 1 for loss, _ in composition.parts)


def _covers(composition: Composition) -> bool:
    """Return whether moments are needed, or closed ones of few kinds known, or samples hold the record hardly ever."""
    kinds = {type(option) for loss, _ in composition.parts for option in options_of(loss)}
    if ConcentratedLoss in kinds:  # no other engine knows it
        all_covered = all(issubclass(kind, (*get_args(Closed), SampledGaussianLoss)) for kind in kinds)
        return all_covered and all(_has_sum(*part) for part in composition.parts)
    if SampledGaussianLoss in kinds:
        return composition.events > 1 and _is_rare(composition)
    return len(composition.parts) <= _KINDS and has_moments(composition)


def _has_sum(loss: SimpleLoss, times: int) -> bool:
    """Return whether the moments of copies of a sample are sums within floating point; others have closed forms."""
    samples = (each for each in options_of(loss) if isinstance(each, SampledGaussianLoss))
    return all(0 < each.mu < _MOST_MU and times < _MOST_SAMPLED for each in samples)


def _is_rare(composition: Composition) -> bool:
    """Return whether all releases are Gaussian ones on samples that hold the record hardly ever."""
    expected = 0.0
    for loss, times in composition.parts:
        if not isinstance(loss, SampledGaussianLoss) or not _has_sum(loss, times):
            return False
        expected += loss.rate * times
    return expected <= _RARE


RENYI = Engine(name="renyi", covers=_covers, delta_ends=delta_ends, epsilon_ends=epsilon_ends)
