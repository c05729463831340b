"""A synthesizer as a function that an audit runs: each synthetic table is read as statistics that are fixed beforehand.

The statistics depend on the one data set that the auditor holds, which both neighbours of a pair surround, and on no
run: they are post-processing of the synthetic table, so that a claim for the table is one for them.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from audits.synthetic.carried import carried, labels_of
from audits.synthetic.columns import MISSING, OTHER, Column, table_columns
from dpaudit.model.mechanism import Array

_PAIRED = 3
"""Of so many targets each pair of values is looked for."""

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Synthetic:
    """A synthetic table beside the model that it was drawn from, where the model is published too.

    `log_likelihood(rows)` returns one number for each row of a table in the form of the data.

    >>> fitted = Synthetic(table=[[0], [1]], log_likelihood=lambda rows: [-0.7 for _ in rows])
    >>> fitted.log_likelihood([[1]])
    [-0.7]
    """

    table: Any
    log_likelihood: Callable[[Any], Sequence[float] | Array]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableStatistics:
    """Statistics of a synthetic table: its form, answered marginals, and how near it comes to some records.

    `targets` are these records, in the form of the data, and `values` their codes and numbers by column. `apart` are
    the labels of rows that one of two data sets has.
    """

    columns: tuple[Column, ...]
    targets: Any
    values: dict[str, tuple[Array, Array]]
    apart: frozenset[Any]

    def __call__(self, released: Any) -> dict[str, Any]:
        """Return the statistics of what one run released, by name. Raises: UnsupportedError: no table."""
        table = released.table if isinstance(released, Synthetic) else released
        values_of = table_columns(table)
        rows = len(table)
        statistics = {"rows": float(rows)} | carried(table, values_of, self.apart)
        shared = np.zeros((rows, self.number), dtype=np.int64)
        distance = np.zeros((rows, self.number))
        matches: list[Array] = []
        for column in self.columns:
            values = values_of.get(column.name)
            if values is None:
                matches.append(np.zeros((rows, self.number), dtype=bool))
                continue
            codes, numbers = column.read(values)
            own_codes, own_numbers = self.values[column.name]
            statistics |= _marginal(column, codes, numbers)
            matches.append(codes[:, None] == own_codes[None, :])
            shared += matches[-1]
            distance += _apart(column, numbers, own_numbers, matches[-1])
        statistics |= self._near(shared, distance, matches)
        if isinstance(released, Synthetic):
            likelihood = np.asarray(released.log_likelihood(self.targets), dtype=float).reshape(-1)
            statistics |= {f"log likelihood of record {number}": float(log) for number, log in enumerate(likelihood)}
        return statistics

    @property
    def number(self) -> int:
        """The number of targets."""
        return len(self.targets)

    def _near(self, shared: Array, distance: Array, matches: list[Array]) -> dict[str, float]:
        """Return how near the rows come to each target, and how many rows share two of its values."""
        statistics: dict[str, float] = {}
        for number in range(self.number):
            own, far = shared[:, number], distance[:, number]
            statistics[f"distance of the nearest row to record {number}"] = float(far.min(initial=np.inf))
            statistics[f"rows equal to record {number}"] = float((far == 0).sum())
            statistics[f"pairs of values shared with record {number}"] = float((own * (own - 1) // 2).sum())
        for number in range(min(_PAIRED, self.number)):
            for (column, first), (other_column, second) in combinations(zip(self.columns, matches, strict=True), 2):
                name = f"rows with {column.name!r} and {other_column.name!r} of record {number}"
                statistics[name] = float((first[:, number] & second[:, number]).sum())
        return statistics


def table_statistics(data: Any, targets: Any, other: Any = None) -> TableStatistics:
    """Return the statistics that a data set, some of its records and the labels of its neighbour fix."""
    values_of = table_columns(data)
    columns = tuple(Column.of(name, values) for name, values in values_of.items())
    own = table_columns(targets)
    values = {column.name: column.read(own[column.name]) for column in columns}
    labels = labels_of(data)
    apart = frozenset(labels[-1:] if other is None else {*labels} ^ {*labels_of(other)})
    return TableStatistics(columns=columns, targets=targets, values=values, apart=apart)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableView:
    """Runs of a synthesizer, each read as the statistics of its table; `seeded` says whether it takes a generator."""

    function: Callable[..., Any]
    seeded: bool
    statistics: TableStatistics

    def released(self, data: Any, rng: np.random.Generator) -> Any:
        """Return what one run releases."""
        return self.function(data, rng) if self.seeded else self.function(data)

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        """Return the statistics of `n_runs` synthetic tables by name, runs axis first."""
        rows = [self.statistics(self.released(data, stream)) for stream in rng.spawn(n_runs)]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}


def table_view(fit_and_sample: Callable[..., Any], statistics: TableStatistics) -> TableView:
    """Return a synthesizer, a function of (data, rng) or of (data), as a function of (data, rng, n_runs) for an audit.

    A second parameter is the generator if it has no default or is called `rng`; others keep their defaults.
    Raises: ValueError: a function of another form.
    """
    parameters = list(inspect.signature(fit_and_sample).parameters.values())
    places = [entry for entry in parameters if entry.kind in (entry.POSITIONAL_ONLY, entry.POSITIONAL_OR_KEYWORD)]
    needed = [entry.name for entry in parameters if entry.default is entry.empty and entry.kind not in _VARIABLE]
    seeded = len(places) > 1 and (places[1].default is places[1].empty or places[1].name == "rng")
    if not places or len(needed) > 1 + seeded:
        raise ValueError(
            f"Expected fit_and_sample to be a function of (data, rng) or of (data), got {fit_and_sample!r:.80}, which "
            f"needs the parameters {', '.join(needed) or 'none'}."
        )
    return TableView(function=fit_and_sample, seeded=seeded, statistics=statistics)


def _marginal(column: Column, codes: Array, numbers: Array) -> dict[str, float]:
    """Return the answered marginal of one column, and of numbers, few distinct ones too, the ends and the mean."""
    name = repr(column.name) if column.name else "value"
    statistics = {f"rows where {name} {says}": float((codes == code).sum()) for code, says in enumerate(column.labels)}
    statistics[f"rows where {name} is something else"] = float((codes == OTHER).sum())
    statistics[f"rows where {name} is missing"] = float((codes == MISSING).sum())
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers):
        statistics[f"smallest {name}"], statistics[f"largest {name}"] = float(numbers.min()), float(numbers.max())
        statistics[f"mean of {name}"] = float(numbers.mean())
    return statistics


def _apart(column: Column, numbers: Array, own: Array, same: Array) -> Array:
    """Return how far the values of a column lie from those of the targets, at most 1. Shape: (rows, targets)."""
    if not column.edges:
        return np.where(same, 0.0, 1.0)
    width = column.edges[-1] - column.edges[0] or 1.0
    gap = np.abs(numbers[:, None] - own[None, :]) / width
    return np.minimum(np.nan_to_num(gap, nan=1.0), 1.0)
