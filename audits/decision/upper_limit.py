"""An upper limit on the privacy loss at one pair of data sets, for outputs with few distinct values."""

from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv

from audits.bounds.bisection import bisected
from dpaudit.model.mechanism import Array

_LARGEST = 30.0
_STEPS = 60
_ERROR = 0.05


def hockey_stick_limit(first: Array, second: Array, epsilon: float, error: float = _ERROR) -> float:
    """Return an upper limit on the larger hockey-stick divergence at `epsilon` of the two laws that gave the counts.

    Shape: `first` and `second` are counts of the same cells, fixed before these runs were seen; the last cell holds
    every other output. Guarantee: for all epsilon at once the limit is exceeded with probability at most `error`.
    Source: Clopper and Pearson (1934) for each cell and law, joined by a union bound over four limits a cell.

    >>> round(hockey_stick_limit(np.array([300, 500, 200, 0]), np.array([420, 430, 150, 0]), 0.5), 5)
    0.04364
    """
    level = error / (4 * len(first))
    return min(1.0, max(_one_order(first, second, epsilon, level), _one_order(second, first, epsilon, level)))


def epsilon_limit(first: Array, second: Array, delta: float, error: float = _ERROR) -> float:
    """Return the least epsilon at which the limit on the divergence is at most `delta`; infinite above 30.

    Guarantee: the pair's own epsilon at `delta` is larger with probability at most `error`.
    """

    def exceeds(epsilon: float) -> bool:
        return hockey_stick_limit(first, second, epsilon, error) > delta

    return float("inf") if exceeds(_LARGEST) else bisected(exceeds, 0.0, _LARGEST, _STEPS)[1]


def counts_by_cell(cells: Array, labels: Array, n_cells: int) -> tuple[Array, Array]:
    """Return the counts of each known cell under either neighbour; those of all other outputs come last.

    `cells` holds the number of each run's cell, from 0; -1 for an output that is no known cell.
    """
    places = np.where(cells < 0, n_cells, cells).astype(int)
    first, second = (np.bincount(places[chosen], minlength=n_cells + 1) for chosen in (~labels, labels))
    return first, second


def _one_order(first: Array, second: Array, epsilon: float, level: float) -> float:
    """Return the limit on sup P_second(S) - e^epsilon P_first(S)."""
    upper = _limit(second, second.sum(), lambda k, n: betaincinv(k + 1, n - k, 1 - level), 1.0)
    lower = _limit(first, first.sum(), lambda k, n: betaincinv(k, n - k + 1, level), 0.0)
    excess = np.maximum(upper[:-1] - np.exp(epsilon) * lower[:-1], 0).sum()
    return float(excess + upper[-1])


def _limit(counts: Array, runs: int, limit: Callable[[Array, int], Array], end: float) -> Array:
    """Return a Clopper-Pearson limit for every count; `end` where the count leaves no choice."""
    edge = counts == (runs if end == 1.0 else 0)
    inner = np.where(edge, max(runs // 2, 1), counts)
    return np.where(edge, end, limit(inner, max(runs, 2)))
