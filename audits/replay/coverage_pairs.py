"""Pairs of neighbours that cover a data set: extreme, rare and missing values, each small count, duplicates, no record.

All values occur in the data, except in pairs that are marked as *outside*: there one record holds a value, or values
together, that no record of the data has, such as NaN, an unseen category, or the rarest town with the highest pay.
Whether such a record can occur, the data do not say.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from audits.replay.record_values import (
    CATEGORIES,
    UNSEEN,
    categories_of,
    index_of,
    is_missing,
    numbers_of,
    same,
    shown,
    special_of,
    special_values,
    strange_values,
)
from audits.replay.records import Records, records_of
from dpaudit.model.claim import Neighbours

_FEW, _SIZES = 8, 11
_EACH, _ALIKE = 30, (1, 8)
"""So many records are left out one by one; and of an extreme record so many copies stand beside the other extreme."""

_MIXED = 16
"""At most so many records that hold special values of several columns together, each the best of as many."""

_MEASURES = ("length", "norm")
"""Columns that are computed from the records."""

_PLACES = {"largest": 1.0, "smallest": 0.0, "middle": 0.5, "upper": 0.75, "lower": 0.25, "high": 0.9, "low": 0.1}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Two neighbours, what sets them apart in words, and whether a value is outside those of the data.

    `unseen` says that this value is a category, whose size as a number means nothing, and `small` that both data sets
    hold few records: at most one, or one or two of each category. `edge` says how the
    pair was found where the function begins to behave differently near it: by a step of mixed or of equal records, or
    as a record of another kind beside equal ones.
    """

    says: str
    neighbours: tuple[Any, Any]
    outside: bool = False
    unseen: bool = False
    small: bool = False
    edge: Literal["", "mixed", "equal", "another kind"] = ""


def coverage_pairs(
    data: Any, relation: Neighbours, unit: str | None = None, unread: frozenset[str] = frozenset()
) -> tuple[Pair, ...]:
    """Return pairs of neighbours around `data`, plain ones first; none for what columns that are `unread` hold.

    Under `add_remove` the second data set of a pair lacks one record of the first; under `replace_one` one record has
    another record's values, and both have as many records as `data`, a number that is public.
    Raises: UnsupportedError: data whose records are not known. ValueError: too few records.

    >>> [pair.says for pair in coverage_pairs([0, 0, 1], "add_remove")][:2]
    ['without one record: the largest value, 1', 'without one record: the smallest value, 0']
    """
    records = records_of(data, unit, unread)
    if not records.groups or (relation == "replace_one" and len(records.groups) < 2):
        few = len(records.groups)
        raise ValueError(f"Expected data with at least one record, and two under 'replace_one', got {few}.")
    telling = dict(_telling(records))
    pairs = _removed(records, telling) if relation == "add_remove" else _replaced(records, telling)
    by_words = {
        pair.says: pair
        for pair in (
            *pairs,
            *_sized(records, relation),
            *_balanced(records, relation),
            *_contrasted(records, relation),
            *_outside(records, relation),
            *_mixed(records, relation),
        )
    }
    return tuple(by_words.values())


def _telling(records: Records) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield ((column, what is special), number of the record) for the records that extremes and rare values pick."""
    owner = {row: number for number, rows in enumerate(records.groups) for row in rows}
    lengths = [len(rows) for rows in records.groups]
    if records.unit is not None:
        yield ("", f"the most rows, {max(lengths)}"), int(np.argmax(lengths))
        yield ("", f"the fewest rows, {min(lengths)}"), int(np.argmin(lengths))
    for name, values in records.columns.items():
        where = f" of {name!r}" if name else ""
        if name == records.unit:
            continue
        numbers = numbers_of(values)
        if numbers is not None and np.isfinite(numbers).any():
            order = np.argsort(numbers, kind="stable")[: np.isfinite(numbers).sum()]
            for word, quantile in _PLACES.items():
                row = int(order[round(quantile * (len(order) - 1))])
                yield (name, f"the {word} value{where}, {values[row]}"), owner[row]
        missing = [row for row, value in enumerate(values) if is_missing(value)]
        if missing:
            yield (name, f"a missing value{where}"), owner[missing[0]]
        for value, held_by in special_of(categories_of(values)).items():
            yield (name, f"{shown(value)}{where}, held by {held_by}"), owner[index_of(values, value)]
    yield ("", "the last row"), len(records.groups) - 1


def _removed(records: Records, telling: dict[tuple[str, str], int]) -> Iterator[Pair]:
    """Yield pairs of which the second data set lacks one record of the first."""
    groups = records.groups
    every = list(range(_rows(records)))
    complete = records.taken(every)
    left_out: dict[int, str] = {}
    for (_, says), number in (*telling.items(), *_one_by_one(records)):
        left_out.setdefault(number, says)
    for number, says in left_out.items():
        own = set(groups[number])
        others = [row for row in every if row not in own]
        yield Pair(says=f"without one record: {says}", neighbours=(complete, records.taken(others)))
    for (_, says), number in list(telling.items())[:4] if records.unit is None else ():
        twice = [*every, *groups[number]]
        yield Pair(says=f"a second record like {says}", neighbours=(records.taken(twice), complete))
    for number in dict.fromkeys((0, *list(telling.values())[:3])):
        alone = list(groups[number])
        nobody = records.taken([])
        yield Pair(says=f"record {number} alone, or no record", neighbours=(records.taken(alone), nobody), small=True)
        if records.unit is None:
            twice = records.taken(alone * 2)
            yield Pair(says=f"record {number} twice, or once", neighbours=(twice, records.taken(alone)), small=True)


def _one_by_one(records: Records) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield ((column, words), number) for records that are spread over the data, whatever they hold."""
    groups = records.groups
    for number in dict.fromkeys(np.linspace(0, len(groups) - 1, min(_EACH, len(groups))).round().astype(int).tolist()):
        person = "" if records.unit is None else f", {shown(records.columns[records.unit][groups[number][0]])}"
        yield ("", f"number {number}{person}"), number


def _contrasted(records: Records, relation: Neighbours) -> Iterator[Pair]:
    """Yield data sets of records like one extreme or category, and the same with one record like another."""
    for name, values in records.columns.items() if records.unit is None else ():
        where = f" of {name!r}" if name else ""
        sizes = _ALIKE if relation == "add_remove" else (_rows(records) - 1,)
        rows = _unlike(values, relation) if name != _MEASURES[0] else []
        for (alike, other), size in product(rows, sizes):
            same_rows = [alike] * size
            fewer = same_rows if relation == "add_remove" else [*same_rows, alike]
            those = "a record" if size == 1 else f"{size} records"
            says = f"{those} with {shown(values[alike])}{where}, and one with {shown(values[other])} or "
            says += "none" if relation == "add_remove" else "one more of them"
            yield Pair(says=says, neighbours=(records.taken([*same_rows, other]), records.taken(fewer)))


def _unlike(values: Sequence[Any], relation: Neighbours) -> list[tuple[int, int]]:
    """Return pairs of rows with both ends of a number; of categories with each special one and another one.

    Where records are replaced, each count of categories may be hidden by the answers that others draw; not so where
    all others hold a category whose answer is no secret.
    """
    numbers = numbers_of(values)
    if numbers is None and relation == "replace_one":
        names = [index_of(values, value) for value in special_of(categories_of(values))]
        return list(dict.fromkeys(zip(names, [*names[1:], *names[:1]], strict=True))) if len(names) > 1 else []
    if numbers is None or not np.isfinite(numbers).any() or np.nanmin(numbers) == np.nanmax(numbers):
        return []
    ends = int(np.nanargmin(numbers)), int(np.nanargmax(numbers))
    return [ends, ends[::-1]]


def _replaced(records: Records, telling: dict[tuple[str, str], int]) -> Iterator[Pair]:
    """Yield pairs in which one record takes the rows of another one that is special in the same column."""
    groups, complete = records.groups, records.taken(range(_rows(records)))
    for ((column, says), number), ((other_column, other_says), other) in combinations(telling.items(), 2):
        if number != other and column in (other_column, ""):
            yield Pair(
                says=f"one record holds {says}, or {other_says}",
                neighbours=_swapped(records, complete, list(groups[number]), list(groups[other])),
            )


def _swapped(records: Records, complete: Any, rows: list[int], others: list[int]) -> tuple[Any, Any]:
    """Return the data set, and the one in which other rows stand in the place of `rows`, as the same person's."""
    every = list(range(_rows(records)))
    gone = set(rows[1:])
    left = [row for row in every if row not in gone]
    position = left.index(rows[0])
    swapped = records.taken([*left[:position], *others, *left[position + 1 :]])
    if records.unit is not None:
        person = records.columns[records.unit][rows[0]]
        for row in range(position, position + len(others)):
            swapped = Records(data=swapped).with_cell(row, records.unit, person)
    return complete, swapped


def _sized(records: Records, relation: Neighbours) -> Iterator[Pair]:
    """Yield pairs with 0 to 10 records of a rare category, and one more."""
    for name, values in records.columns.items() if records.unit is None else ():
        categories = categories_of(values) if name not in _MEASURES else {}
        special = special_of(categories)
        every = len(categories) <= _FEW or any(isinstance(value, str) for value in categories)
        for value in list(categories)[:CATEGORIES] if every else special:
            sizes = range(_SIZES + 1 if value in special else 3)
            yield from _of_sizes(records, relation, (name, value), sizes)


def _of_sizes(records: Records, relation: Neighbours, category: tuple[str, Any], sizes: range) -> Iterator[Pair]:
    """Yield pairs with each number of records of one category, and one more."""
    name, value = category
    values = records.columns[name]
    own = [row for row, cell in enumerate(values) if same(cell, value)]
    other_rows = [row for row, cell in enumerate(values) if not same(cell, value)]
    where = f"{name!r} is " if name else "value is "
    copies, rows = _times(own, sizes[-1]), _rows(records)
    others = [] if relation == "add_remove" or not other_rows else _times(other_rows, rows)
    for size in sizes[1:]:
        says = f"{size} or {size - 1} records whose {where}{shown(value)}"
        if relation == "add_remove":
            more, fewer = ([*other_rows, *copies[:number]] for number in (size, size - 1))
        elif others and size <= rows:
            more, fewer = ([*copies[:number], *others[number:]] for number in (size, size - 1))
        else:
            return
        yield Pair(says=says, neighbours=(records.taken(more), records.taken(fewer)))


def _times(rows: list[int], number: int) -> list[int]:
    """Return so many rows, each of `rows` in turn."""
    return [rows[turn % len(rows)] for turn in range(number)]


def _balanced(records: Records, relation: Neighbours) -> Iterator[Pair]:
    """Yield data sets with as many records of each category, but for one record of the rarest one."""
    for name, values in records.columns.items() if records.unit is None else ():
        categories = list(categories_of(values))
        if name in _MEASURES or not 2 <= len(categories) <= CATEGORIES:
            continue
        where = f" of {name!r}" if name else ""
        firsts = [index_of(values, value) for value in categories]
        if relation == "replace_one":
            even = _times(firsts, _rows(records))
            says = f"every category{where} as often, or one less of {shown(categories[0])}"
            yield Pair(says=says, neighbours=(records.taken(even), records.taken([firsts[-1], *even[1:]])), small=True)
            continue
        for size in (1, 2):
            balanced = records.taken(firsts * size)
            says = f"{size} of each category{where}, or one less of {shown(categories[0])}"
            yield Pair(says=says, neighbours=(balanced, records.taken((firsts * size)[1:])), small=True)
            says = f"{size} of each category{where}, or one more of {shown(categories[0])}"
            yield Pair(says=says, neighbours=(records.taken([*firsts * size, firsts[0]]), balanced), small=True)


def _outside(records: Records, relation: Neighbours) -> Iterator[Pair]:
    """Yield pairs in which one record holds a value that no record of the data has."""
    for name, values in records.columns.items():
        where = f" of {name!r}" if name else ""
        for says, value in strange_values(values) if name not in (records.unit, *_MEASURES) else ():
            with suppress(TypeError, ValueError, OverflowError):
                pair = _with_cells(records, relation, {name: value})
                unseen = says == UNSEEN
                yield Pair(says=f"one record holds {says}{where}", neighbours=pair, outside=True, unseen=unseen)


def _mixed(records: Records, relation: Neighbours) -> Iterator[Pair]:
    """Yield pairs in which one record has special values of all columns, which no record of the data has together.

    Of random records those are taken that show most pairs of values that were not shown yet, until few remain.
    """
    special = {name: tuple(special_values(values)) for name, values in records.columns.items() if name not in _MEASURES}
    special = {name: values for name, values in special.items() if len(values) > 1 and name != records.unit}
    rng, shown_before = np.random.default_rng(0), set[Any]()
    for _ in range(_MIXED if len(special) > 1 else 0):
        drawn = [{name: values[rng.integers(len(values))] for name, values in special.items()} for _ in range(_MIXED)]
        fresh = [set(combinations(map(repr, cells.items()), 2)) - shown_before for cells in drawn]
        most = max(range(_MIXED), key=lambda index: len(fresh[index]))
        if not fresh[most]:
            return
        shown_before |= fresh[most]
        says = ", ".join(f"{shown(value)} of {name!r}" for name, value in drawn[most].items())
        with suppress(TypeError, ValueError, OverflowError):
            pair = _with_cells(records, relation, drawn[most])
            yield Pair(says=f"one record holds together {says}", neighbours=pair, outside=True)


def _with_cells(records: Records, relation: Neighbours, cells: dict[str, Any]) -> tuple[Any, Any]:
    """Return neighbours of which the first has one record with given values, a copy of the last one otherwise."""
    every = list(range(_rows(records)))
    row = len(every) - (relation == "replace_one")
    other = records.taken(every)
    changed = other if relation == "replace_one" else records.taken([*every, every[-1]])
    for column, value in cells.items():
        changed = Records(data=changed).with_cell(row, column, value)
    return changed, other


def _rows(records: Records) -> int:
    """Return the number of rows."""
    return len(records.data)
