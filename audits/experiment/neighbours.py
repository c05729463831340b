"""Neighbouring data sets with unusual records: extremes, NaN, unknown categories, duplicates, no record at all."""

from collections.abc import Iterator

import numpy as np

from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Array


def awkward_pairs(data: Array, relation: Neighbours) -> Iterator[tuple[str, tuple[Array, Array]]]:
    """Yield (description, (data set, neighbour)) for one record of `data`, the most informative pairs first.

    Shape: `data` is (records, ...) of numbers, one record a row. Under `replace_one` the first record is
    replaced by an unusual one; under `add_remove` an unusual record is added, and records are removed down to none.
    Raises: ValueError: no record at all under replace_one, where nothing could be replaced.

    >>> names = [name for name, _ in awkward_pairs(np.array([1.0, 2.0]), "add_remove")]
    >>> len(names) > 3
    True
    """
    records = np.asarray(data)
    if relation == "replace_one" and len(records) == 0:
        raise ValueError("Expected at least one record: under replace_one an empty data set has no neighbour.")
    if len(records) == 0:
        return
    for name, record in _awkward(records):
        if relation == "replace_one":
            yield name, (records, np.concatenate([record[None], records[1:]]))
        else:
            yield name, (records, np.concatenate([record[None], records]))
    if relation == "add_remove":
        yield "one record less", (records, records[1:])
        yield "a single record or none", (records[:1], records[:0])
        rows, sizes = np.unique(records, axis=0, return_counts=True)
        if (sizes == 1).any():
            alone = rows[int(np.argmax(sizes == 1))]
            index = int(np.flatnonzero((records == alone).reshape(len(records), -1).all(axis=1))[0])
            yield "the only record of its kind removed", (records, np.delete(records, index, axis=0))


def _awkward(records: Array) -> Iterator[tuple[str, Array]]:
    """Yield (description, record) for unusual records that the data type can represent."""
    low, high = records.min(axis=0), records.max(axis=0)
    yield "largest value seen", high
    yield "smallest value seen", low
    yield "a duplicate", records[-1]
    if records.dtype.kind == "f":
        limit = np.finfo(records.dtype).max
        for name, value in (
            ("NaN", np.nan),
            ("infinity", np.inf),
            ("minus infinity", -np.inf),
            ("largest float", limit),
        ):
            yield name, np.full_like(high, value)
        yield "far outside the domain", high + 1000 * (high - low + 1)
    elif records.dtype.kind in "iu":
        yield "largest integer", np.full_like(high, np.iinfo(records.dtype).max)
        yield "a category nobody has", high + np.ones_like(high)
