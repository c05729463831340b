"""Pairs of levels for limits on two independent samples, which share one error probability.

Two independent p-values have a product of at most c with probability at most c (1 - ln c). Otherwise the product is
larger than c: then the first is at least a and the second at least b for one of the pairs (a, b) on a grid of the curve
a b = c. So what all pairs of limits show is shown with error probability c (1 - ln c). Where the error probability is
.01, equal levels are about .033; with half of it each they would be .005.
Source: Fisher (1932), section 21.1.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import lambertw

from dpaudit.checks import open_probability
from dpaudit.model.mechanism import Array

_PAIRS = 32
_ROUNDING, _LARGEST = 1e-9, 0.99
"""More than the error of the logarithm. Of more error so much is used, as the root is ill-conditioned beyond."""


@lru_cache(maxsize=64)
def shared_levels(significance: float) -> Array:
    """Return levels of limits on a first and a second sample. Shape: (2, pairs).

    Guarantee: with probability at least 1 - `significance` there is a pair of which both limits hold, if each limit is
    wrong with probability at most its level and the samples are independent.
    Raises: ValueError: `significance` outside (0, 1).

    >>> shared_levels(0.01)[:, 16].round(3).tolist()
    [0.036, 0.029]
    """
    open_probability("significance", significance)
    shared = min(significance, _LARGEST)
    logarithm = -lambertw(-shared / math.e, -1).real - 1  # x of (1 + x) e^(-x) = shared
    product = math.exp(-float(logarithm)) * (1 - _ROUNDING)
    ends = np.geomspace(product, 1.0, _PAIRS + 1)
    return np.stack([ends[:-1], np.minimum(1.0, product / ends[1:])])
