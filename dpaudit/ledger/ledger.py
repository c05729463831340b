"""The ledger: opened accounts and booked certificates; each operation reads and checks the whole chain."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from dpaudit.accounting.additive_costs import Cost
from dpaudit.budgets.filters import Refusal
from dpaudit.certification.certificate import Certificate
from dpaudit.errors import LedgerError
from dpaudit.ledger.account import Account
from dpaudit.ledger.balance import Balance, Statement, recompute
from dpaudit.ledger.booking_body import booking_body
from dpaudit.ledger.entry import Entry, Kind, canonical, whole_digest
from dpaudit.ledger.names import require_name, skeleton
from dpaudit.ledger.pricing import prices
from dpaudit.ledger.store import Store
from dpaudit.model.certificate import digest_of
from dpaudit.model.measures.claims import MuClaim

Time: TypeAlias = str | Callable[[], str]
"""The time of an entry, or what tells it when the entry is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """An entry that the ledger holds: its number and digest; `before` if an earlier call had written it.

    `counted` says by which rule each filter counts a booked certificate.
    """

    sequence: int
    digest: str
    before: bool = False
    counted: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Accounts and their bookings in a store that others may write to at the same time.

    Every write first reads the whole chain and refuses to append to an altered one: the time of a write is proportional
    to the number of entries. The time of an entry is passed in, as ISO text or as a function that returns it; the
    function is called while other writers wait, so that their times follow each other. A time without a zone is UTC.
    """

    store: Store

    def open(self, account: Account, created: Time) -> Booking:
        """Return the new account's entry; opening an equal account again changes nothing.

        Raises: LedgerError: another account has this name or one that looks like it, the chain was altered, or the time
            is before that of the last entry.
        """
        require_name("account", account.name)

        def writing(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            statement = _intact(entries)
            existing = statement.accounts.get(account.name)
            alike = [name for name in statement.accounts if skeleton(name) == skeleton(account.name)]
            if existing is None and alike:
                raise LedgerError(
                    f"The name {account.name!r} looks like the open account {alike[0]!r}; use that one or rename this."
                )
            if existing is not None and existing.account != account:
                raise LedgerError(f"The account {account.name!r} is open with another budget or rule; name a new one.")
            return () if existing else (_next(statement, entries, "open", account.name, account.to_dict(), created),)

        added = self.store.append(writing)
        if added:
            return _booking_of(added[0])
        entries = self.store.entries()
        return next(
            _booking_of(entry, before=True)
            for entry in entries
            if (entry.data["kind"], entry.data["account"]) == ("open", account.name)
        )

    def book(
        self, account: str, certificate: Certificate, label: str, created: Time, *, head: str | None = None
    ) -> Booking | Refusal:
        """Return the booking of a certificate, or a refusal with its reason; a refusal writes nothing.

        `label` names the release and is unique in an account. A second call with the same label and certificate changes
        nothing, so that a caller who does not know whether the first call succeeded may repeat it. `head` is a digest
        kept elsewhere that the chain must hold, so that a chain whose end was cut off is not written to.
        Raises: LedgerError: no such account, an unusable label, the label belongs to another certificate, the chain was
            altered, it does not hold `head`, or the time is before that of the last entry.
            DeclarationError: not certified, or about another unit or other neighbours than the budget.
        """
        require_name("label", label)
        digest = str(certificate.to_dict()["digest"])
        result: list[Booking | Refusal] = []

        def writing(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            statement = _intact(entries)
            _require_head(entries, head)
            balance = _account(statement, account)
            earlier = _labelled(balance, label)
            if earlier is not None:
                if earlier["certificate"] != digest:
                    raise LedgerError(f"The label {label!r} belongs to another certificate; name this release anew.")
                result.append(_booking_of(entries[earlier["sequence"] - 1], before=True))
                return ()
            priced = prices(certificate, balance.account.filters())
            costs = {name: price.cost for name, price in priced.items()}
            if not balance.after(costs):
                result.append(Refusal(reason=_overrun(balance, costs)))
                return ()
            body = booking_body(certificate, label, priced)
            entry = _next(statement, entries, "book", account, body, created)
            result.append(_booking_of(entry))
            return (entry,)

        self.store.append(writing)
        return result[-1]

    def statement(self) -> Statement:
        """Return the accounts of the ledger and the findings of its chain."""
        return recompute(self.store.entries())

    def balance(self, account: str) -> Balance:
        """Return one account's balance.

        Raises: LedgerError: the chain was altered, or has no such account.
        """
        return _account(_intact(self.store.entries()), account)

    def lines(self) -> tuple[str, ...]:
        """Return every entry as one line of JSON, to be kept elsewhere."""
        return tuple(entry.text for entry in self.store.entries())

    def take(self, lines: Iterable[str]) -> int:
        """Return how many entries were taken over from exported lines; those that are here already must be equal.

        Raises: LedgerError: the lines were altered, or do not continue what is here.
        """
        offered = tuple(Entry(text=line) for line in lines if line.strip())
        _intact(offered)

        def writing(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            if offered[: len(entries)] != entries:
                raise LedgerError("The lines do not begin with the entries that are here; import into a new ledger.")
            return offered[len(entries) :]

        return len(self.store.append(writing))


def _intact(entries: tuple[Entry, ...]) -> Statement:
    """Return the statement of a chain.

    Raises: LedgerError: the chain has a finding.
    """
    statement = recompute(entries)
    if statement.findings:
        first = statement.findings[0]
        raise LedgerError(f"The ledger was altered at entry {first.sequence}: {first.message} Nothing was written.")
    return statement


def _account(statement: Statement, name: str) -> Balance:
    """Return the balance of an account.

    Raises: LedgerError: there is no such account; the message names those there are.
    """
    if name not in statement.accounts:
        names = ", ".join(map(repr, sorted(statement.accounts))) or "none"
        raise LedgerError(f"There is no account {name!r}; there is: {names}.")
    return statement.accounts[name]


def _require_head(entries: tuple[Entry, ...], head: str | None) -> None:
    """Refuse a chain that does not hold a digest that was kept elsewhere."""
    if head is not None and whole_digest(head) not in {entry.data["digest"] for entry in entries}:
        raise LedgerError(f"DPA501 The chain does not hold {head:.80}; entries were cut off. Nothing was written.")


def _next(
    statement: Statement, entries: tuple[Entry, ...], kind: Kind, account: str, body: dict[str, Any], created: Time
) -> Entry:
    """Return the entry that follows `entries`, whose statement is given.

    Raises: LedgerError: its time is none, or is before that of the last entry.
    """
    time = created if isinstance(created, str) else created()
    last = entries[-1].data["created"] if entries else time
    if _instant(time) < _instant(last):
        raise LedgerError(
            f"The time {time} is before {last}, that of the last entry; nothing was written. Set the clock, or wait."
        )
    content = {
        "sequence": statement.entries + 1,
        "kind": kind,
        "account": account,
        "body": body,
        "created": time,
        "previous": statement.head,
    }
    return Entry(text=canonical(content | {"digest": digest_of(content)}))


def _instant(time: str) -> datetime:
    """Return the moment that ISO text names.

    Raises: LedgerError: it names none.
    """
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        raise LedgerError(f"Expected created={time!r:.40} as a time in ISO form, as in 2026-01-31T12:00:00Z.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _booking_of(entry: Entry, *, before: bool = False) -> Booking:
    """Return the number and digest of an entry, and the rules by which it is counted."""
    data = json.loads(entry.text)
    counted = data["body"].get("counted", {})
    return Booking(sequence=data["sequence"], digest=data["digest"], before=before, counted=counted)


def _labelled(balance: Balance, label: str) -> dict[str, Any] | None:
    """Return the booking with a label, if there is one."""
    return next((booking for booking in balance.bookings if booking["label"] == label), None)


def _overrun(balance: Balance, costs: dict[str, Cost]) -> str:
    """Return the reason of the refusal, with one clause for each filter."""
    clauses: list[str] = []
    for spending in balance.alive:
        name, left = spending.name, spending.remaining
        if name not in costs:
            clauses.append(f"the {name} filter counts {spending.theorem.counts} only")
        else:
            clauses.append(f"by the {name} filter it {costs[name].beside(left)}")
    budget = balance.account.budget
    unit = " (in mu^2)" if isinstance(budget, MuClaim) else ""
    return f"The booking would overspend {budget.words}: {'; '.join(clauses)}{unit}."
