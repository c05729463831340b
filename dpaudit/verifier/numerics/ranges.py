"""Bounds on what choices of one bounded range reach together, each made in view of those before it.

At worst a choice loses t or t - w, t with probability u = (E - e^t) / (E - 1), E = e^w, and

    D_0(x) = (1 - x)_+,    D_n(x) = sup_t f(e^t),    f(e^t) = u D_(n-1)(x e^-t) + (1 - u) D_(n-1)(x e^(w-t)).

Below, t and ln x lie on a lattice. Above, between two of its places A < B, it is at most c0 / X + c1 + c2 X, which
meets f at both ends. With k = -c0 (B - A)^2 / A^3 and s = (X - A) / (B - A) it exceeds the line between the ends by
at most k s (1 - s). If the ends differ by d < k, the larger one is exceeded by (k - d)^2 / (4 k) at most, and not at
all else.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpaudit.verifier.refusals import Array

_FINEST, _COARSEST = 120, 6  # places of the lattice within a range
_SLIP = 2.0**-45  # relative, over the step and for each choice
_TINY = 1e-300
_LEAST, _MOST = 1e-3, 40.0  # widths that are followed


def adaptive(width: float, count: int, epsilon: float, work: float) -> tuple[float, float]:
    """Return bounds on the delta of so many choices at an epsilon; 0 and 1 where `work` entries are too few."""
    cells = min(_FINEST, math.floor(math.sqrt(work * width / (2 * count * _reach(width, count)))))
    if cells < _COARSEST or not _LEAST <= width <= _MOST:
        return 0.0, 1.0
    y, low, under, high = _recursion(width, count, cells)
    if epsilon >= y[-1]:
        return 0.0, float(high[-1])
    i, x = int(np.searchsorted(y, epsilon, side="right")), math.exp(epsilon)
    left, right = math.exp(y[i - 1]), math.exp(y[i])
    share = (x - left) / (right - left)
    tangents = low[i - 1] - under[i - 1] * (x - left), low[i] + under[i] * (right - x) * (1 - 1e-6)
    return max(0.0, *map(float, tangents)), float(high[i - 1] * (1 - share) + high[i] * share) * (1 + 1e-13)


def _reach(width: float, count: int) -> float:
    """Return how far a sum of losses is followed."""
    return min(count * width, count * width**2 / 4 + 11 * math.sqrt(count) * width / 2 + width)


@lru_cache(maxsize=8)
def _recursion(width: float, count: int, cells: int) -> tuple[Array, Array, Array, Array]:
    """Return places ln x, and there a test's gain with its mass under Q, and what no choices exceed."""
    h = width / cells
    reaches = [math.ceil(_reach(width, n) / h) for n in range(1, count + 1)]
    t = np.arange(cells + 1)[:, None] * h
    u = np.expm1(t - width) / math.expm1(-width)
    y = np.arange(-reaches[0], reaches[0] + 1) * h
    low = high = np.maximum(0.0, -np.expm1(y))
    under = (y < 0) * 1.0
    grown = math.expm1(h) * math.exp(h)
    for reach in reaches:
        outer = np.exp(np.arange(len(low) // 2 - cells - reach, 0) * h)
        upward, downward = _moved(low, 1 - outer * math.exp(-(len(low) // 2) * h), 0.0, cells)
        gains = u * upward + (1 - u) * downward
        best = gains.argmax(0)[None]
        upward, downward = _moved(under, np.ones(len(outer)), 0.0, cells)
        events = u * np.exp(-t) * upward + (1 - u) * np.exp(width - t) * downward
        under = np.take_along_axis(events, best, 0)[0]
        low = np.take_along_axis(gains, best, 0)[0]
        upward, downward = _moved(high, 1 - (1 - high[0]) * outer, high[-1], cells)
        gains = u * upward + (1 - u) * downward
        bent = np.diff(upward, axis=0) / -math.expm1(-width) - np.diff(downward, axis=0) / math.expm1(width)
        arch, ends = grown * np.maximum(bent, 0.0), np.abs(np.diff(gains, axis=0))
        above = np.maximum(arch - ends, 0.0) ** 2 / np.maximum(4 * arch, _TINY)
        high = (np.maximum(gains[1:], gains[:-1]) + above).max(0)
    slip = count * _SLIP / h
    y = np.arange(-reaches[-1], reaches[-1] + 1) * h
    return y, low * (1 - slip), under * (1 + slip), np.minimum(1.0, high * (1 + slip))


def _moved(row: Array, before: Array, after: float, cells: int) -> tuple[Array, Array]:
    """Return a curve at x e^-t and at x e^(w-t), for each t in turn, on a window as much wider as there is `before`."""
    size = len(row) + 2 * (len(before) - cells)
    rows = sliding_window_view(np.concatenate([before, row, np.full(len(before), after)]), size)
    return rows[cells::-1], rows[: cells - 1 : -1]
