"""The ledger itself: accounts are opened, certificates booked, and everything is read again each time."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpaudit.budgets.filters import Refusal
from dpaudit.certification.certificate import Certificate
from dpaudit.errors import LedgerError
from dpaudit.ledger.account import Account
from dpaudit.ledger.balance import Balance, Statement, replay
from dpaudit.ledger.entry import Entry, Kind
from dpaudit.ledger.pricing import encode_prices, prices
from dpaudit.ledger.store import Store
from dpaudit.model.codec import encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """A booking that is kept: its entry's number and digest; `before` where it had been booked already."""

    sequence: int
    digest: str
    before: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """Accounts and their bookings in a store that others may write to at the same time.

    Every writing reads the whole chain first and refuses to add to one that was altered: n entries take time
    proportional to n. Time is passed in, as ISO text.
    """

    store: Store

    def open(self, account: Account, created: str) -> Booked:
        """Return the new account's entry; opening an equal account again changes nothing.

        Raises: LedgerError: another account has this name, or the chain was altered.
        """

        def writing(held: tuple[Entry, ...]) -> tuple[Entry, ...]:
            statement = _sound(held)
            known = statement.accounts.get(account.name)
            if known is not None and known.account != account:
                raise LedgerError(f"The account {account.name!r} is open with another budget or rule; name a new one.")
            return () if known else (_next(statement, "open", account.name, account.to_dict(), created),)

        added = self.store.append(writing)
        if added:
            return _booked(added[0])
        entries = self.store.entries()
        return next(
            _booked(entry, before=True)
            for entry in entries
            if (entry.data["kind"], entry.data["account"]) == ("open", account.name)
        )

    def book(self, account: str, certificate: Certificate, label: str, created: str) -> Booked | Refusal:
        """Return the booking of what `certificate` proves, or why it must not be released; then nothing is written.

        `label` names the release, once in an account: booking it again with the same certificate changes nothing, so
        that a caller who does not know whether an attempt got through may repeat it.
        Raises: LedgerError: no such account, the label belongs to another certificate, or the chain was altered.
            DeclarationError: not certified, or about another unit or other neighbours than the budget.
        """
        digest = str(certificate.to_dict()["digest"])
        result: list[Booked | Refusal] = []

        def writing(held: tuple[Entry, ...]) -> tuple[Entry, ...]:
            statement = _sound(held)
            balance = statement.accounts.get(account)
            if balance is None:
                known = ", ".join(sorted(statement.accounts)) or "none"
                raise LedgerError(f"There is no account {account!r}; there is: {known}.")
            earlier = _labelled(balance, label)
            if earlier is not None:
                if earlier["certificate"] != digest:
                    raise LedgerError(f"The label {label!r} belongs to another certificate; name this release anew.")
                result.append(_booked(held[earlier["sequence"] - 1], before=True))
                return ()
            found = prices(certificate, balance.account.filters())
            if not balance.after(found):
                result.append(Refusal(reason=_overrun(balance, found)))
                return ()
            body = {
                "label": label,
                "certificate": digest,
                "claim": encode(certificate.claim),
                "proved_epsilon": encode(certificate.tight.epsilon.upper),
                "prices": encode_prices(found),
            }
            entry = _next(statement, "book", account, body, created)
            result.append(_booked(entry))
            return (entry,)

        self.store.append(writing)
        return result[-1]

    def statement(self) -> Statement:
        """Return what the ledger says, complaints included."""
        return replay(self.store.entries())

    def balance(self, account: str) -> Balance:
        """Return one account's balance.

        Raises: LedgerError: the chain was altered, or has no such account.
        """
        accounts = _sound(self.store.entries()).accounts
        if account not in accounts:
            raise LedgerError(f"There is no account {account!r}; there is: {', '.join(sorted(accounts)) or 'none'}.")
        return accounts[account]

    def lines(self) -> tuple[str, ...]:
        """Return every entry as one line of JSON, to be kept elsewhere."""
        return tuple(entry.text for entry in self.store.entries())

    def take(self, lines: Iterable[str]) -> int:
        """Return how many entries were taken over from exported lines; those that are here already must be equal.

        Raises: LedgerError: the lines were altered, or do not continue what is here.
        """
        offered = tuple(Entry(text=line) for line in lines if line.strip())
        _sound(offered)

        def writing(held: tuple[Entry, ...]) -> tuple[Entry, ...]:
            if offered[: len(held)] != held:
                raise LedgerError("The lines do not begin with the entries that are here; import into a new ledger.")
            return offered[len(held) :]

        return len(self.store.append(writing))


def _sound(entries: tuple[Entry, ...]) -> Statement:
    """Return what a chain says, or refuse it."""
    statement = replay(entries)
    if statement.complaints:
        first = statement.complaints[0]
        raise LedgerError(f"The ledger was altered at entry {first.sequence}: {first.message} Nothing was written.")
    return statement


def _next(statement: Statement, kind: Kind, account: str, body: dict[str, Any], created: str) -> Entry:
    """Return the entry that follows."""
    return Entry.made(
        sequence=statement.entries + 1,
        kind=kind,
        account=account,
        body=body,
        created=created,
        previous=statement.head,
    )


def _booked(entry: Entry, *, before: bool = False) -> Booked:
    """Return where an entry is kept."""
    data = json.loads(entry.text)
    return Booked(sequence=data["sequence"], digest=data["digest"], before=before)


def _labelled(balance: Balance, label: str) -> dict[str, Any] | None:
    """Return the booking with a label, if there is one."""
    return next((booking for booking in balance.bookings if booking["label"] == label), None)


def _overrun(balance: Balance, found: dict[str, Any]) -> str:
    """Return why no filter consents, one clause for each."""
    clauses: list[str] = []
    for one in balance.alive:
        name, left = one.theorem.name, one.remaining
        if name not in found:
            clauses.append(f"the {name} filter counts {one.theorem.counts}, and this is none")
            continue
        cost = found[name]
        clauses.append(
            f"by the {name} filter it costs {float(cost.amount):.6g} and a mass of {float(cost.mass):.3g}, where "
            f"{float(left.amount):.6g} and {float(left.mass):.3g} are left"
        )
    budget = balance.account.budget
    return f"The booking would overspend epsilon={budget.epsilon:g}, delta={budget.delta:g}: {'; '.join(clauses)}."
