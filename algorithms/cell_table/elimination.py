"""The elimination of actions after an epoch, which reads nothing but the published tables."""

import math
from dataclasses import dataclass

import numpy as np

from algorithms.capri.settings import completed
from algorithms.cell_table.settings import CellTableSettings
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWidth:
    """How far a cell's mean may be off: factor sqrt(2 ln(2 N E / fail_prob)) sqrt(n + 2 V) / n.

    n users of a cell bring a variance of at most n; the noise of the sum brings V and that of the count another V, as
    a mean is at most 1. N cells, E `epochs` that release; `stddev` is the noise on every number of a table.
    """

    settings: CellTableSettings
    stddev: float

    def of(self, counts: Array, releases: int) -> Array:
        """Return the half width of every cell after `releases` tables. Shape: (n_runs, N) in and out."""
        epochs = max(completed(self.settings.horizon), 1)
        tail = math.sqrt(2 * math.log(2 * counts.shape[1] * epochs / self.settings.fail_prob))
        variance = releases * self.stddev**2
        return self.settings.width_factor * tail * np.sqrt(counts + 2 * variance) / counts


def at_least_one(pooled: Array) -> Array:
    """Return the noisy number of users of every cell, at least 1. Shape: (n_runs, N, 2) to (n_runs, N)."""
    return np.maximum(pooled[..., 0], 1.0)


def survivors(pooled: Array, active: Array, widths: Array) -> Array:
    """Return the active actions whose upper end reaches the best lower end of their context.

    Shape: pooled (n_runs, N, 2), the sum of all noisy tables; active (n_runs, C, X); widths (n_runs, N). The action
    with the best lower end always stays, so that no context is left without one.
    """
    mean = (pooled[..., 1] / at_least_one(pooled)).reshape(active.shape)
    reach = widths.reshape(active.shape)
    floor = np.where(active, mean - reach, -np.inf).max(axis=2, keepdims=True)
    return active & (mean + reach >= floor)
