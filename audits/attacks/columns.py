"""The plainest scores of all: one column of the output, or what all columns together show, and nothing learned.

A threshold on the right column is often the best event there is, and a learned score only blurs it. Which column,
which way round and which thresholds is left to the runs that choose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from audits.attacks.discriminant import Discriminant
from audits.attacks.table import Bins, Table
from dpaudit.model.mechanism import Array

_MOST = 4
_BINS = 16
_MOST_COMPARED = 8
_JOINED = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Some columns of the joined table, each turned so that larger values speak for the second neighbour."""

    table: Table
    discriminant: Discriminant
    places: tuple[int, ...]
    signs: tuple[float, ...]

    @classmethod
    def learned(cls, table: Table, discriminant: Discriminant, view: Any, labels: Array) -> "Columns":
        """Return the columns that differ most between the neighbours, and the discriminant where there are several."""
        numbers = joined(table.numbers(view), discriminant)
        places = most_telling(Bins.learned(numbers, _BINS), numbers, labels, _MOST)
        if numbers.shape[1] > 1:
            places = np.union1d(places, [numbers.shape[1] - _JOINED])
        picked = np.nan_to_num(numbers[:, places], nan=0.0)
        ranks = np.argsort(np.argsort(picked, axis=0), axis=0)
        gap = ranks[labels].sum(axis=0) / max(1, labels.sum()) - ranks[~labels].sum(axis=0) / max(1, (~labels).sum())
        return cls(
            table=table,
            discriminant=discriminant,
            places=tuple(int(place) for place in places),
            signs=tuple(float(sign) for sign in np.where(gap < 0, -1.0, 1.0)),
        )

    def __call__(self, view: Any) -> Array:
        """Return one score a run for every column; NaN says nothing. Shape: (runs, columns)."""
        numbers = joined(self.table.numbers(view), self.discriminant)[:, list(self.places)]
        scores: Array = np.where(np.isnan(numbers), 0.0, numbers) * np.array(self.signs)
        return scores

    def only(self, place: int) -> Callable[[Any], Array]:
        """Return the score of one of the columns."""
        one = Columns(
            table=self.table,
            discriminant=self.discriminant,
            places=self.places[place : place + 1],
            signs=self.signs[place : place + 1],
        )
        return lambda view: one(view)[:, 0]


def joined(numbers: Array, discriminant: Discriminant) -> Array:
    """Return the columns, and beside them what only all columns together show: pairs, then `_JOINED` others."""
    if numbers.shape[1] == 1:
        return numbers
    known = np.where(np.isnan(numbers), 0.0, numbers)
    pairs = _agreeing(numbers) if numbers.shape[1] <= _MOST_COMPARED else ()
    extra = (
        *pairs,
        discriminant.project(numbers),
        _sum(known),
        known.max(axis=1),
        known.min(axis=1),
        known.argmax(axis=1).astype(float),
    )
    return np.column_stack([numbers, *extra])


def _agreeing(numbers: Array) -> tuple[Array, ...]:
    """Return, for every two columns of whole numbers, where they agree: what a hash tells is whether it meets."""
    return tuple(
        (numbers[:, i] == numbers[:, j]).astype(float)
        for i, j in combinations(range(numbers.shape[1]), 2)
        if numbers.shape[1] > 2
    )


def most_telling(bins: Bins, columns: Array, labels: Array, most: int) -> Array:
    """Return the places of the columns whose bins differ most between the neighbours, in order."""
    codes = bins.codes(columns)
    gains = np.array([_chi_square(codes[:, i], labels, size) for i, size in enumerate(bins.sizes)])
    return np.sort(np.argsort(-gains, kind="stable")[:most])


def _sum(known: Array) -> Array:
    """Return the sum of every row; opposite infinities give NaN, which has a bin of its own."""
    with np.errstate(invalid="ignore"):
        total: Array = known.sum(axis=1)
    return total


def _chi_square(codes: Array, labels: Array, size: int) -> float:
    """Return how much more one column's bins differ than chance lets them."""
    second = np.bincount(codes[labels], minlength=size) + 0.5
    first = np.bincount(codes[~labels], minlength=size) + 0.5
    return float((((second - first) ** 2) / (second + first)).sum() - size)
