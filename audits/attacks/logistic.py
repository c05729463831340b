"""The logistic log likelihood of labels, given log odds."""

import numpy as np

from dpaudit.model.mechanism import Array


def log_likelihood(odds: Array, labels: Array) -> Array:
    """Return the log probability of the labels, summed over the last axis.

    Shape: `labels` is (runs,), true for the second neighbour; `odds` is (..., runs), its log odds in each run.

    >>> float(log_likelihood(np.zeros(2), np.array([True, False])).round(4))
    -1.3863
    """
    total: Array = -np.logaddexp(0, np.where(labels, -odds, odds)).sum(axis=-1)
    return total
