"""Bits of doubles, for leaks of floating-point noise: the last one that is 1, and how many are used."""

import numpy as np

from dpaudit.model.mechanism import Array


def last_bits(values: Array) -> Array:
    """Return the exponent of the last bit that is 1 of each double: -1100 for 0, NaN where not finite.

    x is an odd multiple of two to this power: noise on a coarser or finer grid than the declared one shows here.

    >>> last_bits(np.array([0.5, 3.0, 0.0])).tolist()
    [-1.0, 0.0, -1100.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))
    significand = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    trailing = np.log2(np.maximum(significand & -significand, 1).astype(float))
    last: Array = np.where(values == 0, -1100.0, exponent - 53 + trailing)
    return np.where(np.isfinite(values), last, np.nan)


def used_bits(values: Array) -> Array:
    """Return how many bits each double uses, from its first 1 to its last: 1 to 53, and 0 where not finite or 0.

    Noise in doubles uses nearly all; a number that was rounded to single precision uses at most 24.

    >>> used_bits(np.array([0.5, 3.0, 0.1, 0.0])).tolist()
    [1.0, 2.0, 52.0, 0.0]
    """
    has_bits = np.isfinite(values) & (values != 0)
    _, exponent = np.frexp(np.where(has_bits, values, 1.0))
    return np.where(has_bits, exponent - last_bits(np.where(has_bits, values, 1.0)), 0.0)
