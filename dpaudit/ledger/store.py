"""The port of the ledger: a protocol for stores that list entries and append to them."""

from collections.abc import Callable
from typing import Protocol

from dpaudit.ledger.entry import Entry

Writing = Callable[[tuple[Entry, ...]], tuple[Entry, ...]]
"""From all entries so far to the entries to append; none leaves the store as it is."""


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
