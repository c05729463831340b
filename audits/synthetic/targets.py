"""The records that an audit of a synthesizer looks for: those with rare values, and those at the ends of a column."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from audits.replay.record_values import categories_of, index_of, numbers_of
from audits.replay.records import records_of
from audits.synthetic.columns import plain, table_columns

_MOST = 8


def target_records(data: Any, other: Any = None) -> Any:
    """Return at most eight records of a data set, in its form: those that `other` lacks first, then telling ones.

    >>> target_records([(1, "a"), (1, "b"), (1, "a")], [(1, "a"), (1, "a")])[0]
    (1, 'b')
    """
    columns = table_columns(data)
    by_column = [list(_telling(values)) for values in columns.values()]
    telling = [row for rows in zip_longest(*by_column) for row in rows if row is not None]
    missing = [] if other is None else _missing(_rows(columns), _rows(table_columns(other)))
    chosen = dict.fromkeys((*missing, *telling, len(data) - 1))
    return records_of(data).taken(list(islice(chosen, _MOST)))


def _telling(values: Sequence[Any]) -> Iterator[int]:
    """Yield the rows of the rarest category, of the largest and smallest number, and of the second rarest category."""
    rarest = list(categories_of(values))[:2]
    numbers = numbers_of(values)
    yield from (index_of(values, value) for value in rarest[:1])
    if numbers is not None and np.isfinite(numbers).any():
        yield int(np.nanargmax(np.where(np.isfinite(numbers), numbers, np.nan)))
        yield int(np.nanargmin(np.where(np.isfinite(numbers), numbers, np.nan)))
    yield from (index_of(values, value) for value in rarest[1:])


def _rows(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Return the rows of a table as they are compared."""
    return list(zip(*([plain(value) for value in values] for values in columns.values()), strict=True))


def _missing(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> list[int]:
    """Return the rows that occur more often than in the other table."""
    left = Counter(map(repr, others))
    missing = []
    for place, row in enumerate(map(repr, rows)):
        left[row] -= 1
        if left[row] < 0:
            missing.append(place)
    return missing
