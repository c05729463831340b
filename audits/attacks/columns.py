"""Single columns of the output as scores, and columns computed from all columns together.

A threshold on the right column is often the best event, better than a threshold on a learned score. The column, its
sign and the thresholds are chosen on the choosing runs.
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
    """Some columns of the joined table, each with a sign: larger values are likelier under the second neighbour."""

    table: Table
    discriminant: Discriminant
    indices: tuple[int, ...]
    signs: tuple[float, ...]

    @classmethod
    def learned(cls, table: Table, discriminant: Discriminant, view: Any, labels: Array) -> "Columns":
        """Return the columns that differ most between the neighbours, and the discriminant where there are several."""
        numbers = joined(table.numbers(view), discriminant)
        indices = most_informative(Bins.learned(numbers, _BINS), numbers, labels, _MOST)
        if numbers.shape[1] > 1:
            indices = np.union1d(indices, [numbers.shape[1] - _JOINED])
        picked = np.nan_to_num(numbers[:, indices], nan=0.0)
        ranks = np.argsort(np.argsort(picked, axis=0), axis=0)
        gap = ranks[labels].sum(axis=0) / max(1, labels.sum()) - ranks[~labels].sum(axis=0) / max(1, (~labels).sum())
        return cls(
            table=table,
            discriminant=discriminant,
            indices=tuple(int(index) for index in indices),
            signs=tuple(float(sign) for sign in np.where(gap < 0, -1.0, 1.0)),
        )

    def __call__(self, view: Any) -> Array:
        """Return one score a run for every column; NaN scores 0. Shape: (runs, columns)."""
        numbers = joined(self.table.numbers(view), self.discriminant)[:, list(self.indices)]
        return np.where(np.isnan(numbers), 0.0, numbers) * np.array(self.signs)

    def fitted(self, position: int) -> bool:
        """Return whether the column at `position` is the discriminant, which labelled runs fitted."""
        columns = len(self.discriminant.direction)
        pairs = columns * (columns - 1) // 2 if 2 < columns <= _MOST_COMPARED else 0
        return columns > 1 and self.indices[position] == columns + pairs

    def only(self, position: int) -> Callable[[Any], Array]:
        """Return the score of the column at `position`."""
        column = Columns(
            table=self.table,
            discriminant=self.discriminant,
            indices=self.indices[position : position + 1],
            signs=self.signs[position : position + 1],
        )
        return lambda view: column(view)[:, 0]


def joined(numbers: Array, discriminant: Discriminant) -> Array:
    """Return the columns and the joint ones: agreements of pairs, then `_JOINED` others.

    The last `_JOINED` are the discriminant, the sum, the maximum, the minimum and the index of the maximum.
    """
    if numbers.shape[1] == 1:
        return numbers
    filled = np.where(np.isnan(numbers), 0.0, numbers)
    pairs = _agreeing(numbers) if numbers.shape[1] <= _MOST_COMPARED else ()
    extra = (
        *pairs,
        discriminant.project(numbers),
        _sum(filled),
        filled.max(axis=1),
        filled.min(axis=1),
        filled.argmax(axis=1).astype(float),
    )
    return np.column_stack([numbers, *extra])


def _agreeing(numbers: Array) -> tuple[Array, ...]:
    """Return, for every two columns, where they agree: a hashed report is informative where it equals its hash."""
    return tuple(
        (numbers[:, i] == numbers[:, j]).astype(float)
        for i, j in combinations(range(numbers.shape[1]), 2)
        if numbers.shape[1] > 2
    )


def most_informative(bins: Bins, columns: Array, labels: Array, most: int) -> Array:
    """Return the indices of the columns whose bins differ most between the neighbours, in increasing order."""
    codes = bins.codes(columns)
    gains = np.array([_chi_square(codes[:, i], labels, size) for i, size in enumerate(bins.sizes)])
    return np.sort(np.argsort(-gains, kind="stable")[:most])


def _sum(numbers: Array) -> Array:
    """Return the sum of every row; opposite infinities give NaN, which has a bin of its own."""
    with np.errstate(invalid="ignore"):
        total: Array = numbers.sum(axis=1)
    return total


def _chi_square(codes: Array, labels: Array, size: int) -> float:
    """Return the chi-square distance of one column's bins between the neighbours, less its mean under chance."""
    second = np.bincount(codes[labels], minlength=size) + 0.5
    first = np.bincount(codes[~labels], minlength=size) + 0.5
    return float((((second - first) ** 2) / (second + first)).sum() - size)
