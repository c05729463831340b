"""Exact counting: for outputs with few distinct values, the odds of each value as they were seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.table import Table
from dpaudit.mechanism import Array

_RUNS_A_VALUE = 20
_PRIOR = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedOdds:
    """Log odds of the second neighbour for every distinct output; 0 for an output never seen."""

    table: Table
    odds: dict[bytes, float]

    @classmethod
    def suits(cls, numbers: Array) -> bool:
        """Return whether the rows repeat often enough to be counted."""
        return len(np.unique(_keys(numbers))) * _RUNS_A_VALUE <= max(len(numbers), 5 * _RUNS_A_VALUE)

    @classmethod
    def learned(cls, table: Table, numbers: Array, labels: Array) -> "CountedOdds":
        """Return the odds of each distinct row, half a count of either neighbour added."""
        keys, places = np.unique(_keys(numbers), return_inverse=True)
        second = np.bincount(places[labels], minlength=len(keys)) + _PRIOR
        first = np.bincount(places[~labels], minlength=len(keys)) + _PRIOR
        odds = np.log(second / first)
        return cls(table=table, odds={key.tobytes(): float(value) for key, value in zip(keys, odds, strict=True)})

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        keys, places = np.unique(_keys(self.table.numbers(view)), return_inverse=True)
        values = np.array([self.odds.get(key.tobytes(), 0.0) for key in keys])
        scores: Array = values[places]
        return scores


def _keys(numbers: Array) -> Array:
    """Return each row as one comparable value; all NaN are alike and -0.0 equals 0.0."""
    clean = np.ascontiguousarray(np.where(np.isnan(numbers), np.nan, numbers) + 0.0)
    return clean.view(np.dtype((np.void, clean.dtype.itemsize * clean.shape[1]))).reshape(-1)
