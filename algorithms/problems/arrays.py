"""Arrays for the fields of a problem: read-only, and of a size that memory holds."""

import math

import numpy as np

from dpaudit.model.mechanism import Array

_MOST_NUMBERS = 30_000_000
"""240 MB; a problem holds its largest array a few times while it is made."""


def fits_in_memory(**shape: int) -> None:
    """Check that the largest array of a problem can be held, before it is made; `shape` names the keys behind it.

    Raises: ValueError: more than 3e7 numbers; the message names the keys.

    >>> fits_in_memory(contexts=10, actions=10)
    """
    if math.prod(shape.values()) > _MOST_NUMBERS:
        sizes = ", ".join(f"{key}={size}" for key, size in shape.items())
        raise ValueError(f"Expected {sizes} to make arrays of at most {_MOST_NUMBERS:,} numbers; lower one of them.")


def frozen(name: str, values: Array) -> Array:
    """Return a read-only copy in float64, all finite.

    Raises: ValueError: nothing in it, or something that is not finite.
    """
    copied = np.array(values, dtype=np.float64)
    if not copied.size or not np.isfinite(copied).all():
        raise ValueError(f"Expected {name} to hold finite numbers, at least one.")
    copied.setflags(write=False)
    return copied
