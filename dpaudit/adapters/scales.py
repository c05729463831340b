"""Noise scales that a library computes in doubles, or tells rounded down."""

import math
import sys
from fractions import Fraction

_STEPS = 4


def scale_for(epsilon: float, scale: float, sensitivity: float) -> float:
    """Return `scale`, or a double at most four steps above it that is large enough for `epsilon`.

    A quotient in doubles may lie half a unit in the last place below sensitivity / epsilon, and a scale that a library
    rounded down lies below it too: exact arithmetic would then refute a claim that only rounding exceeds.
    Guarantee: a scale below that by more than rounding is returned as it is, so that its certificate is refuted.
    Edge cases: what is not finite, and a scale below the normal range of floats, is returned as it is.

    >>> scale_for(3.48, 1 / 3.48, 1.0) > 1 / 3.48, scale_for(1.0, 1.0, 1.0), scale_for(1.0, 0.5, 1.0)
    (True, 1.0, 0.5)
    """
    if not all(map(math.isfinite, (epsilon, scale, sensitivity))) or abs(scale) < sys.float_info.min:
        return scale
    larger = scale
    for _ in range(_STEPS + 1):
        if Fraction(sensitivity) <= Fraction(larger) * Fraction(epsilon):
            return larger
        larger = math.nextafter(larger, math.inf)
    return scale
