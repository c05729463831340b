"""The squared distance by which one record moves the rows of a strategy matrix, from below and from above.

With g(i, j) the inner product of two columns, a schedule's squared move is at most the sum of |g| over its pairs.
"""

import math
from itertools import combinations, product

import numpy as np

from dpaudit.verifier.refusals import Array, Table, require

_MOST, _DENSE, _SIGNED, _FINE, _FEW = 20_000, 512, 12, 32, 32


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
    attained = []
    for start, step in ways:
        elements = start + step * np.arange(most)
        inside = [elements[elements // size * size + size <= horizon] // size for size in sizes]
        attained.append(sum(int((np.unique(blocks, return_counts=True)[1] ** 2).sum()) for blocks in inside))
    if most > _FEW:
        return float(max(attained)), float(high)
    gap = min(gap, horizon)
    level = max(0, math.ceil(math.log2(gap / _FINE)))  # larger gaps are counted in blocks, at the nearest and furthest
    far, near = math.ceil(gap / (1 << level)), math.ceil((gap + 1) / (1 << level)) - 1
    low = _counts(horizon >> level, most, far, level)
    return max(low, *map(float, attained)), min(
        high, _counts(-(-horizon >> level), most, max(1, near) if level else gap, level)
    )


def _counts(places: int, most: int, gap: int, level: int) -> float:
    """Return the largest sum of squared counts in all aligned blocks, `level` more of each element, counted exactly.

    A table has, for n elements, the largest sum where a places stay free before and b after them, or more.
    """

    def joined(left: Array, right: Array, sizes: tuple[int, int], *, block: bool) -> Array:
        before, after = (np.maximum(0, np.arange(gap) - size) for size in sizes)
        rows = [left[0]]
        for n in range(1, most + 1):
            apart = [(left[m][:, :, None] + right[n - m][None, ::-1]).max(axis=1) for m in range(1, n)]
            rows.append(np.maximum.reduce([left[n][:, after], right[n][before], *apart]) + block * n**2)
        return np.array(rows)

    table = np.full((most + 1, gap, gap), -np.inf)
    table[0], table[1, 0, 0] = 0.0, 1.0
    tables = [table]
    for k in range(places.bit_length() - 1):
        tables.append(joined(tables[k], tables[k], (1 << k, 1 << k), block=True))
    total, length = tables[-1], 1 << len(tables) - 1
    for k in reversed(range(len(tables) - 1)):
        if places >> k & 1:
            total, length = joined(total, tables[k], (length, 1 << k), block=False), length + (1 << k)
    return float((total[:, 0, 0] + level * np.arange(most + 1)).max())


def _counted(matrix: Array, most: int, gap: int) -> tuple[float, float]:
    """Return both sides by the Gram matrix: disjoint columns by their norms, few schedules one by one, else loosely."""
    horizon, gram = len(matrix), matrix.T @ matrix
    norms = np.diag(gram)
    if most == 1 or not np.tril(matrix, -gap).any():
        best = float(_sums(norms[None], most, gap)[-1][0, -1])
        return best, best
    loose = [range(start, start + most * gap, gap) for start in range(min(64, horizon - (most - 1) * gap))]
    loose.append(range(0, (horizon - 1) // (most - 1) * (most - 1) + 1, (horizon - 1) // (most - 1)))
    free = {n: horizon - (n - 1) * (gap - 1) for n in range(1, most + 1)}
    if sum(math.comb(room, n) for n, room in free.items()) > _MOST:
        high, near = _row_by_row(np.abs(gram), most, gap)
        low = max(float(gram[np.ix_(s, s)].sum()) for s in (near, *loose))
        return max(low, float(norms.max())), high
    places = (np.array(p) + (gap - 1) * np.arange(n) for n, room in free.items() for p in combinations(range(room), n))
    pairs = [gram[np.ix_(s, s)] for s in places]
    worst = max(pairs, key=lambda g: float(np.abs(g).sum()))
    high = float(np.abs(worst).sum())
    if len(worst) > _SIGNED:
        return (high, high) if (worst >= 0).all() else (float(max(worst.sum(), norms.max())), high)
    low = max(float(np.array(s) @ worst @ np.array(s)) for s in product((1, -1), repeat=len(worst)))
    return (high, high) if high - low <= 1e-12 * high else (low, high)


def _sums(rows: Array, most: int, gap: int) -> list[Array]:
    """Return for each row the largest sums of 0 to `most` entries `gap` or more apart; entry e ends before e - gap."""
    largest_sums = [np.zeros((len(rows), rows.shape[1] + gap))]
    for _ in range(most):
        largest = np.maximum.accumulate(rows + largest_sums[-1][:, : rows.shape[1]], axis=1)
        largest_sums.append(np.hstack((np.zeros((len(rows), gap)), largest)))
    return largest_sums


def _row_by_row(sizes: Array, most: int, gap: int) -> tuple[float, list[int]]:
    """Return a bound on the sum over all pairs of a schedule, each row with its own worst one, and where they meet."""
    before = [np.diag(sums[:, : len(sizes)]) for sums in _sums(sizes, most - 1, gap)]
    after = [np.diag(sums[:, : len(sizes)])[::-1] for sums in _sums(sizes[::-1, ::-1], most - 1, gap)]
    through = np.max([b + a for b, a in zip(before, after[::-1], strict=True)], axis=0) + np.diag(sizes)
    best_sums, last, chosen = [sums[0] for sums in _sums(through[None], most, gap)], len(sizes) + gap - 1, []
    for sums in reversed(best_sums[1:]):
        if last >= gap:
            last = int(np.argmax(sums[: last + 1])) - gap
            chosen.append(last)
    return float(best_sums[-1][-1]), chosen
