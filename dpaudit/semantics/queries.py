"""The queries that obey a table's bounds: an answer for each data set at hand.

The bounds make a (directed) distance between data sets: the cheapest way from one to the other by adding, deleting,
zeroing, replacing and exchanging records. Answers on some data sets extend to a query on all of them exactly if none
rises by more than the distance (McShane 1934).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import permutations, product
from typing import TypeAlias

import numpy as np

from dpaudit.semantics.data import PLACEHOLDER, REVERSE, DataSet, Move, Record
from dpaudit.semantics.tables import Table

Query: TypeAlias = Mapping[DataSet, int]
"""An answer for each data set at hand, as the release sees it."""

_CHAINS: dict[Move, tuple[tuple[Move, ...], ...]] = {
    "remove": (("zero", "drop"),),
    "drop": (("remove",),),
    "zero": (("replace",), ("remove", "undrop")),
    "replace": (("remove", "add"), ("zero", "unzero")),
    "exchange": (("remove", "add"),),
}
"""The moves that together do what a move does: it changes an answer by no more than they do."""


@lru_cache(maxsize=4096)
def seen(table: Table, records: DataSet) -> DataSet:
    """Return what a query can tell of a data set: without slots, if queries read none."""
    return records if table.reads_slots else tuple(sorted(Record(0, value) for _, value in records))


@lru_cache(maxsize=256)
def rises(table: Table) -> dict[Move, float]:
    """Return how far an answer may rise in each move, from what is stated and from chains of other moves."""
    stated = table.bounds
    rise: dict[Move, float] = {move: stated.get(move, stated.get(back, math.inf)) for move, back in REVERSE.items()}
    for _ in REVERSE:
        for move, chains in _CHAINS.items():
            back = REVERSE[move]
            rise[move] = min(rise[move], *(sum(rise[step] for step in chain) for chain in chains))
            rise[back] = min(rise[back], *(sum(rise[REVERSE[step]] for step in chain) for chain in chains))
    return rise


@lru_cache(maxsize=65536)
def distance(table: Table, before: DataSet, after: DataSet) -> float:
    """Return how far an answer may rise from one data set to another; infinity where no bound says so.

    It is the least cost of turning records into others, each by one move, deleting some and adding the rest.
    """
    rise = rises(table)
    if not before:
        return sum(rise["undrop" if value == PLACEHOLDER else "add"] for _, value in after)
    record, later = before[0], before[1:]
    ways = [rise["drop" if record.value == PLACEHOLDER else "remove"] + distance(table, later, after)]
    for index, other in enumerate(after):
        cost = 0 if other == record else rise[_move(record, other)]
        ways.append(cost + distance(table, later, after[:index] + after[index + 1 :]))
    return min(ways)


def _move(record: Record, other: Record) -> Move:
    """Return the one move that turns a record into another one."""
    if record.slot != other.slot:
        return "exchange"
    if PLACEHOLDER in (record.value, other.value):
        return "zero" if other.value == PLACEHOLDER else "unzero"
    return "replace"


def keeps_bounds(table: Table, query: Query) -> bool:
    """Return whether a query obeys the bounds on the data sets that it is stated for."""
    return all(query[b] - query[a] <= distance(table, a, b) for a, b in permutations(query, 2))


def any_answers(table: Table, sets: Iterable[DataSet]) -> bool:
    """Return whether each data set may have any answer, whatever the others have."""
    return all(distance(table, a, b) >= table.top for a, b in permutations(sets, 2))


def lowered(table: Table, sets: tuple[DataSet, ...], answers: Iterable[int]) -> Query:
    """Return the largest query that keeps the bounds and lies nowhere above `answers`."""
    cut = {data: max(0, min(table.top, answer)) for data, answer in zip(sets, answers, strict=True)}
    return {data: int(min(answer + distance(table, other, data) for other, answer in cut.items())) for data in sets}


@lru_cache(maxsize=4096)
def queries(table: Table, sets: tuple[DataSet, ...], most: int, rng: np.random.Generator | None) -> list[Query]:
    """Return the queries on `sets`: all where at most `most` may be, else natural ones and, by `rng`, others."""
    if (table.top + 1) ** len(sets) <= most:
        listed = (dict(zip(sets, row, strict=True)) for row in product(range(table.top + 1), repeat=len(sets)))
        return [query for query in listed if keeps_bounds(table, query)]
    drawn = [] if rng is None else rng.integers(0, table.top + 1, (most, len(sets))).tolist()
    near = (lowered(table, sets, row) for row in (*_natural(sets, table.top), *drawn))
    return [*{tuple(query.values()): query for query in near}.values()][:most]


def _natural(sets: tuple[DataSet, ...], top: int) -> Iterator[list[int]]:
    """Yield the size, whether it is two, counts of each value, one value against another, and all mirrored."""
    values = sorted({value for data in sets for _, value in data})
    counts = {value: [sum(record_value == value for _, record_value in data) for data in sets] for value in values}
    rows = [[len(data) for data in sets], [top * (len(data) >= 2) for data in sets], *counts.values()]
    for first, second in permutations(values, 2):
        rows.append([(top + 1) // 2 + a - b for a, b in zip(counts[first], counts[second], strict=True)])
    for row in rows:
        yield row
        yield [top - answer for answer in row]
