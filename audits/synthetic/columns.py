"""The columns of a table as codes: categories by their place, numbers by intervals that one data set fixed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.replay.record_values import categories_of, is_missing, numbers_of
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
        finite = None if numbers is None else numbers[np.isfinite(numbers)]
        if finite is not None and len(finite) and (not categories or len(categories) > _MOST_CATEGORIES):
            edges = np.unique(np.quantile(finite, np.linspace(0, 1, _INTERVALS + 1)))
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
        codes[[number for number, value in enumerate(places) if is_missing(value)]] = MISSING
        return codes[rows], numbers[rows]

    def _codes(self, values: list[Any], numbers: Array) -> Array:
        """Return the codes of values that are not missing."""
        if self.categories or not self.edges:
            code_of = {value: code for code, value in enumerate(self.categories)}
            return np.array([code_of.get(value, OTHER) for value in values], dtype=np.int64)
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
