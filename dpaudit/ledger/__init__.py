"""Budgets over time: bookings of certificates on a data set, in an append-only chain with several writers."""

from dpaudit.ledger.account import Account as Account
from dpaudit.ledger.account import Rule as Rule
from dpaudit.ledger.balance import Balance as Balance
from dpaudit.ledger.balance import EntryFinding as EntryFinding
from dpaudit.ledger.balance import Statement as Statement
from dpaudit.ledger.balance import recompute as recompute
from dpaudit.ledger.entry import Entry as Entry
from dpaudit.ledger.ledger import Booking as Booking
from dpaudit.ledger.ledger import Ledger as Ledger
from dpaudit.ledger.opening import store_at as store_at
from dpaudit.ledger.store import Store as Store
