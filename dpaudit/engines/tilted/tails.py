"""Mass of a sum of tilted losses outside a window of knots, bounded by Chernoff's inequality.

The weights of the sum K at or above T are at most e^(Lambda(s) - s T) for every s >= 0, Lambda(s) the sum of the
parts' log moments; below T likewise with s <= 0. Any s is valid, so that the search needs no precision.
"""

import math
from collections.abc import Sequence

from dpaudit.engines.law import Weights

_ENOUGH = -21.0  # the logarithm of a bound that adds next to nothing to a bracket
_STEP, _TRIES = 4.0, 20  # of the search for a slope: the first factor, and how often it is applied or halved


def log_mass_beyond(parts: Sequence[Weights], knot: int, centre: int, deviation: float, *, above: bool) -> float:
    """Return the logarithm of a bound on the weights at `knot` and `above` it, or below, at most 0.

    The search starts at the slope that is best where the weights have a Gaussian law. Where a rare loss makes most of
    the deviation, or the law has an end nearby, the best slope is a large or a small multiple of it.
    Unit: knots, for `centre` and `deviation` as well.
    """
    sign = 1 if above else -1
    spread = max(deviation, 1.0)
    slope, step = max(1, sign * (knot - centre)) / spread**2, _STEP
    best = _exponent(parts, sign * slope, knot)
    for _ in range(_TRIES):
        if best < _ENOUGH:
            break
        exponents = {tried: _exponent(parts, sign * tried, knot) for tried in (slope / step, slope * step)}
        nearer = min(exponents, key=exponents.__getitem__)
        if exponents[nearer] < best:
            slope, best = nearer, exponents[nearer]
        else:
            step = math.sqrt(step)
    return min(0.0, best)


def _exponent(parts: Sequence[Weights], slope: float, knot: int) -> float:
    """Return Lambda(slope) - slope knot, rounded up."""
    moment = math.fsum(part.times * part.log_moment(slope) for part in parts)
    return moment - slope * knot + 1e-13 * (abs(moment) + abs(slope * knot))
