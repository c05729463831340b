"""Renyi accounting: moments of the loss multiply, and one inequality turns them into (epsilon, delta).

For any s > 0 and x, (1 - e^-x)_+ <= e^(s x) (s / (1 + s))^s / (1 + s), hence with order alpha = 1 + s

    delta(epsilon) <= E_P[e^(s L)] e^(-s epsilon) (1 - 1/alpha)^alpha / (alpha - 1).

An upper bound at every order, so the search over orders needs no precision. The moments are exact closed
forms; losses without one are not covered.
Source: Canonne, Kamath and Steinke (2020), Proposition 12; Balle, Barthe, Gaboardi, Hsu and Sato (2020),
Theorem 21; Mironov (2017), Table II for the Laplace moment.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.cells.merging import MOST_JOINED, merged
from dpaudit.engines.engine import Engine
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
)

Floats: TypeAlias = NDArray[np.float64]
_POWERS = np.exp(np.linspace(math.log(1e-6), math.log(1e9), 4001))  # s = alpha - 1
_COARSE = 40  # powers between two of the first search
_MARGIN = 1e-13
_LARGEST_EPSILON = 1e290
_CLOSED = (GaussianLoss, LaplaceLoss, ApproximateLoss, DiscreteLoss)  # families whose moments have a closed form
_MOST = 2**63  # copies of a loss; of more nothing is said
_ENTRIES = 1 << 18  # of a table of powers and atoms that is held at a time


def log_moment(loss: GaussianLoss | LaplaceLoss | ApproximateLoss | DiscreteLoss, power: Floats) -> Floats:
    """Return ln E_P[e^(power L)] over finite losses; a mass at infinity is left out, not renormalised."""
    match loss:
        case GaussianLoss(mu=mu):
            return mu * mu / 2 * power * (1 + power)
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
            rows = max(1, _ENTRIES // len(values))
            sums = [(np.exp(np.multiply.outer(part, below)) * masses).sum(axis=1) for part in _chunks(power, rows)]
            return np.asarray(power * values[-1] + np.log(np.concatenate(sums)))


def _chunks(power: Floats, rows: int) -> list[Floats]:
    """Return the powers in pieces of so many, which bounds the memory of what is made of each."""
    return [power[start : start + rows] for start in range(0, len(power), rows)]


def ranged_moment(span: float, power: Floats) -> Floats:
    """Return the largest ln E_P[e^(power L)] of losses that lie within `span` of each other, whatever pair has them.

    e^(power L) is convex in e^-L, whose mean under P is 1: at worst only both ends occur, t and t - span, and with
    x = e^t the moment is x^power (a - b x) / (e^span - 1), a = e^span - e^(-power span), b = 1 - e^(-power span). It is
    largest at x = power a / ((1 + power) b).
    Source: Dong, Durfee and Rogers (2020), Section 3, for the two ends.

    >>> bool(ranged_moment(1.0, np.array([1.0]))[0] <= 2 / 8)
    True
    """
    b = -np.expm1(-power * span)
    a = math.expm1(span) + b
    shares = np.log(a) - np.log1p(power)
    return np.asarray(power * (shares + np.log(power) - np.log(b)) + shares - math.log(math.expm1(span)), np.float64)


def _few(composition: Composition) -> Composition:
    """Return the composition itself, or one of few kinds that dominates it."""
    return composition if len(composition.parts) <= MOST_JOINED else Composition(parts=merged(composition)[1])


def _log_moments(composition: Composition, powers: Floats, *, ranged: bool) -> tuple[Floats, Floats]:
    """Return ln E[e^(s L)] of the whole at each power, and a bound on its rounding."""
    total, size = np.zeros_like(powers), np.ones_like(powers)
    for loss, times in composition.parts:
        if isinstance(loss, _CLOSED):
            span = loss.span if ranged and isinstance(loss, DiscreteLoss) else None
            with np.errstate(over="ignore"):
                moment = log_moment(loss, powers) if span is None else ranged_moment(span, powers)
                part = times * moment if times < _MOST else powers * math.inf
                total, size = total + part, size + np.abs(part) + min(times, _MOST) * 2.0
    return total, _MARGIN * size


def _smallest(bounds_at: Callable[[Floats], Floats]) -> float:
    """Return the smallest of the bounds at some powers, each of which holds: first a few, then all beside the best."""
    place = int(bounds_at(_POWERS[::_COARSE]).argmin()) * _COARSE
    return float(bounds_at(_POWERS[max(0, place - _COARSE) : place + _COARSE + 1]).min())


def _constant(powers: Floats) -> Floats:
    """Return ln((1 - 1/alpha)^alpha / (alpha - 1)), alpha = 1 + s."""
    return (1 + powers) * -np.log1p(1 / powers) - np.log(powers)


def log_delta(composition: Composition, epsilon: float) -> float:
    """Return an upper bound on ln delta(epsilon), also where delta underflows; minus infinity for a delta of 0."""
    composition = _few(composition)
    _, infinite = total_infinite_mass(composition)
    finite = _log_finite(composition, epsilon, ranged=False) + 1e-12
    return float(np.logaddexp(finite, math.log(infinite) + 1e-12)) if infinite > 0 else finite


def _log_finite(composition: Composition, epsilon: float, *, ranged: bool) -> float:
    """Return a bound on the logarithm of what the finite losses add to delta."""
    epsilon = min(epsilon, _LARGEST_EPSILON)  # delta is no larger at a larger epsilon, whose product is no float

    def bounds_at(powers: Floats) -> Floats:
        moments, rounding = _log_moments(composition, powers, ranged=ranged)
        return np.asarray(moments + rounding + _constant(powers) - powers * epsilon * (1 - _MARGIN))

    return min(0.0, _smallest(bounds_at))


def _delta(composition: Composition, epsilon: float, *, ranged: bool = False) -> Bracket:
    """Bound delta(epsilon) from above."""
    composition = _few(composition)
    _, infinite = total_infinite_mass(composition)
    finite = math.exp(_log_finite(composition, epsilon, ranged=ranged)) * (1 + 1e-12) + 1e-300
    return Bracket(lower=0.0, upper=min(1.0, (infinite + finite) * (1 + 1e-15)), engines=("renyi",))


def _epsilon(composition: Composition, delta: float, *, ranged: bool = False) -> Bracket:
    """Bound the smallest epsilon from above."""
    composition = _few(composition)
    _, infinite = total_infinite_mass(composition)
    rest = (delta - infinite) * (1 - 1e-15)
    if rest <= 0:
        return Bracket(lower=0.0, upper=math.inf, engines=("renyi",))

    def bounds_at(powers: Floats) -> Floats:
        moments, rounding = _log_moments(composition, powers, ranged=ranged)
        return np.asarray((moments + rounding + _constant(powers) - math.log(rest) + 1e-12) / powers)

    return Bracket(lower=0.0, upper=max(0.0, _smallest(bounds_at) * (1 + 1e-14)), engines=("renyi",))


def _covers(composition: Composition) -> bool:
    """Return whether every moment is a closed form of some finite loss."""
    return all(isinstance(loss, _CLOSED) and loss.infinite_mass < 1 for loss, _ in composition.parts)


def _covers_ranges(composition: Composition) -> bool:
    """Return whether several losses are composed of which one dominates pairs of a bounded range."""
    ranged = any(isinstance(loss, DiscreteLoss) and loss.span for loss, _ in composition.parts)
    return ranged and composition.events > 1 and _covers(composition)


RENYI = Engine(name="renyi", covers=_covers, delta=_delta, epsilon=_epsilon)

RANGED = Engine(
    name="renyi", covers=_covers_ranges, delta=partial(_delta, ranged=True), epsilon=partial(_epsilon, ranged=True)
)
"""Upper bounds for the pairs that mechanisms have, which may lie below the curve of the law that dominates them all.

Several releases of a bounded range have no pair that is the worst at every epsilon. The product of the laws that
dominate each of them is larger than any, so that these bounds are compared with no lower side of that product.
"""
