"""Features from the bits of doubles, for leaks of floating-point noise."""

from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

_LOW_BITS = 12


def bit_features(view: Any) -> Array:
    """Return features of one double a run: low mantissa bits, number of trailing zeros, exponent, and the value.

    Shape: `view` is (runs,) or (runs, 1) of floats; the result (runs, 15). Use it in front of a learner, as in
    `audit(lambda data, rng, n: bit_features(function(data, rng, n)), ...)`: the features are post-processing of the
    output, so that a bound on their epsilon is a bound on the output's.
    Source: Mironov (2012) for the leak; Bichsel et al. (2021) for bit patterns as features.

    >>> bit_features(np.array([0.5, 0.1])).shape
    (2, 15)
    """
    values = np.asarray(view, dtype=np.float64).reshape(len(view))
    bits = np.ascontiguousarray(values).view(np.uint64)
    mantissa = bits & np.uint64((1 << 52) - 1)
    low = (mantissa[:, None] >> np.arange(_LOW_BITS, dtype=np.uint64)) & np.uint64(1)
    lowest = mantissa & (~mantissa + np.uint64(1))
    zeros = np.where(mantissa == 0, 52, np.log2(np.maximum(lowest, 1).astype(float)))
    exponent = (bits >> np.uint64(52)) & np.uint64(0x7FF)
    return np.column_stack([low.astype(float), zeros, exponent.astype(float), values])


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
