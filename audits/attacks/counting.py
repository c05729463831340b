"""Exact counting: for outputs with few distinct values, the odds of each value, as far as the counts support them.

Counts of rare outputs are mostly luck. How far the odds of outputs lie from a first guess is learned from all outputs
at once, and each output's odds are averaged over what its own counts leave possible.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.table import Table
from dpaudit.model.mechanism import Array

_RUNS_A_VALUE = 20
_FEW = 50
_ROWS = 100_000
_DISTANCES = np.concatenate([-np.geomspace(16, 1e-3, 50), [0.0], np.geomspace(1e-3, 16, 50)])
_ROUNDS = 200
_PRIOR = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedOdds:
    """Log odds of the second neighbour for every distinct output; 0 for an output never seen."""

    table: Table
    odds: dict[bytes, float]

    @classmethod
    def suits(cls, numbers: Array) -> bool:
        """Return whether the rows repeat often enough to be counted."""
        most = max(len(numbers), 5 * _RUNS_A_VALUE) // _RUNS_A_VALUE
        first = len(np.unique(_keys(numbers[:_ROWS])))
        return first <= most and (len(numbers) <= _ROWS or len(_distinct(numbers)[0]) <= most)

    @classmethod
    def few(cls, numbers: Array) -> bool:
        """Return whether there are so few distinct rows that a first guess would only be in the way."""
        return len(_distinct(numbers)[0]) <= _FEW

    @classmethod
    def learned(cls, table: Table, numbers: Array, labels: Array, guess: Array | None = None) -> "CountedOdds":
        """Return the odds of each distinct row, given a first `guess` at the odds of every run, or none (0).

        Private odds pile up at their ends, and such a distribution finds where.
        Source: Kiefer and Wolfowitz (1956), the law of the distances that makes all counts likeliest, on a grid.
        Of few outputs each counts by its runs, so that no rare one makes a law of its own; of many all count alike.
        """
        keys, places = _distinct(numbers)
        runs = np.bincount(places)
        second = np.bincount(places[labels], minlength=len(keys))
        start = np.zeros(len(keys)) if guess is None else np.bincount(places, guess, minlength=len(keys)) / runs
        weights = runs / runs.mean() if guess is None else np.ones(len(keys))
        odds = _posterior(second, runs - second, start, weights)
        return cls(table=table, odds={key.tobytes(): float(value) for key, value in zip(keys, odds, strict=True)})

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        keys, places = np.unique(_keys(self.table.numbers(view)), return_inverse=True)
        values = np.array([self.odds.get(key.tobytes(), 0.0) for key in keys])
        scores: Array = values[places]
        return scores


def _posterior(second: Array, first: Array, start: Array, weights: Array) -> Array:
    """Return the log odds of the mean share of each cell, its distance from `start` averaged over the grid."""
    odds = start[:, None] + _DISTANCES
    likelihood = -second[:, None] * np.logaddexp(0, -odds) - first[:, None] * np.logaddexp(0, odds)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    prior = np.full(len(_DISTANCES), 1 / len(_DISTANCES))
    held = likelihood / likelihood.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        held = likelihood * prior
        held /= held.sum(axis=1, keepdims=True)
        prior = (weights @ held + _PRIOR / len(prior)) / (len(second) + _PRIOR)
    share = (held / (1 + np.exp(-odds))).sum(axis=1)
    result: Array = np.log(share) - np.log1p(-share)
    return result


def _distinct(numbers: Array) -> tuple[Array, Array]:
    """Return the distinct rows as comparable values, and which of them each row is, piece by piece to save memory."""
    pieces = [np.unique(_keys(numbers[i : i + _ROWS]), return_inverse=True) for i in range(0, len(numbers), _ROWS)]
    keys = np.unique(np.concatenate([found for found, _ in pieces]))
    return keys, np.concatenate([np.searchsorted(keys, found)[places] for found, places in pieces])


def _keys(numbers: Array) -> Array:
    """Return each row as one comparable value; all NaN are alike and -0.0 equals 0.0."""
    clean = np.ascontiguousarray(np.where(np.isnan(numbers), np.nan, numbers) + 0.0)
    return clean.view(np.dtype((np.void, clean.dtype.itemsize * clean.shape[1]))).reshape(-1)
