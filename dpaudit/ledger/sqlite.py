"""The store in one SQLite file, for any number of writers on one machine."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpaudit.errors import LedgerError
from dpaudit.ledger.entry import Entry
from dpaudit.ledger.store import Writing

_PATIENCE = 120.0

_TABLE = "CREATE TABLE IF NOT EXISTS dpaudit_ledger (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL)"
_TRIGGERS = (
    "CREATE TRIGGER IF NOT EXISTS dpaudit_ledger_no_update BEFORE UPDATE ON dpaudit_ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "CREATE TRIGGER IF NOT EXISTS dpaudit_ledger_no_delete BEFORE DELETE ON dpaudit_ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "CREATE TRIGGER IF NOT EXISTS dpaudit_ledger_no_replace BEFORE INSERT ON dpaudit_ledger "
    "WHEN NEW.sequence <= (SELECT COALESCE(MAX(sequence), 0) FROM dpaudit_ledger) "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
)


@dataclass(frozen=True, slots=True)
class SqliteStore:
    """Entries in a file.

    A writer takes the write lock before it reads, so that writers take turns. Each commit is on the disk before it
    returns: a killed process loses only what it had not committed. `create` makes the table in a new or empty file.
    """

    path: Path
    create: bool = False

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in their order, once SQLite has checked its own pages."""
        with self._connection() as connection:
            pages = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            if pages != ["ok"]:
                raise LedgerError(f"{self.path}: the file is damaged ({str(pages[0])[:80]}); restore an export.")
            return _read(connection)

    def append(self, writing: Writing) -> tuple[Entry, ...]:
        """Return what was appended."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _guard(connection)
                before = _read(connection)
                added = writing(before)
                rows = [(number, entry.text) for number, entry in enumerate(added, start=len(before) + 1)]
                connection.executemany("INSERT INTO dpaudit_ledger (sequence, entry) VALUES (?, ?)", rows)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return added

    @contextmanager
    def _connection(self) -> Generator[sqlite3.Connection, None, None]:
        """Yield a connection to a file that has the table; it is closed afterwards."""
        connection: sqlite3.Connection | None = None
        try:
            path = self.path.absolute()  # a name like ":memory:" alone would be no file
            connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            connection.execute("PRAGMA synchronous = FULL")
            self._require_table(connection)
            yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes damaged text in its own messages
            raise LedgerError(f"{self.path}: cannot be used as a ledger ({error}).") from None
        finally:
            if connection is not None:
                connection.close()

    def _require_table(self, connection: sqlite3.Connection) -> None:
        """Make the table and what keeps it append-only in an empty file; refuse any other file without it."""
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if "dpaudit_ledger" in names:
            return
        if names or not self.create:
            raise LedgerError(f"{self.path}: no ledger is in this file; `dpaudit ledger open` makes one in a new file.")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        _guard(connection)
        connection.execute("COMMIT")


def _guard(connection: sqlite3.Connection) -> None:
    """Add the triggers that the file lacks; the entries stay as they are."""
    for trigger in _TRIGGERS:
        connection.execute(trigger)


def _read(connection: sqlite3.Connection) -> tuple[Entry, ...]:
    """Return all entries; a row that is no text, or has another number than its place, is no entry."""
    rows = enumerate(connection.execute("SELECT sequence, entry FROM dpaudit_ledger ORDER BY sequence"), start=1)
    return tuple(
        Entry(text=row[1] if isinstance(row[1], str) and row[0] == number else repr(row)) for number, row in rows
    )
