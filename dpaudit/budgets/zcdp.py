"""From concentrated differential privacy (rho) to (epsilon, delta) and back, rounded to the safe side."""

import math

from dpaudit.accounting.calibration import smallest_holding
from dpaudit.model.losses.concentrated import concentrated_delta


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
