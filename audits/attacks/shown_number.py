"""A score for outputs that show few of their numbers: what is shown, beside where the last shown number stands.

An algorithm that stops at some event shows a number at the place where it stopped, or a few on the way, and says
nothing, or the same, at all others. How much a number tells then depends on the place: queries that were passed over
have told something, too. A weight for each place and value would be estimated from few runs each; here the log odds are
piecewise linear in the value, and a parabola in the place at each knot.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.logistic import balanced, ridge_weights
from audits.attacks.table import Table
from dpaudit.model.mechanism import Array

_KNOTS = (0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99)
"""The shares of the shown numbers below each knot."""
_RIDGE = 0.5
_LEAST_COLUMNS, _LEAST_RUNS, _MOST_SHOWN, _LEAST_SHOWN = 3, 1_000, 0.5, 0.02
_SYMBOL = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownNumber:
    """Log odds of the second neighbour from the numbers that a run shows, of which the highest and the lowest count.

    A number is shown if it is finite and not `symbol`, the number that stands for nothing. Shape: `knots` holds
    increasing numbers for the highest, and for the lowest unless they are one; `weights` are those of `inputs`.
    """

    table: Table
    symbol: float
    knots: tuple[Array, ...]
    weights: Array
    intercept: float = 0.0

    @classmethod
    def learned(cls, table: Table, view: Any, labels: Array) -> "ShownNumber | None":
        """Return the score that labelled runs teach; None where outputs show most of their numbers, or hardly any.

        A number that fills a third of all entries is the symbol.
        Source: ridge logistic regression (le Cessie and van Houwelingen 1992) on linear splines.
        """
        numbers = table.in_order(view)
        if numbers.shape[1] < _LEAST_COLUMNS or len(labels) < _LEAST_RUNS or labels.all() or not labels.any():
            return None
        values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
        often = values[counts > _SYMBOL * numbers.size]
        blank = cls(table=table, symbol=float(often[0]) if len(often) else np.nan, knots=(), weights=np.zeros(0))
        shown = blank.shown(numbers)
        some = shown.any(axis=1)
        if not (some.mean() >= _LEAST_SHOWN and shown.mean() <= _MOST_SHOWN):
            return None
        highest, lowest = _ends(numbers[some], shown[some])
        ends = (highest,) if np.array_equal(highest, lowest) else (highest, lowest)
        knots = tuple(np.unique(np.quantile(end, _KNOTS)) for end in ends)
        if min(map(len, knots)) < 2:
            return None
        blank = replace(blank, knots=knots)
        inputs = blank.inputs(numbers)
        weights = ridge_weights(inputs, labels, _RIDGE)
        return replace(blank, weights=weights, intercept=balanced(inputs @ weights, labels))

    def shown(self, numbers: Array) -> Array:
        """Return which numbers are shown. Shape: that of `numbers`."""
        return np.isfinite(numbers) & (numbers != self.symbol)

    def inputs(self, numbers: Array) -> Array:
        """Return what the log odds are linear in. Shape: (runs, inputs)."""
        shown = self.shown(numbers)
        some = np.asarray(shown.any(axis=1))
        columns = numbers.shape[1]
        last = columns - shown[:, ::-1].argmax(axis=1)
        last_position = np.where(some, 2 * last / columns - 1, 0.0)[:, None]
        inputs = [some, shown.sum(axis=1) / columns]
        for end, knots in zip(_ends(numbers, shown), self.knots, strict=False):
            near = _spline(np.where(some, end, knots[0]), knots) * some[:, None]
            inputs += [near, near * last_position, near * last_position**2]
        return np.column_stack(inputs)

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        return self.inputs(self.table.in_order(view)) @ self.weights + self.intercept


def _ends(numbers: Array, shown: Array) -> tuple[Array, Array]:
    """Return the highest and the lowest number that each run shows."""
    return np.where(shown, numbers, -np.inf).max(axis=1), np.where(shown, numbers, np.inf).min(axis=1)


def _spline(values: Array, knots: Array) -> Array:
    """Return the weight of each knot in a piecewise linear function, constant beyond the last ones."""
    return np.column_stack([np.interp(values, knots, unit) for unit in np.eye(len(knots))])
