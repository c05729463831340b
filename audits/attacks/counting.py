"""Log odds of each distinct output, for outputs with few distinct values, shrunk by empirical Bayes.

Estimates of rare outputs are shrunk. The distribution of the distances between an output's odds and its starting point
is estimated from all outputs; the odds of an output are the posterior mean given its own counts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.logistic import log_ratio
from audits.attacks.table import Table
from dpaudit.model.mechanism import Array

_RUNS_A_VALUE = 20
_FEW = 50
_ROWS = 100_000
_DISTANCES = np.concatenate([-np.geomspace(16, 1e-3, 50), [0.0], np.geomspace(1e-3, 16, 50)])
_NONE = len(_DISTANCES) // 2
_ROUNDS = 200
_PRIOR = 0.5
_LEAST_GAIN = 8.0


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
        """Return whether there are so few distinct rows that no starting point is needed."""
        return len(_distinct(numbers)[0]) <= _FEW

    @classmethod
    def learned(cls, table: Table, numbers: Array, labels: Array, guess: Array | None = None) -> "CountedOdds":
        """Return the odds of each distinct row, shrunk towards a `guess` of the odds of every run, or 0.

        The odds of private mechanisms concentrate at their extremes; the estimated distribution locates the extremes.
        Source: Kiefer and Wolfowitz (1956), the maximum likelihood distribution of the distances, on a grid. With few
        outputs each is weighted by its runs, so that a rare output has little weight; with many all weigh the same.
        A guess that explains the counts as well as the estimated distances do is taken as it is. Labels are fair coins:
        the odds are those of equally many runs of both neighbours, whatever the numbers here.
        """
        keys, rows = _distinct(numbers)
        runs = np.bincount(rows)
        second = np.bincount(rows[labels], minlength=len(keys))
        start = np.zeros(len(keys)) if guess is None else np.bincount(rows, guess, minlength=len(keys)) / runs
        weights = runs / runs.mean() if guess is None else np.ones(len(keys))
        excess = log_ratio(labels)
        odds, gain = _posterior(second, runs - second, start + excess, weights)
        odds = start if guess is not None and gain < _LEAST_GAIN else odds - excess
        return cls(table=table, odds={key.tobytes(): float(value) for key, value in zip(keys, odds, strict=True)})

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        keys, rows = np.unique(_keys(self.table.numbers(view)), return_inverse=True)
        values = np.array([self.odds.get(key.tobytes(), 0.0) for key in keys])
        return values[rows]

    def cells(self, view: Any) -> Array:
        """Return the number of each run's output among the known ones, from 0; -1 for an output never seen."""
        places = {key: number for number, key in enumerate(self.odds)}
        keys, rows = np.unique(_keys(self.table.numbers(view)), return_inverse=True)
        return np.array([places.get(key.tobytes(), -1) for key in keys], dtype=float)[rows]


def _posterior(second: Array, first: Array, start: Array, weights: Array) -> tuple[Array, float]:
    """Return the log odds of the mean share of each cell, its distance from `start` averaged over the grid.

    Beside them: how much likelier the estimated distances make the counts, in nats, than no distances do.
    """
    odds = start[:, None] + _DISTANCES
    logs = -second[:, None] * np.logaddexp(0, -odds) - first[:, None] * np.logaddexp(0, odds)
    largest = logs.max(axis=1, keepdims=True)
    likelihood = np.exp(logs - largest)
    prior = np.full(len(_DISTANCES), 1 / len(_DISTANCES))
    posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        posterior = likelihood * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        prior = (weights @ posterior + _PRIOR / len(prior)) / (len(second) + _PRIOR)
    share = (posterior / (1 + np.exp(-odds))).sum(axis=1)
    gain = float((np.log(likelihood @ prior) + largest[:, 0] - logs[:, _NONE]).sum())
    result: Array = np.log(share) - np.log1p(-share)
    return result, gain


def _distinct(numbers: Array) -> tuple[Array, Array]:
    """Return the distinct rows as comparable values, and the index of each row among them.

    Piece by piece, to save memory.
    """
    pieces = [np.unique(_keys(numbers[i : i + _ROWS]), return_inverse=True) for i in range(0, len(numbers), _ROWS)]
    keys = np.unique(np.concatenate([distinct for distinct, _ in pieces]))
    return keys, np.concatenate([np.searchsorted(keys, distinct)[rows] for distinct, rows in pieces])


def _keys(numbers: Array) -> Array:
    """Return each row as one comparable value; all NaN are equal and -0.0 equals 0.0."""
    clean = np.ascontiguousarray(np.where(np.isnan(numbers), np.nan, numbers) + 0.0)
    return clean.view(np.dtype((np.void, clean.dtype.itemsize * clean.shape[1]))).reshape(-1)
