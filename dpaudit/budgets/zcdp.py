"""From concentrated differential privacy (rho) to (epsilon, delta) and back, rounded to the safe side."""

import math

from dpaudit.accounting.calibration import smallest_holding
from dpaudit.model.losses.concentrated import concentrated_delta

_ULP = 2.0**-52


def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho that `concentrated_delta` turns into (epsilon, delta), rounded down.

    Raises: UnsupportedError: no positive rho will do (delta is 0).
    """
    goal = f"epsilon={epsilon}, delta={delta}"
    factor = smallest_holding(lambda noise: concentrated_delta(noise**-2, epsilon) <= delta, goal)
    rho: float = factor**-2
    while concentrated_delta(rho, epsilon) > delta:
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
