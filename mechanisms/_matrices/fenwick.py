"""The prefix tree in Fenwick form: which nodes an element of a stream touches, and sums over them.

Node n (from 1) covers elements n - lowbit(n) + 1 .. n, and the prefix of length n is the sum over n, n - lowbit(n),
and so on down to 0. These are the left children of the complete binary tree, the only nodes that a prefix reads.
Source: Dwork, Naor, Pitassi and Rothblum (2010); Chan, Shi and Song (2011); Fenwick (1994) for the layout.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np

from dpaudit.model.mechanism import Array

Plan: TypeAlias = tuple[int, tuple[int, ...]]
"""Sum of squared node counts, and the elements (from 1, in order) that reach it."""

Plans: TypeAlias = dict[tuple[int, int], list[Plan]]
"""Best plans by the stretch of signs (first, beyond the last) that falls inside a run of elements."""


def touched_nodes(horizon: int, element: int) -> tuple[int, ...]:
    """Return the nodes that contain `element`, smallest first; the first element has floor(log2 horizon) + 1.

    >>> touched_nodes(6, 1), touched_nodes(6, 5), touched_nodes(6, 6)
    ((1, 2, 4), (5, 6), (6,))
    """

    def path(node: int) -> Iterator[int]:
        while node <= horizon:
            yield node
            node += node & -node

    return tuple(path(element))


def parted_nodes(horizon: int, first: int, second: int) -> tuple[int, ...]:
    """Return the nodes that contain one of two elements and not the other, smallest first.

    They are what an element and its later removal by the same amount shift: shared nodes cancel.

    >>> parted_nodes(6, 1, 3), len(parted_nodes(6, 1, 5))
    ((1, 2, 3), 5)
    """
    return tuple(sorted(set(touched_nodes(horizon, first)) ^ set(touched_nodes(horizon, second))))


@lru_cache(maxsize=256)
def worst_plan(horizon: int, signs: tuple[int, ...], separation: int) -> Plan:
    """Return the plan with the largest sum of squared node counts for one record.

    The record moves distinct elements by the given signs, in order of time and at least `separation` apart; it may
    stop early. A node's count is the sum of the signs inside it. Exact: blocks of 1, 2, 4, ... elements are built
    from their halves, keeping for every stretch of signs all plans that no other one beats in value and in room for
    the neighbouring blocks.
    Cost: about len(signs)^3 log2(horizon) at separation 1; up to separation^2 as many plans otherwise.
    """
    totals = np.cumsum((0, *signs))
    ends = range(len(signs) + 1)

    def counted(plans: Plans) -> Plans:
        return {
            (i, j): [(value + int(totals[j] - totals[i]) ** 2, elements) for value, elements in pairs]
            for (i, j), pairs in plans.items()
        }

    joined = partial(_joined, ends=ends, separation=separation)
    empty: Plans = {(i, i): [(0, ())] for i in ends}
    single: Plans = {(i, i + 1): [(0, (1,))] for i in ends[:-1]}
    block = empty | single
    blocks, size = [block], 1
    while 2 * size <= horizon:
        block = joined(counted(block), block, size, 2 * size)
        size *= 2
        blocks.append(block)
    plans_so_far, length = empty, 0
    for level in reversed(range(len(blocks))):
        if horizon >> level & 1:
            plans_so_far = joined(plans_so_far, counted(blocks[level]), length, length + 2**level)
            length += 2**level
    return max((plan for j in ends[1:] for plan in plans_so_far.get((0, j), [])), key=lambda plan: plan[0])


def _joined(left: Plans, right: Plans, left_length: int, length: int, ends: range, separation: int) -> Plans:
    """Return the plans of a block of `length` elements from those of its parts, of which the left has `left_length`."""

    def room(plan: Plan) -> tuple[int, int, int]:
        value, elements = plan
        return value, min(elements[0], separation), min(length - elements[-1], separation - 1)

    result: Plans = {}
    for i in ends:
        for j in ends[i:]:
            joined = [
                (a + b, first + tuple(left_length + element for element in second))
                for middle in range(i, j + 1)
                for a, first in left.get((i, middle), [])
                for b, second in right.get((middle, j), [])
                if not first or not second or left_length - first[-1] + second[0] >= separation
            ]
            if joined:
                result[i, j] = joined if i == j else _unbeaten(joined, room)
    return result


def _unbeaten(plans: list[Plan], room: Callable[[Plan], tuple[int, int, int]]) -> list[Plan]:
    """Return the plans that no other one matches in every respect, one of each kind."""
    kinds = {room(plan): plan for plan in plans}
    return [
        plan
        for kind, plan in kinds.items()
        if not any(other != kind and all(a >= b for a, b in zip(other, kind, strict=True)) for other in kinds)
    ]


def prefix_sums(nodes: Array) -> Array:
    """Return, for every length n, the sum over the nodes that make up the prefix of length n.

    Shape: (horizon, ...) in and out: time comes first. One gather for each level, whatever the other axes.
    """
    horizon = len(nodes)
    lengths = np.arange(1, horizon + 1)
    total = np.zeros_like(nodes)
    for level in range(horizon.bit_length()):
        reading = lengths >> level & 1 == 1
        total[reading] += nodes[(lengths[reading] >> level << level) - 1]
    return total


def node_values(prefixes: Array) -> Array:
    """Return the nodes whose `prefix_sums` are `prefixes`. Shape: time first, as there."""
    lengths = np.arange(1, len(prefixes) + 1)
    parents = lengths & (lengths - 1)
    padded = np.concatenate([np.zeros_like(prefixes[:1]), prefixes])
    return prefixes - padded[parents]
