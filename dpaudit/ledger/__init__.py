"""Budgets over time: what certificates have spent of a data set, in an append-only chain that many may write to."""

from dpaudit.ledger.account import Account, Rule
from dpaudit.ledger.balance import Balance, Complaint, Statement, replay
from dpaudit.ledger.entry import Entry
from dpaudit.ledger.ledger import Booked, Ledger
from dpaudit.ledger.store import Store, store_at

__all__ = [
    "Account",
    "Balance",
    "Booked",
    "Complaint",
    "Entry",
    "Ledger",
    "Rule",
    "Statement",
    "Store",
    "replay",
    "store_at",
]
