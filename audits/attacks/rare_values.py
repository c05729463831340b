"""Values that few runs show, and only those of one neighbour: an error text, a debug field, a hint in some runs.

A learner that fits all runs cannot tell so few from chance. Here a value counts as it is: the runs that teach name the
values seen under one neighbour alone, and a run that shows one of them is guessed to be of that neighbour.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.table import Table
from audits.experiment.execution import Observed
from audits.experiment.own_values import OWN
from dpaudit.model.mechanism import Array

_LEAST_RUNS, _LARGEST_SHARE = 2, 0.02
_MOST_COLUMNS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RareValues:
    """Scores 1 for runs that show a value of the second neighbour alone, -1 for one of the first, 0 for neither.

    `first` and `second` hold (column of the table, its values) each; a run that shows values of both scores 0.
    """

    table: Table
    first: tuple[tuple[int, Array], ...]
    second: tuple[tuple[int, Array], ...]

    def __call__(self, view: Any) -> Array:
        """Return one score a run: -1, 0 or 1."""
        numbers = self.table.numbers(view)
        return _shows(numbers, self.second).astype(float) - _shows(numbers, self.first)


def learn_rare_values(lesson: Observed) -> RareValues | None:
    """Return the rare values of the runs that teach; None if no value was seen twice, and of one neighbour only.

    A value is rare in at most 2 % of the runs. Columns beyond the first thousand are not looked at. Where outputs hold
    values that only one data set has, these count alone, however many runs hold them: others may be rare by chance.

    >>> lesson = Observed(labels=np.arange(900) % 2 == 0, kept=np.where(np.arange(900) % 200 == 0, 7.0, 0.0))
    >>> rare = learn_rare_values(lesson)
    >>> rare(np.array([0.0, 7.0])).tolist() if rare else None
    [0.0, 1.0]
    """
    table = Table.learned(lesson.kept)
    numbers = table.numbers(lesson.kept)[:, :_MOST_COLUMNS]
    names = [column.name for column in table.columns for _ in column.places]
    own = [index for index, name in enumerate(names[: numbers.shape[1]]) if name.startswith(OWN)]
    by_column = {index: _values(numbers[:, index], lesson.labels, 1.0) for index in own}
    if not any(values[side].size for values in by_column.values() for side in (0, 1)):
        by_column = {index: _values(column, lesson.labels, _LARGEST_SHARE) for index, column in enumerate(numbers.T)}
    first, second = (
        tuple((index, values[side]) for index, values in by_column.items() if values[side].size) for side in (0, 1)
    )
    return RareValues(table=table, first=first, second=second) if first or second else None


def _values(column: Array, labels: Array, largest: float) -> tuple[Array, Array]:
    """Return the values of the first neighbour alone and of the second alone, in at most a share of the runs."""
    values, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    right = np.bincount(places.ravel(), labels, minlength=len(values))
    rare = (counts >= _LEAST_RUNS) & (counts <= largest * len(column))
    return values[rare & (right == 0)], values[rare & (right == counts)]


def _shows(numbers: Array, values: tuple[tuple[int, Array], ...]) -> Array:
    """Return whether each run shows one of the values in its column."""
    shown = np.zeros(len(numbers), dtype=bool)
    for index, rare in values:
        column = numbers[:, index]
        shown |= np.isin(column, rare) | (np.isnan(column) & bool(np.isnan(rare).any()))
    return shown
