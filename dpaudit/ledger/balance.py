"""The statement of a chain of entries: balances of all accounts, and findings of the chain."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from dpaudit.accounting.additive_costs import Cost
from dpaudit.budgets.filters import Filter
from dpaudit.budgets.odometers import Odometer
from dpaudit.budgets.renyi import reading_at, usual_order
from dpaudit.checks import float_above
from dpaudit.errors import LedgerError
from dpaudit.ledger.account import Account
from dpaudit.ledger.booking_body import is_on_trust, require_booking
from dpaudit.ledger.entry import GENESIS, Entry
from dpaudit.ledger.pricing import decode_prices, share_of
from dpaudit.model.certificate import digest_of
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim
from dpaudit.model.trace import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFinding(Finding):
    """A finding in a chain of entries, at the entry number `sequence`, from 1.

    >>> EntryFinding.at(3, "DPA501", "The entry was altered.").where
    'entry 3'
    """

    sequence: int

    @classmethod
    def at(cls, sequence: int, rule: str, message: str) -> Self:
        """Return the finding of a rule at an entry."""
        return cls(rule=rule, where=f"entry {sequence}", message=message, sequence=sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An account after some bookings; `alive` are the filters that consented to all of them."""

    account: Account
    alive: tuple[Filter, ...]
    bookings: tuple[dict[str, Any], ...] = ()

    def after(self, prices: dict[str, Cost]) -> tuple[Filter, ...]:
        """Return the filters that consent to one more part, after it; none if the part would overspend.

        Each order, and each point of a profile, needs one filter that consents.
        """
        consenting: list[Filter] = []
        for spending in self.alive:
            cost = prices.get(spending.name)
            if cost is not None and (spending.spent + cost).within(spending.limit):
                consenting.append(replace(spending, spent=spending.spent + cost, events=spending.events + 1))
        needed = {spending.at for spending in self.alive}
        return tuple(consenting) if needed == {spending.at for spending in consenting} else ()

    @property
    def binding(self) -> Filter:
        """The filter that ends the budget: the one with most left, of the order or point that has least left."""
        best = {at: min((f for f in self.alive if f.at == at), key=self.share) for at in {f.at for f in self.alive}}
        return max(best.values(), key=self.share)

    def on_trust(self, spending: Filter) -> Cost:
        """Return what a filter has spent on claims that somebody else states, under the same limit."""
        told = (booking for booking in self.bookings if is_on_trust(booking))
        costs = (decode_prices(booking["prices"])[spending.name] for booking in told)
        return sum(costs, start=Cost())

    @property
    def stopped(self) -> tuple[str, ...]:
        """The theorems that have refused a booking and count no more."""
        alive = {spending.name for spending in self.alive}
        return tuple(spending.name for spending in self.account.filters() if spending.name not in alive)

    def share(self, spending: Filter) -> float:
        """Return the larger share of its limit that a filter has spent, by amount or by mass."""
        return float(share_of(spending.spent, spending.limit))

    def reading(self, spending: Filter) -> float:
        """Return an upper bound on epsilon spent so far at the filter's delta.

        The odometer's bound is true at every moment at once. Where it exceeds the budget, the filter's bound is the
        budget itself. Of a budget in rho, in mu or of a Renyi order it is what was spent in that measure.
        """
        if not spending.spent.amount:
            return 0.0
        if isinstance(spending.claim, MuClaim):
            return math.nextafter(math.sqrt(spending.spent.amount), math.inf)
        if isinstance(spending.claim, RhoClaim | RenyiClaim) or spending.theorem.name == "basic":
            return float_above(spending.spent.amount)
        if spending.theorem.name == "Renyi":
            claim = spending.claim
            read = reading_at(spending.spent.amount, usual_order(claim.epsilon, claim.delta), claim.delta)
            return min(claim.epsilon, read)
        halved = spending.theorem.name == "Gaussian"
        rho = Cost(amount=spending.spent.amount / (2 if halved else 1), mass=spending.spent.mass)
        odometer = Odometer(
            delta=spending.claim.delta - spending.mass,
            neighbours=spending.claim.neighbours,
            model=spending.claim.model,
            mass=spending.mass,
            tuned_to=float(spending.limit.amount) / (2 if halved else 1),
            spent=rho,
            spent_epsilon=None,
        )
        return min(spending.claim.epsilon, odometer.reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The content of a ledger: its accounts, the number of entries, the last digest, and the findings."""

    accounts: dict[str, Balance] = field(default_factory=dict)
    entries: int = 0
    head: str = GENESIS
    findings: tuple[EntryFinding, ...] = ()


def recompute(entries: Iterable[Entry]) -> Statement:
    """Return the statement of a chain of entries; after a finding it reads on to find the others.

    Guarantee: without findings, each entry hashes to its digest and names the digest of the entry before,
    numbers run from 1 without a gap, and no account ever spent more than its budget. A chain does not show
    that its end was cut off: keep the last digest elsewhere and compare.
    """
    accounts: dict[str, Balance] = {}
    findings: list[EntryFinding] = []
    head, number = GENESIS, 0
    for number, entry in enumerate(entries, start=1):
        try:
            data = entry.data
        except LedgerError as error:
            findings.append(EntryFinding.at(number, "DPA501", f"Unreadable: {error}."))
            head = "unknown"
            continue
        findings += _links(data, number, head)
        head = data["digest"]
        try:
            _apply(data, accounts)
        except LedgerError as error:
            findings.append(EntryFinding.at(number, "DPA502", str(error)))
    return Statement(accounts=accounts, entries=number, head=head, findings=tuple(findings))


def _links(data: dict[str, Any], number: int, head: str) -> list[EntryFinding]:
    """Return the findings of an entry with its own digest and with the entry before."""
    messages: list[str] = []
    if data["digest"] != digest_of(data):
        messages.append("The content does not hash to the digest; the entry was altered.")
    if data["previous"] != head and head != "unknown":
        messages.append("The entry does not follow the one before it; one was altered, removed or put between.")
    if data["sequence"] != number:
        messages.append(f"The entry calls itself number {data['sequence']!r:.20}.")
    return [EntryFinding.at(number, "DPA501", message) for message in messages]


def _apply(data: dict[str, Any], accounts: dict[str, Balance]) -> None:
    """Carry out one entry on the accounts."""
    name, body = data["account"], data["body"]
    if not isinstance(name, str):
        raise LedgerError("The account's name is no text.")
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
    require_booking(body, data["created"])
    balance = accounts[name]
    alive = balance.after(decode_prices(body["prices"]))
    if not alive:
        raise LedgerError(f"The booking overspends the account {name!r}.")
    booking = body | {"sequence": data["sequence"], "created": data["created"]}
    accounts[name] = replace(balance, alive=alive, bookings=(*balance.bookings, booking))


def balance_data(balance: Balance) -> dict[str, Any]:
    """Return an account as plain data: its budget, each theorem's count, and the bookings.

    `counts` has the theorems that still count; `stopped` names those that have refused a booking.
    """
    return {
        **balance.account.to_dict(),
        "counts": [
            {
                "theorem": spending.name,
                **({} if isinstance(spending.claim, MeasuredClaim) else {"delta": spending.claim.delta}),
                "spent": float(spending.spent.amount),
                "limit": float(spending.limit.amount),
                "mass_spent": float(spending.spent.mass),
                "mass_limit": float(spending.limit.mass),
                "share": balance.share(spending),
                "on_trust": float(balance.on_trust(spending).amount),
                f"{getattr(spending.claim, 'measure', 'epsilon')}_so_far": balance.reading(spending),
                "source": spending.theorem.source,
            }
            for spending in balance.alive
        ],
        "stopped": list(balance.stopped),
        "bookings": [
            {key: booking[key] for key in ("sequence", "label", "created", "certificate", "claim")}
            | {"on_trust": is_on_trust(booking)}
            | ({"counted": booking["counted"]} if "counted" in booking else {})
            for booking in balance.bookings
        ],
    }
