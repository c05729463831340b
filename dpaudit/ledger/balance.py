"""Reading the whole chain again: what is spent, and whether every line is as it was written."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dpaudit.accounting.additive_costs import Cost
from dpaudit.budgets.filters import Filter
from dpaudit.budgets.odometers import Odometer
from dpaudit.errors import LedgerError
from dpaudit.ledger.account import Account
from dpaudit.ledger.entry import GENESIS, Entry, digest_of
from dpaudit.ledger.pricing import decode_prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What is wrong with one entry: a rule's name, the entry's number, and a sentence."""

    rule: str
    sequence: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An account after some bookings; `alive` are the filters that consented to all of them."""

    account: Account
    alive: tuple[Filter, ...]
    bookings: tuple[dict[str, Any], ...] = ()

    def after(self, prices: dict[str, Cost]) -> tuple[Filter, ...]:
        """Return the filters that consent to one more part; none where it would overspend."""
        kept: list[Filter] = []
        for one in self.alive:
            cost = prices.get(one.theorem.name)
            if cost is not None and (one.spent + cost).within(one.limit):
                kept.append(replace(one, spent=one.spent + cost, events=one.events + 1))
        return tuple(kept)

    def share(self, one: Filter) -> float:
        """Return the larger share of its limit that a filter has spent, by amount or by mass."""
        sides = ((one.spent.amount, one.limit.amount), (one.spent.mass, one.limit.mass))
        return max(float(part / whole) if whole else 0.0 for part, whole in sides)

    def reading(self, one: Filter) -> float:
        """Return an upper bound on epsilon spent so far at the filter's delta, true at every moment at once."""
        if one.theorem.name == "basic":
            return math.nextafter(float(one.spent.amount), math.inf) if one.spent.amount else 0.0
        if not one.spent.amount:
            return 0.0
        halved = one.theorem.name == "Gaussian"
        rho = Cost(amount=one.spent.amount / (2 if halved else 1), mass=one.spent.mass)
        return Odometer(
            delta=one.claim.delta - one.mass,
            neighbours=one.claim.neighbours,
            model=one.claim.model,
            mass=one.mass,
            tuned_to=float(one.limit.amount) / (2 if halved else 1),
            spent=rho,
            spent_epsilon=None,
        ).reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a ledger says: its accounts, how many entries it has, the last digest, and what is wrong."""

    accounts: dict[str, Balance] = field(default_factory=dict)
    entries: int = 0
    head: str = GENESIS
    complaints: tuple[Complaint, ...] = ()


def replay(entries: Iterable[Entry]) -> Statement:
    """Return what a chain of entries says, reading every line again; it goes on after a fault to find the others.

    Guarantee: without complaints, each entry hashes to its digest and names that of the one before, numbers run from 1
    without a gap, and no account ever spent more than its budget. What was cut off at the end does not show: keep the
    last digest elsewhere and compare.
    """
    accounts: dict[str, Balance] = {}
    complaints: list[Complaint] = []
    head, place = GENESIS, 0
    for place, entry in enumerate(entries, start=1):
        try:
            data = entry.data
        except LedgerError as error:
            complaints.append(Complaint(rule="DPA501", sequence=place, message=f"Unreadable: {error}."))
            head = "unknown"
            continue
        complaints += _links(data, place, head)
        head = data["digest"]
        try:
            _apply(data, accounts)
        except LedgerError as error:
            complaints.append(Complaint(rule="DPA502", sequence=place, message=str(error)))
    return Statement(accounts=accounts, entries=place, head=head, complaints=tuple(complaints))


def _links(data: dict[str, Any], place: int, head: str) -> list[Complaint]:
    """Return where an entry does not hang together with itself or with the one before."""
    faults: list[str] = []
    if data["digest"] != digest_of(data):
        faults.append("The content does not hash to the digest; the entry was altered.")
    if data["previous"] != head and head != "unknown":
        faults.append("The entry does not follow the one before it; one was altered, removed or put between.")
    if data["sequence"] != place:
        faults.append(f"The entry calls itself number {data['sequence']!r:.20}.")
    return [Complaint(rule="DPA501", sequence=place, message=fault) for fault in faults]


def _apply(data: dict[str, Any], accounts: dict[str, Balance]) -> None:
    """Carry out one entry on the accounts."""
    name, body = data["account"], data["body"]
    if data["kind"] == "open":
        if name in accounts:
            raise LedgerError(f"The account {name!r} is opened twice.")
        account = Account.from_dict(body)
        if account.name != name:
            raise LedgerError(f"The entry for {name!r} opens {account.name!r}.")
        accounts[name] = Balance(account=account, alive=account.filters())
        return
    if name not in accounts:
        raise LedgerError(f"There is no account {name!r} to book on.")
    if not {"label", "certificate", "claim", "prices"} <= set(body):
        raise LedgerError("The booking lacks its label, its certificate, its claim or its prices.")
    held = accounts[name]
    alive = held.after(decode_prices(body["prices"]))
    if not alive:
        raise LedgerError(f"The booking overspends the account {name!r}.")
    booking = body | {"sequence": data["sequence"], "created": data["created"]}
    accounts[name] = replace(held, alive=alive, bookings=(*held.bookings, booking))


def balance_data(balance: Balance) -> dict[str, Any]:
    """Return an account as plain data: its budget, each theorem's count, and the bookings.

    A theorem that has refused a booking counts no more; `counting` says which still do.
    """
    alive = {one.theorem.name for one in balance.alive}
    return {
        **balance.account.to_dict(),
        "counts": [
            {
                "theorem": one.theorem.name,
                "delta": one.claim.delta,
                "spent": float(one.spent.amount),
                "limit": float(one.limit.amount),
                "mass_spent": float(one.spent.mass),
                "mass_limit": float(one.limit.mass),
                "share": balance.share(one),
                "epsilon_so_far": balance.reading(one),
                "source": one.theorem.source,
            }
            for one in balance.alive
        ],
        "stopped": [one.theorem.name for one in balance.account.filters() if one.theorem.name not in alive],
        "bookings": [
            {key: booking[key] for key in ("sequence", "label", "created", "certificate", "claim")}
            for booking in balance.bookings
        ],
    }
