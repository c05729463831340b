"""A data set as records that can be left out, added and replaced: an array, a list, a dict or a data frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from dpaudit import UnsupportedError

_MOST_COLUMNS = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """The records of `data`; all rows with one value of the column `unit` are one person's record.

    `columns` has what the rows hold by name, one value a row, without those that are `unread`.
    """

    data: Any
    unit: str | None = None
    unread: frozenset[str] = frozenset()
    _taken: dict[bytes, Any] = field(default_factory=dict[bytes, Any], repr=False)

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in self.columns:
            raise ValueError(f"Expected unit={self.unit!r} to be a column of the data: {', '.join(self.columns)}.")

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the rows of each record, in the order of first appearance."""
        if self.unit is None:
            return tuple((row,) for row in range(len(self.data)))
        rows: dict[Any, list[int]] = {}
        for row, person in enumerate(self.columns[self.unit]):
            rows.setdefault(person, []).append(row)
        return tuple(map(tuple, rows.values()))

    @property
    def columns(self) -> dict[str, list[Any]]:
        """What the rows hold, by the name of the column; empty names for data without columns."""
        data = self.data
        if _is_frame(data):
            names = [name for name in data.columns if str(name) not in self.unread]
            return {str(name): data[name].tolist() for name in names[:_MOST_COLUMNS]}
        if isinstance(data, np.ndarray):
            return _array_columns(data)
        rows = list(data.values()) if isinstance(data, Mapping) else list(data)
        if rows and all(isinstance(row, Mapping) for row in rows):
            return {str(name): [row.get(name) for row in rows] for name in list(rows[0])[:_MOST_COLUMNS]}
        if rows and all(isinstance(row, list | tuple) and row and len(row) == len(rows[0]) for row in rows):
            return {f"place {number}": [row[number] for row in rows] for number in range(len(rows[0]))[:_MOST_COLUMNS]}
        if rows and all(isinstance(row, str) for row in rows):
            return {"": rows, "length": [len(row) for row in rows]}
        return {"": rows}

    def taken(self, rows: Sequence[int]) -> Any:
        """Return the data set with some of the rows, the same object for the same ones.

        A row may be there several times, under new keys in a dict.
        """
        key = blake2b(np.array(rows, dtype=np.int64).tobytes()).digest()
        if key not in self._taken:
            self._taken[key] = self._with_rows(rows)
        return self._taken[key]

    def _with_rows(self, rows: Sequence[int]) -> Any:
        """Return a data set with some of the rows."""
        data = self.data
        if _is_frame(data):
            return data.iloc[list(rows)].reset_index(drop=True)
        if isinstance(data, np.ndarray):
            return data[np.array(rows, dtype=int)]
        if isinstance(data, Mapping):
            items = list(data.items())
            selected: dict[Any, Any] = {}
            for row in rows:
                key, value = items[row]
                selected[key if key not in selected else _new_key(key, selected)] = value
            return selected
        return type(data)(data[row] for row in rows)

    def with_cell(self, row: int, column: str, value: Any) -> Any:
        """Return the data set with another value in one cell. Raises: TypeError: the data cannot hold it."""
        data = self.data
        if _is_frame(data):
            frame = data.copy()
            name = next(name for name in data.columns if str(name) == column)
            frame[name] = [value if index == row else cell for index, cell in enumerate(frame[name].tolist())]
            frame[name] = frame[name].astype(data[name].dtype)
            return frame
        if isinstance(data, np.ndarray):
            array = data.astype(max(data.dtype, np.array(value).dtype)) if data.dtype.kind in "US" else data.copy("C")
            index = int(column.rpartition(" ")[2] or 0) if data.dtype.names is None else 0
            cells = array.reshape(len(array), -1)[:, index] if data.dtype.names is None else array[column]
            cells[row] = value
            return array
        key = list(data)[row] if isinstance(data, Mapping) else row
        changed: Any = dict(data) if isinstance(data, Mapping) else list(data)
        changed[key] = _with_part(changed[key], column, value)
        return changed if isinstance(data, Mapping) else type(data)(changed)


def records_of(data: Any, unit: str | None = None, unread: frozenset[str] = frozenset()) -> Records:
    """Return the records of a data set.

    Raises: UnsupportedError: a type of data whose records are not known. ValueError: no such column.

    >>> records_of([3, 1]).taken([0, 0])
    [3, 3]
    """
    sized = isinstance(data, list | tuple | Mapping) or (isinstance(data, np.ndarray) and data.ndim > 0)
    if not sized and not _is_frame(data):
        kind = type(data)
        raise UnsupportedError(
            f"Expected data as an array, a list, a dict or a pandas frame with one record a row, got "
            f"{kind.__module__}.{kind.__qualname__}: give two data sets as neighbours=(one, other)."
        )
    return Records(data=data, unit=unit, unread=unread)


def _is_frame(data: Any) -> bool:
    """Return whether data are a pandas frame."""
    return type(data).__module__.startswith("pandas") and hasattr(data, "iloc") and hasattr(data, "columns")


def _array_columns(data: Any) -> dict[str, list[Any]]:
    """Return the columns of an array, and the norms of its rows."""
    if data.ndim == 1:
        return {name: data[name].tolist() for name in data.dtype.names} if data.dtype.names else {"": data.tolist()}
    flat = data.reshape(len(data), prod(data.shape[1:]))
    columns = {f"column {number}": flat[:, number].tolist() for number in range(min(flat.shape[1], _MOST_COLUMNS))}
    if flat.dtype.kind in "iuf":
        columns["norm"] = np.linalg.norm(flat.astype(np.float64), axis=1).tolist()
    return columns


def _with_part(record: Any, column: str, value: Any) -> Any:
    """Return a record with another value in one of its parts."""
    if isinstance(record, Mapping):
        return {**record, column: value}
    if isinstance(record, list | tuple):
        index = int(column.rpartition(" ")[2])
        return type(record)((*record[:index], value, *record[index + 1 :]))
    return value


def _new_key(key: Any, keys: Mapping[Any, Any]) -> Any:
    """Return a key of the same type that is not known yet."""
    if isinstance(key, int):
        return max(keys) + 1
    number = 2
    while f"{key} {number}" in keys:
        number += 1
    return f"{key} {number}"
