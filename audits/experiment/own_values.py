"""Values that only one of two data sets holds, and the runs whose outputs hold one of them, wherever it stands.

A record that a function shows as it is may stand at any place of the output: no single column tells that it is there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from audits.outputs.fields import KIND, MARK, NUMBER, Fields, kind_of
from dpaudit.model.mechanism import Array

OWN = f"{MARK}own values "
"""The beginning of the names of the columns about values that only one data set holds."""

_MOST_VALUES, _MOST_OWN, _DEEP = 1 << 20, 64, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnValues:
    """Numbers, and digests of texts, that one data set holds and the other one does not, for both of a pair."""

    sides: tuple[frozenset[float], ...] = ()

    def beside(self, fields: Fields) -> Fields:
        """Return the columns, and for each data set whether the output of a run holds a value of its own."""
        if not fields:
            return fields
        holding = {f"{OWN}{side}": self._held(fields, side) for side, own in enumerate(self.sides) if own}
        return Fields(fields | {name: column[:, None].astype(float) for name, column in holding.items()})

    def _held(self, fields: Fields, side: int) -> Array:
        """Return which runs hold a value of one data set alone. Shape: (runs,)."""
        values = np.array(sorted(self.sides[side]))
        holds = np.zeros(fields.runs, dtype=bool)
        for name, column in fields.items():
            if name.startswith((NUMBER, KIND)):
                holds |= np.isin(column, values).any(axis=1)
        return holds


NO_VALUES = OwnValues()


def own_values(pair: tuple[Any, Any]) -> OwnValues:
    """Return the values that only one data set of a pair holds; none where they are many.

    >>> own_values(([23, 58, 64], [23, 58])).sides
    (frozenset({64.0}), frozenset())
    """
    first, second = (frozenset(islice(_values(data, 0), _MOST_VALUES)) for data in pair)
    sides = first - second, second - first
    return OwnValues(sides=sides) if max(map(len, sides)) <= _MOST_OWN else NO_VALUES


def _values(data: Any, depth: int) -> Iterator[float]:
    """Yield the finite numbers of some data, and a digest of each text without digits."""
    if isinstance(data, bool) or depth > _DEEP:
        return
    if isinstance(data, int | float | np.number):
        if np.isfinite(data):
            yield float(data)
    elif isinstance(data, str):
        if not any(letter.isdigit() for letter in data):
            yield kind_of(data)
    elif hasattr(data, "to_numpy"):
        yield from _values(data.to_numpy().ravel().tolist(), depth + 1)
    elif isinstance(data, np.ndarray):
        yield from _values(data.ravel().tolist(), depth + 1)
    elif isinstance(data, Mapping | list | tuple | set | frozenset):
        for part in data.values() if isinstance(data, Mapping) else data:
            yield from _values(part, depth + 1)
