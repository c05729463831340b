"""The choice of a store from its address: a SQLite file or a PostgreSQL database."""

from pathlib import Path

from dpaudit.errors import LedgerError
from dpaudit.ledger.postgres import PostgresStore
from dpaudit.ledger.sqlite import SqliteStore
from dpaudit.ledger.store import Store


def store_at(address: str, *, create: bool = False) -> Store:
    """Return the store at a file (SQLite) or at an address that starts with `postgresql`.

    Raises: LedgerError: there is no ledger and `create` is not set, or the store cannot be reached.
    """
    if address.startswith(("postgresql:", "postgresql+")):
        return PostgresStore(address)
    if "://" in address:
        kind = address.partition(":")[0]
        raise LedgerError(f"Expected a file or an address postgresql://..., got one of {kind!r:.40}.")
    path = Path(address)
    if not address.strip() or "\x00" in address or path.is_dir():
        raise LedgerError(f"Expected {address!r:.80} to be a file or an address postgresql://...")
    if create and not path.parent.is_dir():
        raise LedgerError(f"{path.parent}: there is no such folder for a ledger; make it first.")
    if not create and not path.is_file():
        raise LedgerError(f"{address}: there is no ledger; `dpaudit ledger open` makes one.")
    return SqliteStore(path, create=create)
