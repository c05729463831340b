"""Mass of a sum of tilted losses outside a window of knots, bounded by Chernoff's inequality.

The weights of the sum K at or above T are at most e^(Lambda(s) - s T) for every s >= 0, Lambda(s) the sum of the
parts' log moments; below T likewise with s <= 0. Any s is valid, so that the search needs no precision.
"""

import math
from collections.abc import Sequence

from dpaudit.engines.tilted.law import Weights

_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.55, 0.75, 1.0, 1.3)


def log_mass_beyond(parts: Sequence[Weights], knot: int, centre: int, deviation: float) -> float:
    """Return the logarithm of a bound on the weights at `knot` and further away from the `centre`, at most 0.

    Unit: knots, for `centre` and `deviation` as well.
    """
    away = knot - centre
    guess = away / max(deviation, 1.0) ** 2
    return min(0.0, *(_exponent(parts, guess * share, knot) for share in _SHARES))


def _exponent(parts: Sequence[Weights], slope: float, knot: int) -> float:
    """Return Lambda(slope) - slope knot, rounded up."""
    moment = math.fsum(part.times * part.log_moment(slope) for part in parts)
    return moment - slope * knot + 1e-13 * (abs(moment) + abs(slope * knot))
