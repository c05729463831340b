"""Numbers whose form follows the data: their type, or how many bits they use, whatever their values are.

No noise covers a form: single precision for one data set and double precision for the other tell both apart in one run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from audits.outputs.bits import used_bits
from audits.outputs.calls import CallRaisedError, Raised, called
from audits.outputs.conversion import columns_of
from audits.outputs.fields import NUMBER, Fields
from dpaudit import DPAuditError
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

_STREAM, _MOST = 6_101, 64
COARSE = 40
"""Noise in doubles uses so few of 53 bits in one number of 2^13."""

_DISTINCT = 16


def types_apart(outcomes: list[list[Any]]) -> tuple[str, ...]:
    """Return the names of arrays whose type of numbers is another one in every run of the second data set.

    `outcomes` holds the outputs of some single runs of each data set.

    >>> types_apart([[np.zeros(1)] * 2, [np.zeros(1, dtype=np.float32)] * 2])
    ('the output',)
    """
    sides: list[dict[str, set[str]]] = []
    for returned in outcomes:
        types: dict[str, set[str]] = {}
        for value in returned:
            for name, kind in _types(value, "") if not isinstance(value, Raised) else ():
                types.setdefault(name, set()).add(kind)
        sides.append(types)
    first, second = sides
    return tuple(name or "the output" for name in first if name in second and first[name].isdisjoint(second[name]))


def _types(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield (name, type of its numbers) for each array in an output."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
        yield name, value.dtype.str
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _types(part, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list | tuple):
        for part in value[:_DISTINCT]:
            yield from _types(part, name)


def precision_apart(run: Run, neighbours: tuple[Any, Any], runs: int) -> bool:
    """Return whether some number uses at most 40 bits in all runs of one data set, and more in most of the other's.

    Two calls of `runs` runs are made, of 64 at most and none below 16. Numbers of fewer than 16 distinct values are not
    looked at.
    Guarantee: doubles x + noise, whose last bits are fair, are flagged with probability below 1e-50.

    >>> def rounded(data, rng, n_runs):
    ...     noisy = data + rng.laplace(size=n_runs)
    ...     return noisy.astype(np.float32).astype(np.float64) if data else noisy
    >>> precision_apart(rounded, (0.0, 1.0), 64), precision_apart(rounded, (0.0, 0.0), 64)
    (True, False)
    """
    size = min(_MOST, runs)
    if size < _DISTINCT:
        return False
    try:
        sides = [
            columns_of(called(run, data, np.random.default_rng([_STREAM, side]), size), size)
            for side, data in enumerate(neighbours)
        ]
    except (CallRaisedError, DPAuditError, ValueError):
        return False
    return any(_coarse(column, other_column) for column, other_column in _pairs(*sides))


def _pairs(first: Fields, second: Fields) -> Iterator[tuple[Array, Array]]:
    """Yield the columns of numbers of two views, in both orders."""
    for name in (name for name in first if name.startswith(NUMBER) and name in second):
        for column, other_column in zip(first[name].T, second[name].T, strict=False):
            yield column, other_column
            yield other_column, column


def _coarse(numbers: Array, others: Array) -> bool:
    """Return whether the first numbers all use few bits, and most of the others more."""
    if min(len(np.unique(numbers)), len(np.unique(others))) < _DISTINCT:
        return False
    return bool((used_bits(numbers) <= COARSE).all() and (used_bits(others) > COARSE).mean() > 0.5)
