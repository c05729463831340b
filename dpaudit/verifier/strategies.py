"""The squared distance by which one record moves the rows of a strategy matrix, from below and from above.

With g(i, j) the inner product of two columns, a schedule's squared move is at most the sum of |g| over its pairs.
"""

import math
from itertools import combinations, product
from typing import Any

import numpy as np

from dpaudit.verifier.refusals import Table, require

Array = np.ndarray[Any, Any]
_MOST, _DENSE, _SIGNED = 20_000, 512, 12


def squared_move(fields: Table) -> tuple[float, float]:
    """Return both sides for the fields of a matrix mechanism."""
    kind, horizon, gap = fields["strategy"], fields["horizon"], fields.get("separation", 1)
    most = min(fields.get("participations", 1), math.ceil(horizon / gap))
    given = np.array(fields.get("entries", []), float)
    require(horizon <= 1 << 16, "a strategy's horizon is out of range")
    if kind == "full_tree":
        return _tree(horizon, most, gap)
    if kind == "explicit":
        require(horizon <= _DENSE and len(given) == horizon**2, "a strategy's rows do not fit its horizon")
        matrix = given.reshape(horizon, horizon)
        require(not np.triu(matrix, 1).any(), "a row of a strategy looks ahead")
        return _counted(matrix, most, gap)
    first = given if kind == "toeplitz" else np.cumprod([1.0, *(1 - 0.5 / np.arange(1, horizon))])
    require(0 < len(first) <= horizon, "a strategy's coefficients do not fit its horizon")
    falls = (np.diff(first, prepend=first[0], append=0.0) <= 0).all()  # to 0, and so none is negative
    if falls or most == 1 or len(first) <= gap:
        moved = np.convolve(np.arange((most - 1) * gap + 1) % gap == 0, first)[:horizon]
        square = float(moved @ moved)
        return square, square
    if horizon > _DENSE:
        return float(first @ first), most**2 * float(first @ first)
    shifts = [np.concatenate((np.zeros(j), first))[:horizon] for j in range(horizon)]
    return _counted(np.array([np.pad(s, (0, horizon - len(s))) for s in shifts]).T, most, gap)


def _tree(horizon: int, most: int, gap: int) -> tuple[float, float]:
    """All aligned blocks: from above, as few as can be of each size hold all; from below, evenly spaced schedules."""
    sizes = [1 << level for level in range(horizon.bit_length())]
    high = 0
    for size in sizes:
        fit = min(most, math.ceil(size / gap))
        high += most // fit * fit**2 + (most % fit) ** 2
    ways = [(start, gap) for start in range(min(64, horizon - (most - 1) * gap))]
    ways += [(0, (horizon - 1) // (most - 1))] if most > 1 else []
    found = []
    for start, step in ways:
        elements = start + step * np.arange(most)
        inside = [elements[elements // size * size + size <= horizon] // size for size in sizes]
        found.append(sum(int((np.unique(blocks, return_counts=True)[1] ** 2).sum()) for blocks in inside))
    return float(max(found)), float(high)


def _counted(matrix: Array, most: int, gap: int) -> tuple[float, float]:
    """Return both sides by the Gram matrix: disjoint columns by their norms, few schedules one by one, else loosely."""
    horizon, gram = len(matrix), matrix.T @ matrix
    norms = np.diag(gram)
    if most == 1 or not np.tril(matrix, -gap).any():
        best = np.zeros(horizon + gap)
        for _ in range(most):
            best = np.concatenate((np.zeros(gap), np.maximum.accumulate(norms + best[:horizon])))
        return float(best[-1]), float(best[-1])
    loose = [range(start, start + most * gap, gap) for start in range(min(64, horizon - (most - 1) * gap))]
    loose.append(range(0, (horizon - 1) // (most - 1) * (most - 1) + 1, (horizon - 1) // (most - 1)))
    free = {n: horizon - (n - 1) * (gap - 1) for n in range(1, most + 1)}
    if sum(math.comb(room, n) for n, room in free.items()) > _MOST:
        low = max(float(gram[np.ix_(s, s)].sum()) for s in loose)
        return max(low, float(norms.max())), most**2 * float(norms.max())
    places = (np.array(p) + (gap - 1) * np.arange(n) for n, room in free.items() for p in combinations(range(room), n))
    pairs = [gram[np.ix_(s, s)] for s in places]
    worst = max(pairs, key=lambda g: float(np.abs(g).sum()))
    high = float(np.abs(worst).sum())
    if len(worst) > _SIGNED:
        return (high, high) if (worst >= 0).all() else (float(max(worst.sum(), norms.max())), high)
    low = max(float(np.array(s) @ worst @ np.array(s)) for s in product((1, -1), repeat=len(worst)))
    return (high, high) if high - low <= 1e-12 * high else (low, high)
