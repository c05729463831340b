"""The columns of a table as codes: categories by their place, numbers by intervals that one data set fixed.

An audit of a synthesizer looks for records with rare values, and for those at the ends of a column.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from audits.replay.record_values import categories_of, index_of, is_missing, numbers_of
from audits.replay.records import records_of
from dpaudit.model.mechanism import Array

MISSING, OTHER = -1, -2
"""The codes of a missing value, and of a value that is outside the categories or the range of a column."""

_MOST_CATEGORIES, _INTERVALS = 20, 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One column: its name, and its categories or, for numbers, the edges of its intervals, smallest value first."""

    name: str
    categories: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()

    @classmethod
    def of(cls, name: str, values: Sequence[Any]) -> "Column":
        """Return the column that some values fix; of many categories the ten rarest and the ten most frequent stay."""
        categories, numbers = list(categories_of(values)), numbers_of(values)
        known = None if numbers is None else numbers[np.isfinite(numbers)]
        if known is not None and len(known) and (not categories or len(categories) > _MOST_CATEGORIES):
            edges = np.unique(np.quantile(known, np.linspace(0, 1, _INTERVALS + 1)))
            return cls(name=name, edges=tuple(map(float, edges)))
        half = _MOST_CATEGORIES // 2
        few = categories if len(categories) <= _MOST_CATEGORIES else [*categories[:half], *categories[-half:]]
        return cls(name=name, categories=tuple(map(plain, few)))

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code from 0 on says of a value."""
        if self.categories:
            return tuple(f"is {value!r}" for value in self.categories)
        return tuple(f"is from {low:.6g} to {high:.6g}" for low, high in zip(self.edges, self.edges[1:], strict=False))

    def read(self, values: Sequence[Any]) -> tuple[Array, Array]:
        """Return the code of each value, and its number or NaN. Shape: (rows,), (rows,)."""
        places: dict[Any, int] = {}
        rows = np.array([places.setdefault(value, len(places)) for value in values], dtype=np.int64)
        distinct = list(map(plain, places))
        numbers = np.array([value if isinstance(value, float) else np.nan for value in distinct], dtype=float)
        codes = self._codes(distinct, numbers)
        codes[[place for place, value in enumerate(places) if is_missing(value)]] = MISSING
        return codes[rows], numbers[rows]

    def _codes(self, values: list[Any], numbers: Array) -> Array:
        """Return the codes of values that are not missing."""
        if self.categories or not self.edges:
            known = {value: place for place, value in enumerate(self.categories)}
            return np.array([known.get(value, OTHER) for value in values], dtype=np.int64)
        inside = (numbers >= self.edges[0]) & (numbers <= self.edges[-1])
        return np.where(inside, np.searchsorted(self.edges[1:-1], numbers, side="right"), OTHER)


def plain(value: Any) -> Any:
    """Return a value as it is compared: a number as a double, anything else as text.

    >>> plain(True), plain("north")
    (1.0, 'north')
    """
    return float(value) if isinstance(value, bool | int | float | np.number | np.bool_) else str(value)


def table_columns(table: Any) -> dict[str, list[Any]]:
    """Return what the rows of a table hold, by the name of the column; at most twelve columns, no norms of rows.

    Raises: UnsupportedError: no array, list, dict or frame.
    """
    columns = records_of(table).columns
    if isinstance(table, np.ndarray):
        columns.pop("norm", None)
    return columns


_MOST = 8


def target_records(data: Any, other: Any = None) -> Any:
    """Return at most eight records of a data set, in its form: those that `other` lacks first, then telling ones.

    >>> target_records([(1, "a"), (1, "b"), (1, "a")], [(1, "a"), (1, "a")])[0]
    (1, 'b')
    """
    columns = table_columns(data)
    by_column = [list(_telling(values)) for values in columns.values()]
    telling = [row for rows in zip_longest(*by_column) for row in rows if row is not None]
    missing = [] if other is None else _missing(_rows(columns), _rows(table_columns(other)))
    chosen = dict.fromkeys((*missing, *telling, len(data) - 1))
    return records_of(data).taken(list(islice(chosen, _MOST)))


def _telling(values: Sequence[Any]) -> Iterator[int]:
    """Yield the rows of the rarest category, of the largest and smallest number, and of the second rarest category."""
    rarest = list(categories_of(values))[:2]
    numbers = numbers_of(values)
    yield from (index_of(values, value) for value in rarest[:1])
    if numbers is not None and np.isfinite(numbers).any():
        yield int(np.nanargmax(np.where(np.isfinite(numbers), numbers, np.nan)))
        yield int(np.nanargmin(np.where(np.isfinite(numbers), numbers, np.nan)))
    yield from (index_of(values, value) for value in rarest[1:])


def _rows(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Return the rows of a table as they are compared."""
    return list(zip(*([plain(value) for value in values] for values in columns.values()), strict=True))


def _missing(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> list[int]:
    """Return the rows that occur more often than in the other table."""
    left = Counter(map(repr, others))
    missing = []
    for place, row in enumerate(map(repr, rows)):
        left[row] -= 1
        if left[row] < 0:
            missing.append(place)
    return missing
