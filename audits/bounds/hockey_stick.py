"""A witness of the hockey-stick divergence, for leaks that live in delta: bet on phi(X) - e^epsilon phi(Y) - delta.

For any phi with values in [0, 1], a private mechanism has E phi(X) - e^epsilon E phi(Y) <= delta, X and Y outputs on
the two neighbours. A bettor who stakes a predictable share l on D = phi(X) - e^epsilon phi(Y) - delta multiplies the
wealth by 1 + l D >= 0 for l <= 1 / (e^epsilon + delta); its mean is at most 1 if the claim is true.
"""

import math

import numpy as np

from dpaudit import LowerBound
from dpaudit.mechanism import Array

_GRID = np.concatenate([[0.0], np.geomspace(0.01, 12.0, 180)])
_DELTAS = np.concatenate([np.geomspace(1e-6, 0.1, 120), np.linspace(0.11, 0.99, 89)])


def witness_bound(first: Array, second: Array, delta: float, significance: float) -> LowerBound:
    """Return the lower bound on epsilon at `delta` that the witness's values on paired runs show.

    Shape: `first` and `second` hold phi on runs of the first and of the second neighbour, in [0, 1], in order; the
    surplus of the longer one is left out. phi must come from other or from earlier runs.
    Guarantee: anytime-valid, for every mechanism. Every epsilon of a grid is bet against; the bound is the largest all
    of whose predecessors fell, so that one significance pays for the grid.
    Source: Waudby-Smith and Ramdas (2024), betting confidence bounds, applied to the divergence of Balle and Wang.
    """
    best = np.array([_best_wealth(first, second, epsilon, delta) for epsilon in _GRID])
    alive = np.flatnonzero(best < -math.log(significance))
    place = int(alive[0]) if len(alive) else len(_GRID)
    epsilon = float(_GRID[place - 1]) if place else 0.0
    return LowerBound(name="witness", epsilon=epsilon, significance=significance)


def witness_delta(first: Array, second: Array, epsilon: float, significance: float) -> float:
    """Return the lower bound on delta at a fixed `epsilon`, or 0. Shape and guarantee: as for `witness_bound`."""
    best = np.array([_best_wealth(first, second, epsilon, delta) for delta in _DELTAS])
    alive = np.flatnonzero(best < -math.log(significance))
    place = int(alive[0]) if len(alive) else len(_DELTAS)
    return float(_DELTAS[place - 1]) if place else 0.0


def _best_wealth(first: Array, second: Array, epsilon: float, delta: float) -> float:
    """Return the largest log wealth ever reached by betting the past's Kelly share, either way round."""
    return max(
        _wealth(second, first, epsilon, delta), _wealth(1 - np.asarray(first), 1 - np.asarray(second), epsilon, delta)
    ) - math.log(2)


def _wealth(likely: Array, unlikely: Array, epsilon: float, delta: float) -> float:
    """Return the largest log wealth of one bettor, whose share is mean / (mean^2 + variance) of the past gains."""
    pairs = min(len(likely), len(unlikely))
    gain = np.asarray(likely[:pairs]) - math.exp(epsilon) * np.asarray(unlikely[:pairs]) - delta
    seen = np.arange(pairs) + 1.0
    total = np.concatenate([[0.0], np.cumsum(gain)[:-1]]) / seen
    square = (np.concatenate([[0.0], np.cumsum(gain**2)[:-1]]) + 0.25) / seen
    share = np.clip(total / square, 0.0, 0.75 / (math.exp(epsilon) + delta))
    return float(np.cumsum(np.log1p(share * gain)).max(initial=0.0))
