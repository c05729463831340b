"""The whitened linear discriminant: the direction in which the neighbours lie furthest apart.

Noise that is shared between coordinates cancels in some direction; whitening finds that direction. A likelihood ratio
for independent noise does not.
"""

from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array

_RELATIVE_RIDGE = 1e-13
_MOST_COLUMNS = 512
_LARGEST = 1e100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Discriminant:
    """A direction, learned from labelled runs. Columns that are not always below 1e100 are left out."""

    direction: Array

    @classmethod
    def learned(cls, numbers: Array, labels: Array) -> "Discriminant":
        """Return the direction S^+ (m1 - m0), S the pooled covariance of columns scaled to unit spread.

        Source: Fisher (1936). A ridge of 1e-13 of the largest variance keeps directions without noise finite.
        """
        columns = numbers[:, :_MOST_COLUMNS]
        finite = (np.abs(columns) < _LARGEST).all(axis=0)
        spread = np.where(finite, np.where(finite, columns, 0.0).std(axis=0), 0.0)
        used = spread > 0
        direction = np.zeros(numbers.shape[1])
        if used.any() and labels.any() and not labels.all():
            scaled = columns[:, used] / spread[used]
            gap = scaled[labels].mean(axis=0) - scaled[~labels].mean(axis=0)
            centred = np.where(
                labels[:, None], scaled - scaled[labels].mean(axis=0), scaled - scaled[~labels].mean(axis=0)
            )
            variances, axes = np.linalg.eigh(centred.T @ centred / len(labels))
            floor = _RELATIVE_RIDGE * max(float(variances[-1]), 1.0)
            direction[: columns.shape[1]][used] = (axes @ ((axes.T @ gap) / np.maximum(variances, floor))) / spread[
                used
            ]
        return cls(direction=direction)

    def project(self, numbers: Array) -> Array:
        """Return each run's coordinate along the direction."""
        used = self.direction != 0
        return numbers[:, used] @ self.direction[used]
