"""Optimal composition of (epsilon, delta) black boxes, in log space.

Equal black boxes: the exact binomial sum. Different ones: a closed form that is an upper bound only.
Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3 (equal) and Theorem 3.5 (different); Murtagh and
Vadhan (2016), Theorem 1.5, for the heterogeneous optimum that the verified engine brackets.
"""

import math
import sys

import numpy as np
from scipy.special import gammaln

from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.engines.engine import Engine
from dpaudit.model.bracket import Bracket, largest_epsilon, smallest_epsilon
from dpaudit.model.losses import ApproximateLoss, Composition

_ULP = 2.0**-52
_SMALLEST = 1e-290  # sums above it hold no underflow that matters
_MOST = 1_000_000  # equal black boxes that are summed


def equal_delta(epsilon: float, times: int, target: float) -> tuple[float, float]:
    """Return bounds on delta(target) of `times` copies of randomised response, the part without infinite loss.

    The sum over l of C(times, l) (e^((times - l) epsilon) - e^(target + l epsilon)) / (1 + e^epsilon)^times, over
    terms that are positive. Each logarithm adds numbers no larger than `size`, and gammaln is taken as good to
    16 units in its last place, so that a term is right to a relative 64 size ulp; the gap in its second factor is
    right to `blur`, 4 units of the largest number in it. Terms whose gap is positive only within `blur` count for
    the upper bound. Where floats underflow, the lower bound is 0 and the upper one the smallest normal float.
    """
    blur = 4 * _ULP * (times * epsilon + target)
    if epsilon == 0 or times * epsilon + blur <= target:
        return 0.0, 0.0
    most = math.ceil((times * epsilon - target + 2 * blur) / (2 * epsilon))
    drawn = np.arange(min(times, max(0, most)) + 1, dtype=np.float64)
    gap = (times - 2 * drawn) * epsilon - target
    log_mass = gammaln(times + 1) - gammaln(drawn + 1) - gammaln(times - drawn + 1)
    log_mass -= drawn * epsilon + times * math.log1p(math.exp(-epsilon))
    mass = np.exp(log_mass)
    relative = 64 * _ULP * (math.lgamma(times + 1) + times * (1 + epsilon) + 16)
    lower = float(mass @ -np.expm1(-np.maximum(gap - blur, 0.0))) * (1 - relative)
    upper = float(mass @ -np.expm1(-np.maximum(gap + blur, 0.0))) * (1 + relative)
    return lower if lower > _SMALLEST else 0.0, min(1.0, max(upper, sys.float_info.min))


def closed_form_epsilon(composition: Composition, slack: float) -> float:
    """Return the epsilon of Theorem 3.5 for a positive `slack` of probability, rounded up."""
    parts = [(loss.epsilon, n) for loss, n in composition.parts if isinstance(loss, ApproximateLoss)]
    mean = math.fsum(n * e * math.tanh(e / 2) for e, n in parts)
    square = math.fsum(n * e * e for e, n in parts)
    first = mean + math.sqrt(2 * square * math.log(math.e + math.sqrt(square) / slack))
    second = mean + math.sqrt(2 * square * math.log(1 / slack))
    return min(total_supremum(composition)[1], first * (1 + 1e-13), second * (1 + 1e-13))


def _delta(composition: Composition, epsilon: float) -> Bracket:
    """Bracket delta(epsilon)."""
    floor, ceiling = total_infinite_mass(composition)
    if len(composition.parts) == 1:
        (loss, times), *_ = composition.parts
        pure = equal_delta(loss.supremum, times, epsilon)
    else:
        pure = 0.0, _smallest_slack(composition, epsilon)
    lower, upper = (
        (floor + (1 - ceiling) * pure[0]) * (1 - 4 * _ULP),
        (ceiling + (1 - floor) * pure[1]) * (1 + 4 * _ULP),
    )
    return Bracket(lower=max(0.0, lower), upper=min(1.0, upper), engines=("optimal",))


def _smallest_slack(composition: Composition, epsilon: float) -> float:
    """Return a slack for which the closed form is at most `epsilon`, the smallest that bisection finds."""
    if total_supremum(composition)[1] <= epsilon:
        return 0.0
    low, high = -745.0, 0.0
    if closed_form_epsilon(composition, math.exp(-1e-9)) > epsilon:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if closed_form_epsilon(composition, math.exp(middle)) <= epsilon:
            high = middle
        else:
            low = middle
    return min(1.0, math.exp(high) * (1 + 1e-12))


def _epsilon(composition: Composition, delta: float) -> Bracket:
    """Bracket the smallest epsilon with delta(epsilon) <= delta."""
    floor, ceiling = total_infinite_mass(composition)
    if delta < floor:
        return Bracket(lower=math.inf, upper=math.inf, engines=("optimal",))
    if len(composition.parts) == 1 and delta > 0:
        limit = total_supremum(composition)[1] if delta >= ceiling else math.inf
        upper = min(limit, smallest_epsilon(lambda e: _delta(composition, e).upper, delta))
        lower = largest_epsilon(lambda e: _delta(composition, e).lower, delta)
        return Bracket(lower=lower, upper=max(lower, upper), engines=("optimal",))
    slack = (delta - ceiling) / (1 - ceiling) * (1 - 4 * _ULP) if ceiling < 1 else 0.0
    upper = closed_form_epsilon(composition, slack) if slack > 0 else math.inf
    return Bracket(lower=0.0, upper=upper, engines=("optimal",))


def _covers(composition: Composition) -> bool:
    """Return whether there are only black boxes, and not too many equal ones."""
    return (
        bool(composition.parts)
        and all(isinstance(loss, ApproximateLoss) for loss, _ in composition.parts)
        and (len(composition.parts) > 1 or composition.events <= _MOST)
    )


OPTIMAL = Engine(name="optimal", covers=_covers, delta=_delta, epsilon=_epsilon)
