"""Numbers whose form follows the data, whatever their values are: their type, how many bits they use, their rounding.

No noise covers a form: single precision for one data set and double precision for the other tell both apart in one run.
Noise is rounded after data are added where, on equal random numbers, outputs differ by a constant, but for rounding:
the set of floating-point numbers that can come out then depends on the data, whatever the law of the noise.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from audits.outputs.bits import used_bits
from audits.outputs.calls import CallRaisedError, Raised, called
from audits.outputs.conversion import columns_of
from audits.outputs.fields import NUMBER
from dpaudit import DPAuditError
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

_STREAM, _MOST = 6_101, 64
_SHARED_STREAM, _MOST_ROUNDED = 7_307, 4_000
_COARSE = 40
"""Noise in doubles uses so few of 53 bits in one number of 2^13."""

_DISTINCT = 16
_LAST_PLACES, _SHARE, _LARGEST = 8.0, 0.9, 1e300


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
    columns = _columns(run, neighbours, size, ([_STREAM, 0], [_STREAM, 1]))
    return any(_coarse(ours, theirs) or _coarse(theirs, ours) for ours, theirs in columns)


def rounded_by_data(run: Run, neighbours: tuple[Any, Any], runs: int) -> bool:
    """Return whether some number is rounded by its data: the outputs of one random stream differ by rounding alone.

    One call of `runs` runs is made on each data set, of 4,000 at most, on the same stream. False says nothing: other
    numbers of draws for other data, and outputs that are no sum of data and noise, hide it.
    Guarantee: numbers on a grid that the data share, coarser than eight units in their last place, are never named.

    >>> def noisy(data, rng, n_runs):
    ...     return data + rng.laplace(size=n_runs)
    >>> def on_a_grid(data, rng, n_runs):
    ...     return np.round(noisy(data, rng, n_runs) * 2**20) / 2**20
    >>> rounded_by_data(noisy, (10.0, 11.0), 2_000), rounded_by_data(on_a_grid, (0.3, 1.1), 2_000)
    (True, False)
    """
    size = min(_MOST_ROUNDED, runs)
    columns = _columns(run, neighbours, size, (_SHARED_STREAM, _SHARED_STREAM)) if size else ()
    return any(_apart_by_rounding(ours, theirs) for ours, theirs in columns)


def _columns(run: Run, neighbours: tuple[Any, Any], size: int, seeds: tuple[Any, Any]) -> Iterator[tuple[Array, Array]]:
    """Yield each column of numbers that `size` runs give on either data set; none where outputs cannot be read."""
    try:
        first, second = (
            columns_of(called(run, data, np.random.default_rng(seed), size), size)
            for data, seed in zip(neighbours, seeds, strict=True)
        )
    except (CallRaisedError, DPAuditError, ValueError):
        return
    for name in (name for name in first if name.startswith(NUMBER) and name in second):
        yield from zip(first[name].T, second[name].T, strict=False)


def _coarse(numbers: Array, others: Array) -> bool:
    """Return whether the first numbers all use few bits, and most of the others more."""
    if min(len(np.unique(numbers)), len(np.unique(others))) < _DISTINCT:
        return False
    return bool((used_bits(numbers) <= _COARSE).all() and (used_bits(others) > _COARSE).mean() > 0.5)


def _apart_by_rounding(first: Array, second: Array) -> bool:
    """Return whether the differences of two outputs are not all equal, and nearly all are up to the last places."""
    with np.errstate(over="ignore", invalid="ignore"):
        differences = second - first
    comparable = np.isfinite(differences) & (np.maximum(np.abs(first), np.abs(second)) < _LARGEST)
    first, second, differences = first[comparable], second[comparable], differences[comparable]
    if not len(differences):
        return False
    usual = float(np.sort(differences)[len(differences) // 2])
    places = np.spacing(np.maximum(np.maximum(np.abs(first), np.abs(second)), abs(usual)))
    off = np.abs(differences - usual)
    by_rounding = (off > 0) & (off <= _LAST_PLACES * places)
    return bool(by_rounding.any() and (off <= _LAST_PLACES * places).mean() >= _SHARE)
