"""A store of finished chunks in SQLite: an interrupted audit continues and loses one chunk at most."""

import io
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audits.experiment.execution import Observed

_FIELD = "field:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStore:
    """Labels and scores of finished chunks, keyed by phase and index; it stores arrays, never code.

    `key` names what was run (case, seed, runs, chunk size): chunks under another key are ignored.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ChunkStore(path=Path(folder) / "runs.sqlite", key="case, seed 0").load("count", 0) is None
    True
    """

    path: Path
    key: str

    def load(self, phase: str, index: int) -> Observed | None:
        """Return the stored chunk, or None where there is none."""
        with self._connected() as connection:
            row = connection.execute(
                "SELECT labels, kept FROM chunks WHERE key = ? AND phase = ? AND place = ?", (self.key, phase, index)
            ).fetchone()
        return None if row is None else Observed(labels=_unpacked(row[0]), kept=_unpacked(row[1]))

    def save(self, phase: str, index: int, observed: Observed) -> None:
        """Store one chunk of arrays of numbers, or of dicts of them; it is on disk when this returns.

        Raises: ValueError: the chunk holds anything else.
        """
        with self._connected() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?)",
                (self.key, phase, index, _blob(observed.labels), _blob(observed.kept)),
            )

    def _connected(self) -> "_Session":
        """Return a session that commits and closes."""
        return _Session(self.path)


class _Session:
    """One connection, committed and closed at the end."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, timeout=60)
        self.connection.execute(
            "CREATE TABLE IF NOT EXISTS chunks "
            "(key TEXT, phase TEXT, place INTEGER, labels BLOB, kept BLOB, PRIMARY KEY (key, phase, place))"
        )

    def __enter__(self) -> sqlite3.Connection:
        return self.connection

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.connection.commit()
        self.connection.close()


def _blob(data: Any) -> bytes:
    """Return an array of numbers, or a dict of them, as bytes, without pickling."""
    buffer = io.BytesIO()
    try:
        if isinstance(data, Mapping):
            np.savez(buffer, allow_pickle=False, **{f"{_FIELD}{name}": np.asarray(data[name]) for name in data})
        else:
            np.save(buffer, np.asarray(data), allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"Expected outputs that are arrays of numbers, which alone can be stored ({error}).") from None
    return buffer.getvalue()


def _unpacked(blob: bytes) -> Any:
    """Return what `_blob` wrote."""
    loaded = np.load(io.BytesIO(blob), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    return {name.removeprefix(_FIELD): loaded[name] for name in loaded.files}
