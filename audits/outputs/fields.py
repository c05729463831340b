"""Named columns of many runs: numbers, marks beside numbers, and kinds, which are categories.

The first word of a name tells the column's meaning. A *number* is NaN where a run has none. A *mark* is a number that
stands beside a value (a sign of zero, a mask, a length) and is 0 where a run has none. A *kind* is a category: 52 bits
of a digest of its text, 0 where a run has none. So the row of a run depends on the output of that run alone.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

NUMBER, MARK, KIND = "number ", "mark ", "kind "
MOMENT = " since 1970"
"""The end of the name of a number of microseconds since 1970, which stands for a date."""

_DIGEST_BITS, _SHORT = 52, 128


class Fields(dict[str, Array]):
    """Columns by name; each array is (runs, columns) of doubles."""

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(next(iter(self.values())))


def kind_of(text: str | bytes) -> float:
    """Return a category as a whole number below 2^52 that depends on its text alone."""
    return _digest(text) if len(text) <= _SHORT else _digest.__wrapped__(text)


@lru_cache(maxsize=1 << 12)
def _digest(text: str | bytes) -> float:
    """Return the digest of a text; those of short texts, as names and types are, are kept."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return float(int.from_bytes(blake2b(data, digest_size=8).digest(), "big") >> (64 - _DIGEST_BITS))


def absent(name: str) -> float:
    """Return what a column of this name holds where a run has no such value."""
    return np.nan if name.startswith(NUMBER) else 0.0


def of_records(records: Sequence[dict[str, float]]) -> Fields:
    """Return the columns of one dict a run."""
    if len(records) == 1:
        columns = np.array(list(records[0].values()), dtype=np.float64).reshape(-1, 1, 1)
        return Fields(zip(records[0], columns, strict=True))
    names = dict.fromkeys(name for record in records for name in record)
    return Fields(
        {name: np.array([[record.get(name, absent(name))] for record in records], dtype=np.float64) for name in names}
    )


def stacked(parts: Sequence[Fields], places: Sequence[Any] | None = None) -> Fields:
    """Return the runs of several, each at its place among all, or after one another."""
    ends = np.cumsum([0, *(part.runs for part in parts)])
    places = places or [slice(*both) for both in pairwise(ends)]
    merged = Fields()
    for name in dict.fromkeys(name for part in parts for name in part):
        width = max(part[name].shape[1] for part in parts if name in part)
        column = np.full((int(ends[-1]), width), absent(name))
        for part, place in zip(parts, places, strict=True):
            if name in part:
                column[place, : part[name].shape[1]] = part[name]
        merged[name] = column
    return merged


def taken(fields: Fields, index: Array) -> Fields:
    """Return the runs at the whole numbers `index`."""
    return Fields({name: column[index] for name, column in fields.items()})
