"""Read-only arrays for the fields of a problem."""

import numpy as np

from dpaudit.model.mechanism import Array


def frozen(name: str, values: Array) -> Array:
    """Return a read-only copy in float64, all finite.

    Raises: ValueError: nothing in it, or something that is not finite.
    """
    copied = np.array(values, dtype=np.float64)
    if not copied.size or not np.isfinite(copied).all():
        raise ValueError(f"Expected {name} to hold finite numbers, at least one.")
    copied.setflags(write=False)
    return copied
