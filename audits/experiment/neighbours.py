"""Remarks on two given data sets that may be no neighbours."""

from collections import Counter
from typing import Any

import numpy as np

from dpaudit import Claim

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
