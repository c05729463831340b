"""Tables of numbers from outputs of any kind, one row a run, and bins of their columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.experiment.views import length
from audits.outputs.conversion import columns_of
from audits.outputs.fields import KIND, NUMBER, Fields, absent
from dpaudit.model.mechanism import Array

_ATOM_SHARE = 1 / 64
_LEAST_ATOM, _UNUSUAL, _MOST_ATOMS = 4, 3, 32
_LEAST_RUNS = 8
_END_CUTS = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """Some columns of one field, by their `places`; `categories` holds those of a kind, most frequent first."""

    name: str
    places: tuple[int, ...]
    categories: Array | None = None

    def numbers(self, fields: Fields, runs: int) -> Array:
        """Return the numbers of these columns. Shape: (runs, places)."""
        field = fields.get(self.name)
        values = np.full((runs, len(self.places)), absent(self.name))
        if field is not None:
            present = [position for position, index in enumerate(self.places) if index < field.shape[1]]
            values[:, present] = field[:, [self.places[position] for position in present]]
        if self.categories is None:
            return values
        order = np.argsort(self.categories)
        nearest = np.minimum(np.searchsorted(self.categories, values, sorter=order), len(order) - 1)
        return np.where(self.categories[order[nearest]] == values, order[nearest].astype(float), -1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """An encoding of views as numbers: learned once, then a function of each run alone.

    Numbers stay numbers, a value that a run lacks is NaN; categories become codes, most frequent first, with -1 for new
    ones. Columns that never vary in the view that taught the table are left out.
    """

    columns: tuple[Column, ...]

    @classmethod
    def learned(cls, view: Any) -> "Table":
        """Return a table that knows the varying columns and the categories of `view`."""
        fields = _fields(view)
        columns = (_column(name, values) for name, values in fields.items())
        return cls(columns=tuple(column for column in columns if column is not None))

    def numbers(self, view: Any) -> Array:
        """Return the runs of `view` as floats. Shape: (runs, columns); a run's row depends on that run only."""
        fields, runs = _fields(view), length(view)
        if not self.columns:
            return np.zeros((runs, 1))
        return np.concatenate([column.numbers(fields, runs) for column in self.columns], axis=1)

    def in_order(self, view: Any) -> Array:
        """Return the number columns, by name, [9] before [10]. Shape: (runs, number columns)."""
        fields, runs = _fields(view), length(view)
        columns = sorted((c for c in self.columns if c.name.startswith(NUMBER)), key=lambda c: (len(c.name), c.name))
        return np.concatenate([np.zeros((runs, 0)), *(column.numbers(fields, runs) for column in columns)], axis=1)

    def unknown(self, view: Any) -> tuple[str, float]:
        """Return the field with the largest share of runs whose category the table does not know, and that share."""
        fields, runs = _fields(view), length(view)
        kinds = [column for column in self.columns if column.categories is not None]
        shares = {column.name: float((column.numbers(fields, runs) < 0).mean(axis=0).max()) for column in kinds}
        return max(shares.items(), key=lambda item: item[1], default=("", 0.0))


def _fields(view: Any) -> Fields:
    """Return a view as fields."""
    return view if isinstance(view, Fields) else columns_of(view, length(view))


def _column(name: str, values: Array) -> Column | None:
    """Return the varying columns of a field, None where there is none."""
    first = values[:1]
    varying = ((values != first) & ~(np.isnan(values) & np.isnan(first))).any(axis=0)
    places = tuple(int(index) for index in np.flatnonzero(varying))
    if not places:
        return None
    if not name.startswith(KIND):
        return Column(name=name, places=places)
    categories, counts = np.unique(values[:, list(places)], return_counts=True)
    return Column(name=name, places=places, categories=categories[np.argsort(-counts, kind="stable")])


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
    def atoms(self) -> tuple[Array, ...]:
        """The bins of each column that hold a single value among many, by their codes."""
        with np.errstate(over="ignore"):
            return tuple(np.flatnonzero(edges[1:] == np.nextafter(edges[:-1], np.inf)) + 1 for edges in self.edges)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each column has."""
        return tuple(len(edges) + 2 for edges in self.edges)


def _atoms(values: Array, counts: Array) -> Array:
    """Return the values that are atoms: frequent ones, and rare ones that repeat far more often than values do here."""
    repeated = (counts >= _LEAST_ATOM) & (counts > _UNUSUAL * np.median(counts))
    frequent = counts > _ATOM_SHARE * counts.sum()
    most = np.argsort(-counts * repeated, kind="stable")[:_MOST_ATOMS]
    rare = np.zeros(len(values), dtype=bool)
    rare[most] = repeated[most]
    return values[frequent | rare]


def _edges(column: Array, most: int) -> Array:
    """Return the edges of one column's bins."""
    numbers = np.sort(column[~np.isnan(column)])
    if len(numbers) == 0:
        return numbers
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) <= most:
        return values
    atoms = _atoms(values, counts)
    inner = np.linspace(0, len(numbers) - 1, most + 1)[1:-1].astype(int)
    ends = np.unique(np.geomspace(_LEAST_RUNS, len(numbers) / most, _END_CUTS).astype(int))
    ends = ends[(ends > 0) & (ends < len(numbers) // 2)]
    tails = np.concatenate([numbers[ends], numbers[len(numbers) - 1 - ends]])
    with np.errstate(over="ignore"):
        after = np.nextafter(atoms, np.inf)
    return np.unique(np.concatenate([numbers[inner], tails, atoms, after]))
