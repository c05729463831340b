"""Noise that is rounded after data are added: on equal random numbers outputs differ by a constant, but for rounding.

The set of floating-point numbers that can come out then depends on the data, whatever the law of the noise.
"""

from typing import Any

import numpy as np

from audits.outputs.calls import CallRaisedError, called
from audits.outputs.conversion import columns_of
from audits.outputs.fields import NUMBER
from dpaudit import DPAuditError
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

_STREAM, _MOST = 7_307, 4_000
_LAST_PLACES, _SHARE = 8.0, 0.9
_LARGEST = 1e300


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
    size = min(_MOST, runs)
    if size < 1:
        return False
    try:
        first, second = (
            columns_of(called(run, data, np.random.default_rng(_STREAM), size), size) for data in neighbours
        )
    except (CallRaisedError, DPAuditError, ValueError):
        return False
    return any(
        _apart_by_rounding(ours, theirs)
        for name in first
        if name.startswith(NUMBER) and name in second
        for ours, theirs in zip(first[name].T, second[name].T, strict=False)
    )


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
