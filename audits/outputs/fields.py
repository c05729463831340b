"""Named columns of many runs: numbers, marks beside numbers, and kinds, which are categories.

The first word of a name tells the column's meaning. A *number* is NaN where a run has none. A *mark* is a number that
stands beside a value (a sign of zero, a mask, a length) and is 0 where a run has none. A *kind* is a category: 52 bits
of a digest of its text, 0 where a run has none. So the row of a run depends on the output of that run alone.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

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


def interleaved(first: Fields, second: Fields, chosen: Array) -> Fields:
    """Return the runs of both, from `second` where `chosen` is true, in their order inside each."""
    merged = Fields()
    for name in {**first, **second}:
        left, right = (side.get(name) for side in (first, second))
        width = max(part.shape[1] for part in (left, right) if part is not None)
        column = np.full((len(chosen), width), absent(name))
        for part, rows in ((left, np.flatnonzero(~chosen)), (right, np.flatnonzero(chosen))):
            if part is not None:
                column[rows, : part.shape[1]] = part
        merged[name] = column
    return merged


def stacked(parts: Sequence[Fields]) -> Fields:
    """Return the runs of several after one another."""
    runs = [part.runs for part in parts]
    ends = np.cumsum([0, *runs])
    merged = Fields()
    for name in dict.fromkeys(name for part in parts for name in part):
        width = max(part[name].shape[1] for part in parts if name in part)
        column = np.full((int(ends[-1]), width), absent(name))
        for part, start, end in zip(parts, ends, ends[1:], strict=False):
            if name in part:
                column[start:end, : part[name].shape[1]] = part[name]
        merged[name] = column
    return merged


def taken(fields: Fields, index: Array) -> Fields:
    """Return the runs at the whole numbers `index`."""
    return Fields({name: column[index] for name, column in fields.items()})


def placed(fields: Fields, part: Fields, runs: Sequence[int], n_runs: int) -> None:
    """Put the columns of some runs into the columns of all runs; `fields` is changed."""
    if not fields and list(runs) == list(range(n_runs)):
        fields |= part
        return
    for name, column in part.items():
        earlier = fields.get(name)
        width = max(column.shape[1], 0 if earlier is None else earlier.shape[1])
        extended = np.full((n_runs, width), absent(name))
        if earlier is not None:
            extended[:, : earlier.shape[1]] = earlier
        extended[list(runs), : column.shape[1]] = column
        fields[name] = extended
