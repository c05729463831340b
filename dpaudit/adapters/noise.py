"""Noise that an object of a library shows, as the release of a mechanism."""

import math
import sys
from fractions import Fraction
from typing import Any

from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Release
from dpaudit.runtime.plugins import find_plugin

_STEPS = 4

_FIELDS = {
    "laplace": ("scale", "l1_sensitivity"),
    "discrete_laplace": ("scale", "l1_sensitivity"),
    "gaussian": ("stddev", "l2_sensitivity"),
    "discrete_gaussian": ("stddev", "l2_sensitivity"),
    "permute_and_flip": ("scale", "linf_sensitivity"),
}
"""By mechanism: the names of its size and of the sensitivity that the size is for."""


def noise(
    label: str, kind: str, scale: float, sensitivity: float, neighbours: Neighbours, *, epsilon: float | None = None
) -> Release | None:
    """Return the release of a mechanism that adds noise of a scale, or None where its parameters are out of range.

    A sensitivity that is a whole number becomes an integer, which noise on integers asks for. Of Laplace noise that is
    meant for `epsilon`, the scale is that of `scale_for`.

    >>> noise("a count", "discrete_laplace", 2.0, 1.0, "add_remove").mechanism.l1_sensitivity
    1
    >>> noise("a count", "laplace", 0.0, 1.0, "add_remove") is None
    True
    """
    size, norm = _FIELDS[kind]
    fitted = scale if epsilon is None else scale_for(epsilon, scale, sensitivity)
    is_integer = math.isfinite(sensitivity) and float(sensitivity).is_integer()
    return release(label, kind, neighbours, **{size: fitted, norm: int(sensitivity) if is_integer else sensitivity})


def release(label: str, kind: str, neighbours: Neighbours, **parameters: Any) -> Release | None:
    """Return the release of a mechanism by its name, or None where its parameters are out of range."""
    try:
        return Release(label=label, mechanism=find_plugin("mechanisms", kind)(**parameters, neighbours=neighbours))
    except ValueError:
        return None


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
