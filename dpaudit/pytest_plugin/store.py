"""The store of evidence in SQLite: plain JSON and numbers, so that reading a file runs no code of it."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.errors import ConfigError

_TABLES = """
CREATE TABLE IF NOT EXISTS budget (significance REAL NOT NULL);
CREATE TABLE IF NOT EXISTS checks (
  place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT '', times INTEGER NOT NULL DEFAULT 0, refuted TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS seeds (
  place INTEGER NOT NULL, seed TEXT NOT NULL, runs INTEGER NOT NULL, PRIMARY KEY (place, seed));
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceEntry:
    """One check in the store: its place in the order of first sight, its evidence, how often it ran, how it ended."""

    place: int
    state: Any
    times: int
    refuted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceStore:
    """A file of evidence with one budget for all that it ever holds; several processes may share it.

    Raises: ConfigError: on use: no such folder, no such database, or a file that was started with another budget.
    """

    path: Path
    significance: float

    def entry(self, key: str, name: str) -> EvidenceEntry:
        """Return the entry of `key`, made at the next place if it is new."""
        with self._session() as connection:
            query = "SELECT place, state, times, refuted FROM checks WHERE key = ?"
            row = connection.execute(query, (key,)).fetchone()
            if row is None:
                connection.execute("INSERT INTO checks (key, name) VALUES (?, ?)", (key, name))
                row = connection.execute(query, (key,)).fetchone()
        number, state, times, refuted = row
        return EvidenceEntry(place=number, state=self._read(state), times=times, refuted=refuted)

    def keep(self, entry: EvidenceEntry, state: Any, *, seed: int, runs: int, refuted: str) -> bool:
        """Return whether the new evidence was kept: not if another process added to the same check meanwhile."""
        text = json.dumps(state, allow_nan=False)
        with self._session() as connection:
            updated = connection.execute(
                "UPDATE checks SET state = ?, refuted = ?, times = times + 1 WHERE place = ? AND times = ?",
                (text, refuted, entry.place, entry.times),
            ).rowcount
            if updated:
                connection.execute("INSERT INTO seeds VALUES (?, ?, ?)", (entry.place, str(seed), runs))
        return bool(updated)

    def _read(self, state: str) -> Any:
        """Return stored evidence as plain data, None where there is none yet."""
        try:
            return json.loads(state) if state else None
        except (ValueError, RecursionError):
            raise ConfigError(f"{self.path}: its evidence is no JSON; move the file away to start anew.") from None

    @contextmanager
    def _session(self) -> Generator[sqlite3.Connection, None, None]:
        """Yield a connection inside one transaction that keeps other writers out."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise ConfigError(f"{self.path}: cannot be opened as a file of evidence ({error}).") from None
        try:
            connection.execute("BEGIN IMMEDIATE")
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            self._require_budget(connection)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise ConfigError(
                f"{self.path}: not a usable file of evidence ({error}); name another one or move it away."
            ) from None
        finally:
            connection.close()

    def _require_budget(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that was started with another budget: its shares were cut from that one."""
        row = connection.execute("SELECT significance FROM budget").fetchone()
        if row is None:
            connection.execute("INSERT INTO budget VALUES (?)", (self.significance,))
        elif row[0] != self.significance:
            raise ConfigError(
                f"{self.path}: was started with dp_significance = {row[0]}, not {self.significance}; "
                "a budget holds for the life of its file. Name another file, or keep the budget."
            )
