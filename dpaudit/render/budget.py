"""The statement of a ledger on a terminal, as Markdown and as plain data."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.budgets.filters import Filter
from dpaudit.ledger import Balance, Statement
from dpaudit.ledger.balance import balance_data
from dpaudit.ledger.booking_body import is_on_trust
from dpaudit.ledger.pace import history_of
from dpaudit.model.codec import decode_claim
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.render.ledger_chart import chart_lines, pace_sentence
from dpaudit.wording.claims import budget_words
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.numerals import at_most, nearest


def statement_data(statement: Statement, account: str | None = None) -> dict[str, Any]:
    """Return a ledger's statement as plain data."""
    return {
        "entries": statement.entries,
        "head": statement.head,
        "intact": not statement.findings,
        "complaints": [{"rule": c.rule, "sequence": c.sequence, "message": c.message} for c in statement.findings],
        "accounts": [balance_data(balance) for balance in _picked(statement, account)],
    }


def statement_text(statement: Statement, account: str | None = None) -> RenderableType:
    """Return a ledger's statement for a terminal."""
    word, colour, sentence = _summary(statement)
    parts: list[RenderableType] = [headline(word, colour, sentence)]
    parts += [inset(f"✗ {c.where}: {c.message}") for c in statement.findings]
    for balance in _picked(statement, account):
        parts += [
            section(balance.account.name),
            inset(_budget(balance)),
            *(inset(line) for line in _counts(balance)),
            columns(
                (
                    (str(b["sequence"]), b["created"], b["label"], _claimed(b), "on trust" if is_on_trust(b) else "")
                    for b in balance.bookings
                ),
                "",
                "",
                "",
                "",
                "",
                right=True,
            ),
            *_spending(balance),
        ]
    return Group(*parts)


def _spending(balance: Balance) -> list[RenderableType]:
    """Return the chart of an account over time and its pace; nothing before the first booking."""
    if not balance.bookings:
        return []
    history = history_of(balance)
    lines = chart_lines(history)
    return [Text(), *(inset(line) for line in lines), Text(), inset(pace_sentence(history))]


def statement_markdown(statement: Statement, account: str | None = None) -> str:
    """Return a ledger's statement as Markdown."""
    word, _, sentence = _summary(statement)
    parts = [
        f"## {word}",
        cell(sentence),
        bullets(f"{c.where}: {c.message}" for c in statement.findings),
    ]
    for balance in _picked(statement, account):
        rows = [
            (str(b["sequence"]), b["created"], b["label"], _claimed(b), "yes" if is_on_trust(b) else "no")
            for b in balance.bookings
        ]
        parts += [f"### {cell(balance.account.name)}", cell(_budget(balance)), bullets(_counts(balance))]
        if rows:
            parts.append(table(("entry", "time", "release", "claim", "on trust"), rows))
            parts.append(cell(pace_sentence(history_of(balance))))
    return "\n\n".join(part for part in parts if part) + "\n"


def _claimed(booking: dict[str, Any]) -> str:
    """Return the number that a booking claims."""
    claim = decode_claim(booking["claim"])
    shown = claim.words if isinstance(claim, MeasuredClaim) else f"epsilon {nearest(claim.epsilon)}"
    rules = dict.fromkeys(booking.get("counted", {}).values()) if isinstance(claim, MeasuredClaim) else {}
    return f"{shown} (counted as {', '.join(rules)})" if rules else shown


def _picked(statement: Statement, account: str | None) -> list[Balance]:
    """Return the accounts to show."""
    return [balance for name, balance in statement.accounts.items() if account in (None, name)]


def _summary(statement: Statement) -> tuple[str, str, str]:
    """Return the word, its colour and one sentence."""
    if statement.findings:
        return "ALTERED", "red", f"{len(statement.findings)} of the chain's checks failed; trust no balance."
    return "INTACT", "green", f"{statement.entries} entries; the last digest is {statement.head}."


def _budget(balance: Balance) -> str:
    """Return an account's budget in one sentence."""
    budget = balance.account.budget
    return (
        f"Budget: {budget_words(budget)}, {budget.neighbours}, "
        f"{budget.model}, for {budget.unit}; {len(balance.bookings)} booked."
    )


def so_far(balance: Balance, spending: Filter) -> str:
    """Return what a theorem has counted so far, in the measure of the budget."""
    spent, claim = at_most(balance.reading(spending)), spending.claim
    if isinstance(claim, MeasuredClaim):
        return f"{claim.measure} so far at most {spent}"
    return f"epsilon so far at most {spent} at delta {nearest(claim.delta)}"


def _counts(balance: Balance) -> list[str]:
    """Return what each theorem has counted, one sentence each."""
    alive = {spending.theorem.name for spending in balance.alive}
    stopped = [spending.theorem.name for spending in balance.account.filters() if spending.theorem.name not in alive]
    lines = [_count(balance, spending) for spending in balance.alive]
    return [*lines, *(f"The {name} filter has refused a booking and counts no more." for name in stopped)]


def _count(balance: Balance, spending: Filter) -> str:
    """Return what one theorem has counted."""
    told = balance.on_trust(spending).amount
    trusted = f" Of that {at_most(float(told))} is on trust: somebody else states it." if told else ""
    return (
        f"By the {spending.theorem.name} filter: {at_most(float(spending.spent.amount))} of "
        f"{nearest(float(spending.limit.amount))} spent, {at_most(100 * balance.share(spending), 3)} in a "
        f"hundred; {so_far(balance, spending)}.{trusted}"
    )
