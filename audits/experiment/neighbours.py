"""Neighbouring data sets with unusual records, and remarks on two given data sets that may be no neighbours."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit import Claim
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


_MOST_RECORDS = 1 << 18
"""Data sets of more records are not compared record by record."""

EQUAL = "Both data sets are equal: no difference can be found between their outputs."
REORDERED = "If each row is one record, both data sets hold the same records, in another order, and are no neighbours."


def pair_remarks(pair: tuple[Any, Any], claim: Claim) -> tuple[str, ...]:
    """Return remarks on two given data sets that may be no neighbours under the claim; none where they can be.

    Each item of a list, row of an array or row of a data frame is taken as one record, whatever its place. That is the
    caller's to know: a row may be an answer, and a unit may have several rows. Other data, such as a number, a dict or
    a tuple of arrays, are not compared, nor are the data of one user in the local model.

    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> pair_remarks(([0, 1, 5], [0, 2, 5]), claim)
    ()
    >>> len(pair_remarks(([0, 1, 5], [9, 2, 5]), claim))
    1
    """
    records = None if claim.model == "local" else _records_of(pair)
    if records is None:
        return ()
    if records[0] == records[1]:
        return (EQUAL,)
    first, second = map(Counter, records)
    if first == second:
        return (REORDERED,)
    lost, added = (first - second).total(), (second - first).total()
    apart = (lost, added) if lost <= added else (added, lost)
    if apart in ((0, 0), (0, 1) if claim.neighbours == "add_remove" else (1, 1)):
        return ()
    return (
        f"If each row is one record, the data sets are no neighbours under '{claim.neighbours}', and the verdict says "
        f"nothing of the claim: {first.total()} and {second.total()} records, of which {lost} of the first are not in "
        f"the second and {added} of the second are not in the first.",
    )


def _records_of(pair: tuple[Any, Any]) -> tuple[list[str], list[str]] | None:
    """Return the records of two data sets as texts; None where their records are not evident."""
    first, second = map(_listed, pair)
    if first is None or second is None or max(len(first), len(second)) > _MOST_RECORDS:
        return None
    return list(map(_shown, first)), list(map(_shown, second))


def _listed(data: Any) -> list[Any] | None:
    """Return the records of a list, an array or a data frame, and None for other data."""
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return list(data.itertuples(index=False, name=None))
    if isinstance(data, np.ndarray):
        return data.tolist() if data.ndim else None
    return data if isinstance(data, list) else None


def _shown(record: Any) -> str:
    """Return one text for equal records: 1, 1.0 and an array of them are the same number, NaN is NaN."""
    plain = record.tolist() if hasattr(record, "tolist") else record
    if isinstance(plain, list | tuple):
        return f"({', '.join(map(_shown, plain))})"
    return repr(float(plain)) if isinstance(plain, int) and abs(plain) < 1 << 53 else repr(plain)
