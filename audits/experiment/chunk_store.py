"""A store of finished chunks in SQLite: an interrupted audit continues and loses one chunk at most."""

import hashlib
import io
import sqlite3
import warnings
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audits.experiment.execution import Observed

_FIELD = "field:"


class StoreWarning(UserWarning):
    """A chunk of a store is damaged or could not be kept."""


class UnusableStoreWarning(StoreWarning):
    """The file of a store cannot be read or written: a killed audit would not go on from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStore:
    """Labels and scores of finished chunks, keyed by phase and index; it stores arrays, never code.

    `key` is the caller's name for the audit: chunks under another key are ignored. An audit adds a content address
    (`audits.experiment.identity`), so that chunks of other code, data, seeds, versions or budgets are never used.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ChunkStore(path=Path(folder) / "runs.sqlite", key="case, seed 0").load("count", 0) is None
    True
    """

    path: Path
    key: str

    def under(self, address: str) -> "ChunkStore":
        """Return the part of the store that belongs to a content address; all else in it is ignored."""
        return replace(self, key=f"{self.key}\n{address}")

    def load(self, phase: str, index: int) -> Observed | None:
        """Return the stored chunk, or None where there is none.

        A chunk whose checksum does not match, and a file that SQLite cannot read, count as missing, with a warning.
        """
        try:
            with self._connected() as connection:
                row = connection.execute(
                    "SELECT labels, kept, checksum FROM checked WHERE key = ? AND phase = ? AND place = ?",
                    (self.key, phase, index),
                ).fetchone()
            if row is None:
                return None
            if row[2] == self._checksum(phase, index, row[0], row[1]):
                return Observed(labels=_unpacked(row[0]), kept=_unpacked(row[1]))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._warn(f"it cannot be read ({error})", UnusableStoreWarning)
            return None
        self._warn(f"chunk {index} of {phase!r} is damaged")
        return None

    def save(self, phase: str, index: int, observed: Observed) -> None:
        """Store one chunk of arrays of numbers, or of dicts of them; it is on disk when this returns.

        If the file cannot be written (a full disk, a damaged file), its content stays unchanged, and a warning says so.
        Raises: ValueError: the chunk holds anything else.
        """
        labels, outputs = _blob(observed.labels), _blob(observed.kept)
        row = (self.key, phase, index, labels, outputs, self._checksum(phase, index, labels, outputs))
        try:
            with self._connected() as connection:
                connection.execute("INSERT OR REPLACE INTO checked VALUES (?, ?, ?, ?, ?, ?)", row)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._warn(f"chunk {index} of {phase!r} was not kept ({error})", UnusableStoreWarning)

    def seed(self, fresh: int) -> int:
        """Return the seed that the store holds under this key; `fresh` is kept where it holds none.

        Of several processes that ask at once, all get the seed of the first. A store that cannot be read or written
        gives `fresh`, with a warning.
        """
        try:
            with self._connected() as connection:
                connection.execute("INSERT OR IGNORE INTO seeds VALUES (?, ?)", (self.key, str(fresh)))
                row = connection.execute("SELECT seed FROM seeds WHERE key = ?", (self.key,)).fetchone()
            return int(row[0])
        except (sqlite3.Error, UnicodeDecodeError, TypeError, ValueError) as error:
            self._warn(f"its seed cannot be read or kept ({error})", UnusableStoreWarning)
            return fresh

    def _checksum(self, phase: str, index: int, labels: object, outputs: object) -> str:
        """Return the SHA-256 over a chunk and its place."""
        digest = hashlib.sha256()
        for part in (self.key, phase, index, labels, outputs):
            data = part if isinstance(part, bytes) else repr(part).encode()
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        return digest.hexdigest()

    def _warn(self, what: str, kind: type[StoreWarning] = StoreWarning) -> None:
        """Say that something in the store is not used."""
        warnings.warn(f"{self.path}: {what}; its runs are made again.", kind, stacklevel=3)

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection, None, None]:
        """Yield a connection that is committed if nothing is raised, and closed."""
        with closing(sqlite3.connect(self.path, timeout=60)) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS checked (key TEXT, phase TEXT, place INTEGER, labels BLOB, kept BLOB, "
                "checksum TEXT, PRIMARY KEY (key, phase, place))"
            )
            connection.execute("CREATE TABLE IF NOT EXISTS seeds (key TEXT PRIMARY KEY, seed TEXT)")
            yield connection


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
