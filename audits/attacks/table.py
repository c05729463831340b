"""Tables of numbers from outputs of any kind, one row a run, and bins of their columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audits.experiment.views import length
from dpaudit.model.mechanism import Array

_WIDEST = 256
_ATOM_SHARE = 1 / 64
_LEAST_RUNS = 8
_END_CUTS = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """An encoding of views as numbers: learned once, then a function of each run alone.

    Numbers stay numbers; categories become codes in the order first seen, with -1 for new ones; a sequence of
    varying length becomes its length and its first entries, padded with NaN.
    """

    width: int
    codes: dict[Any, int] = field(default_factory=dict, repr=False)

    @classmethod
    def learned(cls, view: Any) -> "Table":
        """Return a table that knows the categories of `view`."""
        table = cls(width=min(_WIDEST, _longest(view)))
        for cell in _cells(view):
            if not _is_number(cell):
                table.codes.setdefault(cell, len(table.codes))
        return table

    def numbers(self, view: Any) -> Array:
        """Return the runs of `view` as floats. Shape: (runs, columns); a run's row depends on that run only."""
        if isinstance(view, Mapping):
            return np.concatenate([self.numbers(view[name]) for name in sorted(view)], axis=1)
        if isinstance(view, np.ndarray) and view.dtype.kind in "biufc":
            flat = view.reshape(len(view), -1)
            return np.concatenate([flat.real, flat.imag], axis=1) if view.dtype.kind == "c" else flat.astype(float)
        rows = [_sequence(row) for row in view]
        numbers = np.full((length(view), self.width + 1), np.nan)
        for run, row in enumerate(rows):
            numbers[run, 0] = len(row)
            entries = [float(x) if _is_number(x) else float(self.codes.get(x, -1)) for x in row[: self.width]]
            numbers[run, 1 : len(entries) + 1] = entries
        return numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """Intervals of every column; an atom has a bin of its own, and so has NaN (the last)."""

    edges: tuple[Array, ...]

    @classmethod
    def learned(cls, columns: Array, most: int) -> "Bins":
        """Return bins with about equally many of the runs `columns`, at most about `most` a column, finer at the ends.

        Shape: `columns` is (runs, columns).
        """
        return cls(edges=tuple(_edges(column, most) for column in columns.T))

    def codes(self, columns: Array) -> Array:
        """Return the bin of every entry. Shape: (runs, columns), whole numbers."""
        result = np.empty(columns.shape, dtype=np.int64)
        for index, edges in enumerate(self.edges):
            column = columns[:, index]
            result[:, index] = np.where(np.isnan(column), len(edges) + 1, np.searchsorted(edges, column, side="right"))
        return result

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each column has."""
        return tuple(len(edges) + 2 for edges in self.edges)


def _edges(column: Array, most: int) -> Array:
    """Return the edges of one column's bins."""
    known = np.sort(column[~np.isnan(column)])
    if len(known) == 0:
        return known
    values, counts = np.unique(known, return_counts=True)
    if len(values) <= most:
        return values
    atoms = values[counts > _ATOM_SHARE * len(known)]
    inner = np.linspace(0, len(known) - 1, most + 1)[1:-1].astype(int)
    ends = np.unique(np.geomspace(_LEAST_RUNS, len(known) / most, _END_CUTS).astype(int))
    ends = ends[(ends > 0) & (ends < len(known) // 2)]
    tails = np.concatenate([known[ends], known[len(known) - 1 - ends]])
    with np.errstate(over="ignore"):
        after = np.nextafter(atoms, np.inf)
    return np.unique(np.concatenate([known[inner], tails, atoms, after]))


def _longest(view: Any) -> int:
    """Return the length of the longest output that is a sequence; 0 for arrays of numbers."""
    if isinstance(view, Mapping):
        return max(map(_longest, view.values()))
    if isinstance(view, np.ndarray) and view.dtype.kind in "biufc":
        return 0
    return max((len(_sequence(row)) for row in view), default=0)


def _cells(view: Any) -> Any:
    """Yield every entry that may be a category."""
    if isinstance(view, Mapping):
        for name in sorted(view):
            yield from _cells(view[name])
    elif not (isinstance(view, np.ndarray) and view.dtype.kind in "biufc"):
        for row in view:
            yield from _sequence(row)


def _sequence(row: Any) -> Sequence[Any]:
    """Return one run's output as a flat sequence."""
    if isinstance(row, np.ndarray):
        return tuple(row.reshape(-1).tolist())
    if isinstance(row, Sequence) and not isinstance(row, str | bytes):
        return tuple(row)
    return (row,)


def _is_number(value: Any) -> bool:
    """Return whether a cell is a number already."""
    return isinstance(value, int | float | np.number | np.bool_)
