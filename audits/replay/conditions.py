"""Ranges and values of one column of the output, and those that are worth the most."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from audits.outputs.fields import NUMBER, kind_of
from audits.replay.one_call import Call
from dpaudit.model.mechanism import Array

WHOLE_OUTPUT = "output"
"""The name of all columns together."""

_OFTEN = 3
"""A value that is chosen by itself was in so many runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A range of one column, or some of its values; the column `WHOLE_OUTPUT` stands for all others together."""

    name: str
    low: float = -inf
    high: float = inf
    values: frozenset[float] = frozenset()

    def holds(self, call: Call) -> bool:
        """Return whether the call's value is one of those."""
        value = column_of(call, self.name)
        return value in self.values if self.values else self.low <= value <= self.high


def best_parts(name: str, column: Array, worth: Array) -> Iterator[tuple[float, Condition]]:
    """Yield the half lines of one column, and those of its frequent values, that are worth the most."""
    is_number = ~np.isnan(column)
    values, places, times = np.unique(column[is_number], return_inverse=True, return_counts=True)
    each = np.bincount(places, weights=worth[is_number], minlength=len(values))
    good = (each > 0) & (times >= _OFTEN)
    if good.any():
        yield float(each[good].sum()), Condition(name=name, values=frozenset(values[good].tolist()))
    if len(values) and name.startswith(NUMBER):
        below, above = each.cumsum(), each[::-1].cumsum()[::-1]
        yield float(below.max()), Condition(name=name, high=float(values[below.argmax()]))
        yield float(above.max()), Condition(name=name, low=float(values[above.argmax()]))
    yield 0.0, Condition(name=name, low=inf)


def column_of(call: Call, name: str) -> float:
    """Return the value of a column, or a digest of all of them."""
    if name == WHOLE_OUTPUT:
        return kind_of(repr(sorted((name, value) for name, value in call.columns.items())))
    return call.column(name)
