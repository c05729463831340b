"""A score for columns of one law: how many columns fall into each bin, with one weight a bin for all columns together.

Where noise of one kind is added to every column, a weight a bin and column is estimated from few runs each; one weight
a bin is estimated from all columns at once. A sum over columns, as a linear score is, loses where log odds saturate.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.logistic import balanced, ridge_weights
from audits.attacks.table import Table
from dpaudit.model.mechanism import Array

_BINS, _RIDGE = 16, 1.0
_LEAST_COLUMNS, _LEAST_RUNS = 3, 200
_FEW = 8
_SPREAD = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedShape:
    """Log odds of the second neighbour, from the number of columns in each bin.

    Shape: `centres` and `scales` are (columns,), negative scales turn a column over; `edges` are (bins - 1,), `weights`
    (bins,). A NaN is in no bin.
    """

    table: Table
    centres: Array
    scales: Array
    edges: Array
    weights: Array
    intercept: float

    @classmethod
    def learned(cls, table: Table, view: Any, labels: Array) -> "SharedShape | None":
        """Return the score that labelled runs teach; None for fewer than 3 columns or 200 runs, or equal runs.

        Each column is centred and scaled by its median and its mean absolute deviation, a column of at most 8 values by
        the middle and half the range of these, and turned so that its mean is larger under the second neighbour.
        Source: ridge logistic regression (le Cessie and van Houwelingen 1992) on counts of pooled quantile bins.
        """
        numbers = table.numbers(view)
        second = int(labels.sum())
        if numbers.shape[1] < _LEAST_COLUMNS or len(labels) < _LEAST_RUNS or second in (0, len(labels)):
            return None
        finite = np.where(np.isfinite(numbers), numbers, np.nan)
        if not np.isfinite(finite).any(axis=0).all():
            return None
        placed = [_placed(column) for column in finite.T]
        centres, scales = (np.array(values) for values in zip(*placed, strict=True))
        moved = np.nan_to_num((finite - centres) / scales)
        signs = np.where(moved[labels].mean(axis=0) < moved[~labels].mean(axis=0), -1.0, 1.0)
        edges = np.unique(np.nanquantile((finite - centres) / (scales * signs), np.linspace(0, 1, _BINS + 1)[1:-1]))
        if len(edges) == 0:
            return None
        blank = cls(
            table=table,
            centres=centres,
            scales=scales * signs,
            edges=edges,
            weights=np.zeros(len(edges) + 1),
            intercept=0.0,
        )
        counts = blank.counts(numbers)
        weights = ridge_weights(counts, labels, _RIDGE)
        return replace(blank, weights=weights, intercept=balanced(counts @ weights, labels))

    def counts(self, numbers: Array) -> Array:
        """Return how many columns of each run lie in each bin. Shape: (runs, bins)."""
        bins = len(self.weights)
        with np.errstate(invalid="ignore"):
            codes = np.searchsorted(self.edges, (numbers - self.centres) / self.scales, side="right")
        codes = np.where(np.isnan(numbers), bins, codes) + (bins + 1) * np.arange(len(numbers))[:, None]
        counted = np.bincount(codes.reshape(-1), minlength=(bins + 1) * len(numbers)).reshape(len(numbers), bins + 1)
        return counted[:, :bins].astype(float)

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        return self.counts(self.table.numbers(view)) @ self.weights + self.intercept


def _placed(column: Array) -> tuple[float, float]:
    """Return the centre and the scale of one column."""
    values = column[np.isfinite(column)]
    distinct = np.unique(values)
    if len(distinct) <= _FEW:
        return float(distinct[0] + distinct[-1]) / 2, max(float(distinct[-1] - distinct[0]) / 2, _SPREAD)
    centre = float(np.median(values))
    return centre, max(float(np.abs(values - centre).mean()), _SPREAD)
