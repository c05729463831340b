"""Arrays for the fields of a problem: read-only, and of a size that memory holds."""

import math
from typing import Any

import numpy as np

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


def freeze(problem: Any, *fields: str) -> None:
    """Replace the arrays in some fields of a problem by read-only copies in float64, all finite; None stays.

    Raises: ValueError: nothing in one, or something that is not finite.
    """
    for field in fields:
        values = getattr(problem, field)
        if values is not None:
            copied = np.array(values, dtype=np.float64)
            if not copied.size or not np.isfinite(copied).all():
                raise ValueError(f"Expected {field} to hold finite numbers, at least one.")
            copied.setflags(write=False)
            object.__setattr__(problem, field, copied)
