"""Closed form for Gaussian losses only: composition adds mu^2 exactly.

Source: Balle and Wang (2018), Theorem 8, for one release; Dong, Roth and Su (2022), Corollary 3.3, for many.
"""

import math
from fractions import Fraction

from scipy.special import erfinv, log_ndtr, ndtri

from dpaudit.engines.engine import Ends, crossing
from dpaudit.engines.exact import exact_sum, outwards
from dpaudit.model.losses import Composition, GaussianLoss

_ULP = 2.0**-52
LARGEST_MU = 1e150
"""The largest mu whose square and curve floating point can hold; a larger one is bounded by it."""
_SMALLEST_MU, _SMALL = 1e-150, 1e-100
_SURE = 40.0
_BOUNDED_UP = 1 + 1e-12  # more than a few roundings


def total_mu(composition: Composition) -> tuple[float, float]:
    """Return lower and upper bounds, neighbouring floats at most, on the mu of all parts together.

    Edge cases: a sum of squares beyond floating point has the bounds 10^150 and infinity.
    """
    square = exact_sum((loss.mu, 2, times) for loss, times in composition.parts if isinstance(loss, GaussianLoss))
    shift = max(0, 160 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    root = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    if root >> shift >= int(LARGEST_MU):
        return LARGEST_MU, math.inf
    below = Fraction(root, 1 << shift)
    above = below if below * below == square else Fraction(root + 1, 1 << shift)
    return outwards(below)[0], outwards(above)[1]


def gaussian_delta(mu: float, epsilon: float) -> tuple[float, float]:
    """Return lower and upper bounds on delta(epsilon) of N(mu, 1) against N(0, 1).

    With a = mu/2 - epsilon/mu and b = -mu/2 - epsilon/mu, delta = Phi(a) (1 - e^(epsilon + ln Phi(b) - ln Phi(a))).
    The bounds add up the rounding of a and b (whose effect on ln Phi grows with their square), of the two
    logarithms (taken as good to 16 units in the last place) and of the exponent, and move outwards by the
    sum. Where delta underflows, the upper bound is the smallest positive float.
    Edge cases: delta grows with mu, so that above 10^150 the bounds are those of 10^150 and 1.
    """
    if mu > LARGEST_MU:
        return gaussian_delta(LARGEST_MU, epsilon)[0], 1.0
    if mu < _SMALLEST_MU:  # beside 1 - e^epsilon delta is at most mu, and far less from epsilon = 10^-100 on
        surely = -math.expm1(min(epsilon, 0.0))
        upper = surely * (1 + 4 * _ULP) + (mu if epsilon < _SMALL else math.nextafter(0, 1))
        return surely * (1 - 4 * _ULP), min(1.0, upper)
    a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    log_a, log_b = float(log_ndtr(a)), float(log_ndtr(b))
    error_a = _ULP * (4 * a * a + 16 * abs(log_a) + 4 * (mu + abs(epsilon) / mu) + 8)
    if a - 4 * _ULP * (mu + abs(epsilon) / mu) > _SURE:  # Phi(a) is 1 up to 1e-300, wherever rounding puts a
        error_a = 16 * _ULP
    error_b = _ULP * (4 * b * b + 16 * abs(log_b) + 4 * (mu + abs(epsilon) / mu) + 8)
    gap = epsilon + log_b - log_a
    error_gap = error_a + error_b + 4 * _ULP * (abs(epsilon) + abs(log_a) + abs(log_b))
    upper = math.exp(min(0.0, log_a + error_a)) * -math.expm1(min(0.0, gap - error_gap)) * (1 + 8 * _ULP)
    lower = math.exp(log_a - error_a) * -math.expm1(min(0.0, gap + error_gap)) * (1 - 8 * _ULP)
    return max(0.0, lower), min(1.0, max(upper, math.nextafter(0, 1)))


def mu_of_bounded(largest: float) -> float:
    """Return a mu, rounded up, for which whatever loses at most `largest` either way is mu-GDP: 2 Phi^-1(p).

    p = e^largest / (1 + e^largest) = 1/2 + tanh(largest / 2) / 2; near 1/2 the excess alone has digits.

    >>> mu_of_bounded(1e-20) > 1e-20
    True
    """
    if largest < 1:
        return 2 * math.sqrt(2) * float(erfinv(math.tanh(largest / 2))) * _BOUNDED_UP
    return -2 * float(ndtri(1 / (1 + math.exp(largest)))) * _BOUNDED_UP


def delta_ends(composition: Composition, epsilon: float) -> Ends:
    """Return bounds on delta(epsilon); delta grows with mu."""
    low, high = total_mu(composition)
    return gaussian_delta(low, epsilon)[0], gaussian_delta(high, epsilon)[1]


def epsilon_ends(composition: Composition, delta: float) -> Ends:
    """Return bounds on the smallest epsilon with delta(epsilon) <= delta."""
    low, high = total_mu(composition)
    if delta == 0:
        return (math.inf, math.inf) if high > 0 else (0.0, 0.0)
    return crossing(lambda epsilon: (gaussian_delta(low, epsilon)[0], gaussian_delta(high, epsilon)[1]), delta)


def all_gaussian(composition: Composition) -> bool:
    """Return whether every loss is Gaussian.

    >>> all_gaussian(Composition.of(GaussianLoss(mu=1.0)))
    True
    """
    return all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)
