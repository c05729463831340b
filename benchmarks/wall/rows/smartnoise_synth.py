"""Rows of SmartNoise's synthesizers: the covariance, of which an old version dropped the clipping."""

from functools import partial
from typing import Any

from benchmarks.wall.library_files import file_of, loaded
from benchmarks.wall.row import Replay, Row, replay_row
from benchmarks.wall.rows.synthesizers import ROWS as SYNTHESIZERS
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.errors import UnsupportedError

_LIBRARY = "smartnoise-synth"
_TAIL = 50.0
"""So many noise scales are allowed for in each release: a Laplace value exceeds them with probability e^-50."""


def _covariance(*, fixed: bool) -> Replay:
    """Return how far one record outside the stated range moves a covariance, against its sensitivity.

    Raises: UnsupportedError: the installed version is the other one.
    """
    version = installed_version(_LIBRARY)
    if _is_fixed(version) is not fixed:
        raise UnsupportedError(f"The row is about {'1.0.8 or later' if fixed else '1.0.5'}; installed is {version}.")
    # its package imports what only old scikit-learn has
    covariance = loaded(file_of(_LIBRARY, "snsynth", "models", "dp_covariance.py")).DPcovariance
    frames = library_module("pandas", "pandas")
    ranges = frames.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    made = covariance(n=4, cols=["a", "b"], rng=ranges, global_eps=1.0)
    first, second = (_released(made, frames, last) for last in (0.0, 1e6))
    sensitivity = max(float(value) for value in made.sens)
    noise = sensitivity / min(float(value) for value in made.epsilon)
    return Replay(
        text="covariance of columns in (0, 1), one record at 1e6, noise allowed for",
        claimed=sensitivity + 2 * _TAIL * noise,
        seen=max(abs(one - other) for one, other in zip(first, second, strict=True)),
        version=version,
    )


def _released(made: Any, frames: Any, last: float) -> list[float]:
    """Return the covariances of four records, the last of which has both columns at `last`."""
    column = [0.0, 0.0, 0.0, last]
    return [float(value) for value in made.release(frames.DataFrame({"a": column, "b": column}))]


def _is_fixed(version: str) -> bool:
    """Return whether a version is 1.0.6 or later.

    >>> _is_fixed("1.0.5"), _is_fixed("1.0.8"), _is_fixed("1.1")
    (False, True, True)
    """
    parts = [int(part) if part.isdigit() else 0 for part in version.split(".")]
    return parts >= [1, 0, 6]


def _row(*, fixed: bool) -> Row:
    """Return the row of the covariance in the broken or in the repaired version."""
    return replay_row(
        _LIBRARY,
        f"covariance, {'1.0.8 or later' if fixed else '1.0.5'}",
        partial(_covariance, fixed=fixed),
        pair="four records, one of them at 1e6",
        source="smartnoise-sdk 622, repaired by 624",
        standing="fixed" if fixed else "known bug",
    )


ROWS = (_row(fixed=False), _row(fixed=True), *(row for row in SYNTHESIZERS if row.library == _LIBRARY))
