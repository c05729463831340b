"""Columns of a data frame that a function does not read, as calls without noise show: no pair has to vary them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from audits.experiment.equality import same
from audits.experiment.replays import apart
from audits.replay.one_call import QUIET, Call, Player
from audits.replay.record_values import special_values, strange_values
from audits.replay.records import records_of
from dpaudit import DPAuditError

_FEWEST, _BESIDE = 2, 2
"""A frame of fewer columns is not looked at; so many columns that are read hold another value beside the others."""


def unread_columns(player: Player, data: Any, unit: str | None) -> frozenset[str]:
    """Return the columns of a frame, other than `unit`, whose values change nothing that a call shows.

    Each column holds one value in all rows: extreme, rare, common, missing, and values that no record has. Output,
    exception, draws with their scales, and what is shown beside are compared. None for other data, and where the
    outputs cannot be read.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"town": ["Uri", "Genf"], "pay": [3.0, 4.0]})
    >>> sorted(unread_columns(Player(run=lambda data, rng, n_runs: [data["pay"].sum()]), frame, None))
    ['town']
    """
    if len(getattr(data, "columns", ())) < _FEWEST or not hasattr(data, "iloc"):
        return frozenset()
    columns = {name: values for name, values in records_of(data).columns.items() if name != unit}
    with suppress(DPAuditError, ValueError, TypeError):
        read = _changing(player, data, columns)
        for changed in tuple(read.values())[:_BESIDE]:  # a column may matter beside such a value of another one
            read |= _changing(player, changed, {name: values for name, values in columns.items() if name not in read})
        return frozenset(columns) - frozenset(read)
    return frozenset()


def _changing(player: Player, data: Any, columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return the columns of which some value in all rows changes what a call shows, each with such a frame."""
    usual = player.watched(data, QUIET, traced=False)
    frames = ((name, frame) for name, values in columns.items() for frame in _other(data, name, values))
    changing: dict[str, Any] = {}
    for name, frame in frames:
        if name not in changing and _apart(usual, player.watched(frame, QUIET, traced=False)):
            changing[name] = frame
    return changing


def _other(data: Any, column: str, values: list[Any]) -> Iterator[Any]:
    """Yield frames with one value in all rows of a column."""
    name = next(name for name in data.columns if str(name) == column)
    for value in (*special_values(values), *(value for _, value in strange_values(values))):
        with suppress(TypeError, ValueError, OverflowError):
            frame = data.copy()
            frame[name] = [value] * len(data)
            frame[name] = frame[name].astype(data[name].dtype)
            yield frame


def _apart(left: Call, right: Call) -> bool:
    """Return whether two calls show something that differs."""
    return any(
        apart(first, second, same)
        for first, second in ((left.columns, right.columns), (left.facts, right.facts), (left.channels, right.channels))
    )
