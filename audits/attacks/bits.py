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
    features: Array = np.column_stack([low.astype(float), zeros, exponent.astype(float), values])
    return features
