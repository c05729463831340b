"""Where entries are kept: anything that lists them and appends one at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from dpaudit.errors import LedgerError
from dpaudit.ledger.entry import Entry

Writing = Callable[[tuple[Entry, ...]], tuple[Entry, ...]]
"""Given all entries so far, which are to be appended (none to leave everything as it is)."""


class Store(Protocol):
    """An ordered, append-only list of entries."""

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in their order, as of one moment."""
        ...

    def append(self, writing: Writing) -> tuple[Entry, ...]:
        """Return what was appended: `writing` sees all entries while nobody else can add one.

        Guarantee: either all entries that it returns are kept for good, or none is.
        """
        ...


def store_at(place: str, *, create: bool = False) -> Store:
    """Return the store at a file (SQLite) or at an address that starts with `postgresql`.

    Raises: LedgerError: there is none and `create` is not set, or it cannot be reached.
    """
    if place.startswith("postgresql"):
        from dpaudit.ledger.postgres import PostgresStore

        return PostgresStore(place)
    if "://" in place:
        kind = place.partition(":")[0]
        raise LedgerError(f"Expected a file or an address postgresql://..., got one of {kind!r:.40}.")
    from dpaudit.ledger.sqlite import SqliteStore

    path = Path(place)
    if not create and not path.is_file():
        raise LedgerError(f"{place}: there is no ledger; `dpaudit ledger open` makes one.")
    return SqliteStore(path, create=create)
