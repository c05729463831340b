"""Budgets over time: bookings of certificates on a data set, in an append-only chain with several writers."""

from dpaudit.ledger.account import Account, Rule
from dpaudit.ledger.balance import Balance, EntryFinding, Statement, recompute
from dpaudit.ledger.entry import Entry
from dpaudit.ledger.ledger import Booking, Ledger
from dpaudit.ledger.opening import store_at
from dpaudit.ledger.store import Store

__all__ = [
    "Account",
    "Balance",
    "Booking",
    "Entry",
    "EntryFinding",
    "Ledger",
    "Rule",
    "Statement",
    "Store",
    "recompute",
    "store_at",
]
