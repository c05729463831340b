"""From concentrated differential privacy (rho) to (epsilon, delta) and back, rounded to the safe side."""

import math

from dpaudit.accounting.calibration import smallest_holding
from dpaudit.checks import non_negative

_ULP = 2.0**-52
_STEPS = 200


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return a delta for which every rho-concentrated mechanism is (epsilon, delta)-private, near the best one.

    Guarantee: an upper bound, whatever order the search ends on: the bound holds at each order by itself. The
    search is over the logarithm of the order above 1; the order (1 + epsilon / rho) / 2 that minimises the leading
    term lies far inside its range. Where delta underflows, the bound is the smallest positive float.
    Source: Canonne, Kamath and Steinke (2020), Corollary 13.
    """
    if non_negative("rho", rho) == 0:
        return 0.0
    low, high = -40.0, math.log(max(1.0, epsilon / rho)) + 40.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(_STEPS):
        width = ratio * (high - low)
        if _log_delta(rho, epsilon, high - width) < _log_delta(rho, epsilon, low + width):
            high = low + width
        else:
            low = high - width
    best = math.exp(min(0.0, _log_delta(rho, epsilon, low))) * (1 + 8 * _ULP)
    return min(1.0, max(best, math.nextafter(0, 1)))


def _log_delta(rho: float, epsilon: float, log_above_one: float) -> float:
    """Return ln delta at the order 1 + e^log_above_one, rounded up by the size of its terms."""
    above = math.exp(log_above_one)
    order = 1 + above
    terms = (
        above * order * rho,
        -above * epsilon,
        -log_above_one,
        -order * math.log1p(1 / above),
    )
    return math.fsum(terms) + 8 * _ULP * math.fsum(map(abs, terms))


def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho that the conversion above turns into (epsilon, delta), rounded down.

    Raises: UnsupportedError: no positive rho will do (delta is 0).
    """
    goal = f"epsilon={epsilon}, delta={delta}"
    factor = smallest_holding(lambda noise: zcdp_delta(noise**-2, epsilon) <= delta, goal)
    rho: float = factor**-2
    while zcdp_delta(rho, epsilon) > delta:
        rho = math.nextafter(rho, 0)
    return rho


def largest_rho_at_the_advanced_rate(epsilon: float, delta: float) -> float:
    """Return the largest rho with rho + 2 sqrt(rho ln(1/delta)) <= epsilon, rounded down; 0 where delta is 0.

    With rho = sum of epsilon_i^2 / 2 this is the budget of the advanced composition theorem.
    Source: Bun and Steinke (2016), Proposition 1.3; Whitehouse, Ramdas, Rogers and Wu (2023).
    """
    if delta == 0:
        return 0.0
    tail = -math.log(delta)
    rho: float = (epsilon / (math.sqrt(tail + epsilon) + math.sqrt(tail))) ** 2
    return rho * (1 - 64 * _ULP)
