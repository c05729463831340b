"""Where elements of a full tree stand that share as many nodes as can be: an exact dynamic program over its blocks."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.mechanism import Array

Place: TypeAlias = tuple[int, int, int]
"""How many elements, and how many places before the first and after the last of them stay free, or more."""

_NONE = -1e9  # the value of what cannot be


@dataclass(frozen=True, slots=True)
class _Run:
    """Places one after the other: `best`[n, a, b] is the largest sum of squared counts of n elements in them.

    Of the places a or more stay free before the first element, and b or more after the last one. `halves` are the runs
    that it is made of; a run that is a `node` counts itself.
    """

    length: int
    best: Array
    node: bool
    halves: "tuple[_Run, _Run] | None" = None


@lru_cache(maxsize=64)
def best_counts(horizon: int, most: int, separation: int, extra: int = 0) -> tuple[int, tuple[int, ...]]:
    """Return the largest sum over nodes of squared counts of at most so many elements, and their places from 0.

    Nodes are all aligned blocks of 2^k places inside the horizon; elements lie `separation` or more apart. Each element
    adds `extra` of its own.
    Cost: about most^2 separation^3 log2(horizon) operations.

    >>> best_counts(4, 2, 1)
    (10, (0, 1))
    """
    single = np.full((most + 1, separation, separation), _NONE)
    single[0], single[1, 0, 0] = 0.0, 1.0
    blocks = [_Run(length=1, best=single, node=True)]
    while 2 * blocks[-1].length <= horizon:
        blocks.append(_joined(blocks[-1], blocks[-1], node=True))
    tree = blocks[-1]
    for level in reversed(range(len(blocks) - 1)):
        if horizon >> level & 1:
            tree = _joined(tree, blocks[level], node=False)
    sums = tree.best[:, 0, 0] + extra * np.arange(most + 1)
    count = int(np.argmax(sums))
    return int(sums[count]), tuple(_places(tree, (count, 0, 0)))


def _joined(left: _Run, right: _Run, *, node: bool) -> _Run:
    """Return two runs as one."""
    elements, separation = len(left.best) - 1, left.best.shape[1]
    best = np.full_like(left.best, _NONE)
    best[0] = 0.0
    for n in range(1, elements + 1):
        best[n] = np.maximum(right.best[n][_shifted(separation, left.length)], _trailing(left, right, n))
        for m in range(1, n):
            pairs = left.best[m][:, :, None] + right.best[n - m][::-1][None]
            best[n] = np.maximum(best[n], pairs.max(axis=1))
        best[n] += n * n * node
    return _Run(length=left.length + right.length, best=best, node=node, halves=(left, right))


def _trailing(left: _Run, right: _Run, n: int) -> Array:
    """Return the values of n elements that all stand in the left run."""
    return left.best[n][:, _shifted(left.best.shape[1], right.length)]


def _shifted(separation: int, length: int) -> NDArray[np.int64]:
    """Return how many places must stay free in one run where another one of this length has none taken."""
    return np.maximum(0, np.arange(separation) - length)


def _places(run: _Run, at: Place) -> list[int]:
    """Return the places of the elements that reach the best value of a run."""
    n, a, b = at
    if not n:
        return []
    if run.halves is None:
        return [0]
    left, right = run.halves
    value, last = run.best[n, a, b] - n * n * run.node, run.best.shape[1] - 1
    if left.best[n, a, max(0, b - right.length)] == value:
        return _places(left, (n, a, max(0, b - right.length)))
    if right.best[n, max(0, a - left.length), b] == value:
        return [left.length + element for element in _places(right, (n, max(0, a - left.length), b))]
    for m in range(1, n):
        for free in range(last + 1):
            if left.best[m, a, free] + right.best[n - m, last - free, b] == value:
                after = _places(right, (n - m, last - free, b))
                return _places(left, (m, a, free)) + [left.length + element for element in after]
    raise AssertionError("no halves reach the best value of a run")
