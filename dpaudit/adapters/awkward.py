"""Awkward neighbours beside the worst ones: empty, extreme, not a number, of zero width, with a category on one side.

Each is a pair of neighbours in the relation of the release, so that the library's claim covers it.
"""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from dpaudit.model.claim import Neighbours

AwkwardPair: TypeAlias = tuple[str, Any, Any]
"""What is awkward, and two neighbouring data sets."""

FAR, _LARGE, COUNT = 1e300, 2.0**40, 2**31 - 1
NEW = "a category of one record"


def awkward_values(pair: tuple[Any, Any]) -> tuple[AwkwardPair, ...]:
    """Return pairs of single numbers as far apart as those of `pair`: large ones, and such around zero.

    Edge cases: nothing for values that are no numbers, and no pair that rounding moves further apart.

    >>> awkward_values((0.0, 1.0))
    (('large values', 1099511627776.0, 1099511627777.0), ('around zero', -0.5, 0.5))
    """
    first, second = pair
    if any(not isinstance(value, Real) or isinstance(value, bool) for value in pair):
        return ()
    gap, kind = float(second) - float(first), type(first)
    if not 0 < abs(gap) < _LARGE or (kind is int and not gap.is_integer()):
        return ()
    pairs = [("large values", kind(_LARGE), kind(_LARGE + gap))]
    if kind is not int:
        pairs.append(("around zero", kind(-gap / 2), kind(gap / 2)))
    return tuple(candidate for candidate in pairs if abs(float(candidate[2]) - float(candidate[1])) <= abs(gap))


def awkward_records(
    pair: tuple[Any, Any], neighbours: Neighbours, holds: Callable[[Any], bool] | None = None
) -> tuple[AwkwardPair, ...]:
    """Return pairs of lists or arrays of numbers or texts, of the kind of `pair`, that differ in one record.

    Under add-remove one record is added, also to no records; under replace-one the last of as many equal records as
    `pair` has is replaced. `holds` says whether a data set lies in the library's domain: other pairs are left out.
    Edge cases: nothing for data of other forms, whose neighbours are not known here.

    >>> [name for name, _, _ in awkward_records(([0.0, 1.0], [0.0]), "add_remove")]
    ['empty', 'zero width', 'extreme', 'not a number']
    >>> awkward_records((["a"], ["b"]), "replace_one")
    (('category on one side', ['a'], ['a category of one record']),)
    """
    records = [_records(data) for data in pair]
    all_records = [record for one_side in records if one_side is not None for record in one_side]
    if any(one_side is None for one_side in records) or not all_records:
        return ()
    size = max(len(one_side) for one_side in records if one_side is not None)
    pairs: list[tuple[str, list[Any], list[Any]]] = []
    if neighbours == "add_remove":
        pairs.append(("empty", [], [all_records[0]]))
    for name, usual, odd in _odd(all_records):
        usuals = [usual] * (size - 1 if neighbours == "replace_one" else size)
        pairs.append((name, [*usuals, usual] if neighbours == "replace_one" else usuals, [*usuals, odd]))
    made = [(name, _like(pair, first), _like(pair, second)) for name, first, second in pairs]
    return tuple(candidate for candidate in made if holds is None or _both(holds, candidate))


def awkward_rows(pair: tuple[Any, Any]) -> tuple[AwkwardPair, ...]:
    """Return pairs of lists of rows (privacy id, partition, value) of which one has a user more.

    >>> [name for name, _, _ in awkward_rows(([(1, "a", 2.0)], [(1, "a", 2.0), (2, "a", 2.0)]))]
    ['empty', 'extreme', 'not a number', 'category on one side']
    """
    rows = [row for data in pair for row in data]
    if not rows or any(not isinstance(row, tuple) or len(row) != 3 for row in rows):
        return ()
    _, key, value = rows[0]
    base, user = list(pair[0]) or [rows[0]], "a user of one data set"
    pairs: list[AwkwardPair] = [("empty", [], [(user, key, value)])]
    if isinstance(value, Real):
        odd = (("extreme", FAR), ("not a number", math.nan))
        pairs += [(name, base, [*base, (user, key, number)]) for name, number in odd]
    if isinstance(key, str):
        pairs.append(("category on one side", base, [*base, (user, NEW, value)]))
    return tuple(pairs)


def _records(data: Any) -> list[Any] | None:
    """Return the records of a list or a one-dimensional array of numbers or of texts; None for other data."""
    if isinstance(data, np.ndarray) and data.ndim != 1:
        return None
    if not isinstance(data, list | tuple | np.ndarray):
        return None
    records = list(data)
    texts = all(isinstance(record, str) for record in records)
    numbers = all(isinstance(record, Real) and not isinstance(record, bool | np.bool_) for record in records)
    return records if texts or numbers else None


def _odd(records: list[Any]) -> tuple[tuple[str, Any, Any], ...]:
    """Return what is awkward about one record, a usual record, and the awkward one."""
    if isinstance(records[0], str):
        return (("category on one side", records[0], NEW),)
    low, high = min(records), max(records)
    width = (("zero width", low, high),) if low < high else ()
    if all(isinstance(record, int | np.integer) for record in records):
        return (*width, ("extreme", low, COUNT))
    return (*width, ("extreme", low, FAR), ("not a number", low, math.nan))


def _like(pair: tuple[Any, Any], records: list[Any]) -> Any:
    """Return records in the form of the data of `pair`."""
    model = pair[0] if len(pair[0]) else pair[1]
    if isinstance(model, np.ndarray):
        return np.array(records, dtype=model.dtype)
    return tuple(records) if isinstance(model, tuple) else records


def _both(holds: Callable[[Any], bool], pair: AwkwardPair) -> bool:
    """Return whether both data sets are known to lie in the domain; a library that cannot read one says no."""
    try:
        return bool(holds(pair[1])) and bool(holds(pair[2]))
    except Exception:  # a library's own error about data that it cannot read
        return False
