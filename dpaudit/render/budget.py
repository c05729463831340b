"""What a ledger says, as people and scripts read it."""

from typing import Any

from rich.console import Group, RenderableType

from dpaudit.budgets.filters import Filter
from dpaudit.ledger import Balance, Statement
from dpaudit.ledger.balance import balance_data
from dpaudit.model.codec import encode
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.numerals import at_most, nearest


def statement_data(statement: Statement, account: str | None = None) -> dict[str, Any]:
    """Return a ledger's statement as plain data."""
    return {
        "entries": statement.entries,
        "head": statement.head,
        "intact": not statement.complaints,
        "complaints": [encode(complaint) for complaint in statement.complaints],
        "accounts": [balance_data(balance) for balance in _picked(statement, account)],
    }


def statement_text(statement: Statement, account: str | None = None) -> RenderableType:
    """Return a ledger's statement for a terminal."""
    word, colour, sentence = _summary(statement)
    parts: list[RenderableType] = [headline(word, colour, sentence)]
    parts += [inset(f"✗ entry {c.sequence}: {c.message}") for c in statement.complaints]
    for balance in _picked(statement, account):
        parts += [
            section(balance.account.name),
            inset(_budget(balance)),
            *(inset(line) for line in _counts(balance)),
            columns(
                (
                    (str(b["sequence"]), b["created"], b["label"], f"epsilon {nearest(b['claim']['epsilon'])}")
                    for b in balance.bookings
                ),
                "",
                "",
                "",
                "",
                right=True,
            ),
        ]
    return Group(*parts)


def statement_markdown(statement: Statement, account: str | None = None) -> str:
    """Return a ledger's statement as Markdown."""
    word, _, sentence = _summary(statement)
    parts = [f"## {word}", cell(sentence), bullets(f"entry {c.sequence}: {c.message}" for c in statement.complaints)]
    for balance in _picked(statement, account):
        rows = [
            (str(b["sequence"]), b["created"], b["label"], nearest(b["claim"]["epsilon"])) for b in balance.bookings
        ]
        parts += [f"### {cell(balance.account.name)}", cell(_budget(balance)), bullets(_counts(balance))]
        if rows:
            parts.append(table(("entry", "time", "release", "epsilon"), rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def _picked(statement: Statement, account: str | None) -> list[Balance]:
    """Return the accounts to show."""
    return [balance for name, balance in statement.accounts.items() if account in (None, name)]


def _summary(statement: Statement) -> tuple[str, str, str]:
    """Return the word, its colour and one sentence."""
    if statement.complaints:
        return "ALTERED", "red", f"{len(statement.complaints)} of the chain's checks failed; trust no balance."
    return "INTACT", "green", f"{statement.entries} entries; the last digest is {statement.head}."


def _budget(balance: Balance) -> str:
    """Return an account's budget in one sentence."""
    budget = balance.account.budget
    return (
        f"Budget: epsilon {nearest(budget.epsilon)}, delta {nearest(budget.delta)}, {budget.neighbours}, "
        f"{budget.model}, for {budget.unit}; {len(balance.bookings)} booked."
    )


def _counts(balance: Balance) -> list[str]:
    """Return what each theorem has counted, one sentence each."""
    alive = {one.theorem.name for one in balance.alive}
    stopped = [one.theorem.name for one in balance.account.filters() if one.theorem.name not in alive]
    lines = [_count(balance, one) for one in balance.alive]
    return [*lines, *(f"The {name} filter has refused a booking and counts no more." for name in stopped)]


def _count(balance: Balance, one: Filter) -> str:
    """Return what one theorem has counted."""
    return (
        f"By the {one.theorem.name} filter: {at_most(float(one.spent.amount))} of {nearest(float(one.limit.amount))} "
        f"spent, {at_most(100 * balance.share(one), 3)} in a hundred; epsilon so far at most "
        f"{at_most(balance.reading(one))} at delta {nearest(one.claim.delta)}."
    )
