"""Chunks of runs in SQLite: a killed audit goes on where it stopped and loses one chunk at most."""

import io
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audits.experiment.trials import Observed

_FIELD = "field:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStore:
    """Labels and scores of finished chunks, keyed by phase and place; only arrays are stored, never code.

    `key` names what was run (case, seed, runs, chunk size): a store with other contents is not read.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ChunkStore(path=Path(folder) / "runs.sqlite", key="case, seed 0").load("count", 0) is None
    True
    """

    path: Path
    key: str

    def load(self, phase: str, place: int) -> Observed | None:
        """Return the stored chunk, or None where there is none."""
        with self._connected() as connection:
            row = connection.execute(
                "SELECT labels, kept FROM chunks WHERE key = ? AND phase = ? AND place = ?", (self.key, phase, place)
            ).fetchone()
        return None if row is None else Observed(labels=_unpacked(row[0]), kept=_unpacked(row[1]))

    def save(self, phase: str, place: int, observed: Observed) -> None:
        """Store one chunk whose kept part is an array of numbers or a dict of them; it is on disk when this returns.

        Raises: ValueError: what was kept is neither.
        """
        with self._connected() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?)",
                (self.key, phase, place, _blob(observed.labels), _blob(observed.kept)),
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


def _blob(kept: Any) -> bytes:
    """Return an array of numbers, or a dict of them, as bytes, without pickling."""
    buffer = io.BytesIO()
    try:
        if isinstance(kept, Mapping):
            np.savez(buffer, allow_pickle=False, **{f"{_FIELD}{name}": np.asarray(kept[name]) for name in kept})
        else:
            np.save(buffer, np.asarray(kept), allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"Expected outputs that are arrays of numbers, which alone can be stored ({error}).") from None
    return buffer.getvalue()


def _unpacked(blob: bytes) -> Any:
    """Return what `_blob` wrote."""
    loaded = np.load(io.BytesIO(blob), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    return {name.removeprefix(_FIELD): loaded[name] for name in loaded.files}
