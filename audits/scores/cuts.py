"""Two samples of scores, and what every threshold counts in them."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from dpaudit.model.mechanism import Array

_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Scores of members and of others, larger where membership is more likely.

    Shape: (n1,), (n0,). Infinite scores are allowed.
    Raises: ValueError: a NaN or a masked entry, a number that no double is, no score on one side, or a table of several
        columns, which holds pooled scores.

    >>> Scores.of([1.0, 2.0], [0.5]).ins.tolist()
    [1.0, 2.0]
    """

    ins: Array
    outs: Array

    @classmethod
    def of(cls, in_scores: object, out_scores: object) -> "Scores":
        """Return the scores in two columns of numbers."""
        return cls(ins=_column("in_scores", in_scores), outs=_column("out_scores", out_scores))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cuts:
    """Every threshold that separates scores, from the highest; scores at or above it are called members.

    Shape: (cuts,) each. `false_positives` and `true_positives` count the others and the members at or above it.

    >>> cuts = Cuts.of(Scores.of([3.0, 1.0], [2.0, 1.0]))
    >>> cuts.thresholds.tolist(), cuts.false_positives.tolist(), cuts.true_positives.tolist()
    ([3.0, 2.0, 1.0], [0, 1, 2], [1, 1, 2])
    """

    thresholds: Array
    false_positives: Array
    true_positives: Array
    outs: int
    ins: int

    @classmethod
    def of(cls, scores: Scores) -> "Cuts":
        """Return every distinct value as a threshold."""
        values = np.unique(np.concatenate([scores.ins, scores.outs]))[::-1]
        return cls(
            thresholds=values,
            false_positives=_reaching(scores.outs, values),
            true_positives=_reaching(scores.ins, values),
            outs=len(scores.outs),
            ins=len(scores.ins),
        )

    @property
    def frontier(self) -> Array:
        """The indices of the thresholds that no other beats: with as few errors of both kinds and fewer of one."""
        first = np.r_[True, self.true_positives[1:] > self.true_positives[:-1]]
        last = np.r_[self.false_positives[1:] > self.false_positives[:-1], True]
        return np.flatnonzero(first & last)


def _reaching(sample: Array, values: Array) -> Array:
    """Return how many scores of a sample are at or above each value."""
    return len(sample) - np.searchsorted(np.sort(sample), values, side="left")


def _column(name: str, scores: object) -> Array:
    """Return one column of numbers without NaN."""
    if np.ma.is_masked(scores):
        raise ValueError(f"Expected {name} without masked entries; leave out what has no score.")
    try:
        given = np.asarray(scores)
        column: Array = given.astype(float) if given.dtype.kind in "iufbO" else _no_numbers(given)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"Expected {name} to be numbers, one score each.") from None
    if (lost := _first_lost(given, column)) is not None:
        raise ValueError(
            f"Expected {name} in double precision; number {lost + 1} is {given.flat[lost]!s:.40}, which no double is: "
            "numbers that differ would be read as equal. Subtract an offset, or give ranks."
        )
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"Expected {name} in one column, got shape {column.shape}. Scores of many models times many records are "
            "not independent. Give the records of one model as sampling 'canaries', or the models of one record "
            "as 'runs'."
        )
    if len(column) == 0:
        raise ValueError(f"Expected {name} to hold at least one score; it is empty.")
    if np.isnan(column).any():
        row = int(np.flatnonzero(np.isnan(column))[0])
        raise ValueError(f"Expected {name} without NaN; number {row + 1} is NaN. Find out where it came from.")
    return column


def _no_numbers(given: Array) -> Array:
    """Refuse texts, times and complex numbers."""
    raise TypeError(f"{given.dtype}")


def _first_lost(given: Array, column: Array) -> int | None:
    """Return the place of the first number that its double differs from, or None; only whole and long ones can."""
    if given.dtype.kind == "f":
        places = np.flatnonzero(given != column) if given.dtype.itemsize > column.dtype.itemsize else ()
        return next((int(index) for index in places if not np.isnan(column.flat[index])), None)
    large = np.flatnonzero(np.isfinite(column) & (np.abs(column) >= _WHOLE))
    exact = ((index, given.flat[index]) for index in large)
    return next((int(p) for p, value in exact if isinstance(value, Integral) and int(column.flat[p]) != value), None)
