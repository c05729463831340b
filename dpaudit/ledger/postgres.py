"""The store in a PostgreSQL table through SQLAlchemy Core, for writers on many machines."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dpaudit.errors import LedgerError, UnsupportedError
from dpaudit.ledger.entry import Entry
from dpaudit.ledger.store import Writing

_TURN = 0x6470617564697401
"""The number of the advisory lock under which the table is made."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS dpaudit_ledger (sequence BIGINT PRIMARY KEY, entry TEXT NOT NULL)",
    "CREATE OR REPLACE FUNCTION dpaudit_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$",
    "CREATE OR REPLACE TRIGGER dpaudit_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dpaudit_ledger "
    "FOR EACH STATEMENT EXECUTE FUNCTION dpaudit_ledger_refuse()",
)


class PostgresStore:
    """Entries in a table of a PostgreSQL database.

    Writers take turns: each transaction locks the table against other writers before it reads. An address with a
    password is never printed; PGPASSWORD or a password file keeps it out of the command line altogether.
    Raises: UnsupportedError: SQLAlchemy or psycopg is missing. LedgerError: the database cannot be reached.
    """

    def __init__(self, address: str) -> None:
        try:
            import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]
            import sqlalchemy
            from sqlalchemy.exc import ArgumentError
        except ImportError as error:
            raise UnsupportedError(
                f"A ledger in PostgreSQL needs {error.name}; install it with: pip install 'dpaudit[postgres]'."
            ) from None
        try:
            url = sqlalchemy.make_url(address).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):  # a port that is no number
            raise LedgerError(
                "Expected an address postgresql://user@host:port/database; this one is malformed."
            ) from None
        self._shown = url.render_as_string(hide_password=True)
        self._sql: Any = sqlalchemy
        self._engine: Any = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
        self._table = sqlalchemy.Table(
            "dpaudit_ledger",
            sqlalchemy.MetaData(),
            sqlalchemy.Column("sequence", sqlalchemy.BigInteger, primary_key=True),
            sqlalchemy.Column("entry", sqlalchemy.Text, nullable=False),
        )
        self._prepare()

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in their order."""
        with self._transaction() as connection:
            return self._read(connection)

    def append(self, writing: Writing) -> tuple[Entry, ...]:
        """Return what was appended."""
        with self._transaction() as connection:
            connection.execute(self._sql.text("LOCK TABLE dpaudit_ledger IN EXCLUSIVE MODE"))
            before = self._read(connection)
            added = writing(before)
            rows = [{"sequence": len(before) + n, "entry": entry.text} for n, entry in enumerate(added, start=1)]
            if rows:
                connection.execute(self._sql.insert(self._table), rows)
            return added

    def _read(self, connection: Any) -> tuple[Entry, ...]:
        """Return all entries."""
        rows = connection.execute(self._sql.select(self._table.c.entry).order_by(self._table.c.sequence))
        return tuple(Entry(text=row[0]) for row in rows)

    def _prepare(self) -> None:
        """Make the table and the trigger that keeps it append-only, unless another process has made it."""
        with self._transaction() as connection:
            if self._sql.inspect(connection).has_table("dpaudit_ledger"):
                return
            connection.execute(self._sql.text(f"SELECT pg_advisory_xact_lock({_TURN})"))
            for statement in _SCHEMA:
                connection.execute(self._sql.text(statement))

    @contextmanager
    def _transaction(self) -> Generator[Any, None, None]:
        """Yield a connection whose work is committed at the end, or not at all."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except self._sql.exc.SQLAlchemyError as error:
            cause = " ".join(str(getattr(error, "orig", None) or error).split())
            raise LedgerError(f"{self._shown}: cannot be used as a ledger ({cause:.300}).") from None
