"""The statement of a ledger as a document and as plain data."""

from collections.abc import Iterator
from typing import Any

from dpaudit.budgets.filters import Filter
from dpaudit.documents import document as blocks
from dpaudit.documents.document import document, under
from dpaudit.figures.over_time import Line, over_time_figure
from dpaudit.ledger import Balance, Statement
from dpaudit.ledger.balance import balance_data
from dpaudit.ledger.pace import History, Spending, history_of
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.wording.claims import budget_words
from dpaudit.wording.numerals import at_least, at_most, nearest

_MOST_DAYS = 24


def statement_data(statement: Statement, account: str | None = None) -> dict[str, Any]:
    """Return a ledger's statement as plain data."""
    return {
        "entries": statement.entries,
        "head": statement.head,
        "intact": not statement.findings,
        "complaints": [{"rule": c.rule, "sequence": c.sequence, "message": c.message} for c in statement.findings],
        "accounts": [balance_data(balance) for balance in _picked(statement, account)],
    }


def statement_document(statement: Statement, account: str | None = None, created: str = "") -> blocks.Document:
    """Return a ledger's statement: its chain, and what each account has spent, what is left and when it ends."""
    balances = _picked(statement, account)
    return document(
        blocks.judged("FINDING" if statement.findings else "PASS", _summary(statement)),
        blocks.items((f"{c.where}: {c.message}" for c in statement.findings), "✗", "bad"),
        blocks.Paragraph(f"As of {created}." if created else ""),
        blocks.Paragraph("" if balances else "No account is open."),
        (block for number, balance in enumerate(balances) for block in _account(balance, number)),
        title="Privacy budgets",
    )


def _account(balance: Balance, number: int) -> tuple[blocks.Block, ...]:
    """Return the blocks of one account."""
    history = history_of(balance)
    refresh = balance.account.refresh
    return under(
        balance.account.name,
        blocks.Paragraph(_budget(balance)),
        blocks.items(_counts(balance)),
        *(_spending(balance, history, number) if history.releases else ()),
        blocks.Paragraph(f"A new budget begins: {refresh}" if refresh else ""),
    )


def _spending(balance: Balance, history: History, number: int) -> Iterator[blocks.Block]:
    """Yield the chart, the table and the pace of an account with bookings."""
    yield blocks.Paragraph(f"{_spent(history)} {_pace(history)}")
    days = {release.day: release.total for release in history.releases}
    figure = over_time_figure(
        f"budget-{number}",
        "Share of the budget spent over time",
        (Line("curve", tuple((release.day, release.total) for release in history.releases), steps=True),),
        highest=1.0,
        written=lambda share: f"{at_most(100 * share, 3)} %",
    )
    yield figure.picture()
    head = ("entry", "day", "release", "claimed", "cost, % of the budget", "spent with it, %", "on trust")
    yield blocks.Table(
        tuple(
            _release(booking, release, balance.account.budget)
            for booking, release in zip(balance.bookings, history.releases, strict=True)
        ),
        head=head,
        looks=("number", "quiet", "", "", "number", "number", ""),
        wrapped=True,
    )
    shown = list(days.items())[-_MOST_DAYS:]
    bars = tuple(blocks.Bar(str(day), share, f"{at_most(100 * share, 3)} %") for day, share in shown)
    left_out = len(days) - len(shown)
    yield blocks.Bars(bars, length=40, axis=True, note=f"{left_out} earlier days are left out." if left_out else "")


def _claimed(booking: dict[str, Any], budget: Claim) -> str:
    """Return the numbers that a booking claims; where it or the budget is in another measure, how it is counted."""
    claim = decode_claim(booking["claim"])
    shown = claim.words if isinstance(claim, MeasuredClaim) else f"epsilon {nearest(claim.epsilon)}"
    rules = dict.fromkeys(booking.get("counted", {}).values())
    told = rules and any(isinstance(each_claim, MeasuredClaim) for each_claim in (claim, budget))
    return f"{shown} (counted as {', '.join(rules)})" if told else shown


def _release(booking: dict[str, Any], release: Spending, budget: Claim) -> tuple[str, ...]:
    """Return one booking as a row; shares are rounded up."""
    return (
        str(release.sequence),
        str(release.day),
        release.label,
        _claimed(booking, budget),
        at_most(100 * release.share, 3),
        at_most(100 * release.total, 3),
        "on trust" if release.on_trust else "",
    )


def _picked(statement: Statement, account: str | None) -> list[Balance]:
    """Return the accounts to show."""
    return [balance for name, balance in statement.accounts.items() if account in (None, name)]


def _summary(statement: Statement) -> str:
    """Return what is known of the chain, in one sentence."""
    if statement.findings:
        return f"The chain was altered: {len(statement.findings)} of its checks failed. Trust no balance."
    return f"The chain is intact: {statement.entries} entries; the last digest is {statement.head}."


def _budget(balance: Balance) -> str:
    """Return an account's budget in one sentence."""
    budget = balance.account.budget
    return (
        f"Budget: {budget_words(budget)}, {budget.neighbours}, "
        f"{budget.model}, for {budget.unit}; {len(balance.bookings)} booked."
    )


def _so_far(balance: Balance, spending: Filter) -> str:
    """Return what a theorem has counted so far, in the measure of the budget."""
    spent, claim = at_most(balance.reading(spending)), spending.claim
    if isinstance(claim, MeasuredClaim):
        return f"{claim.measure} so far at most {spent}"
    return f"epsilon so far at most {spent} at delta {nearest(claim.delta)}"


def _spent(history: History) -> str:
    """Return what is spent and what is left, in one sentence."""
    left = max(0.0, 1 - history.spent)
    spenders = "1 release has" if len(history.releases) == 1 else f"{len(history.releases)} releases have"
    return (
        f"{spenders} spent at most {at_most(100 * history.spent, 3)} % of the budget by the "
        f"{history.theorem} filter; at least {at_least(100 * left, 3)} % is left."
    )


def _pace(history: History) -> str:
    """Return when the budget ends at this pace, in one sentence."""
    if history.ends is None:
        return "There is no pace yet: it takes releases on two different days."
    return (
        f"At the pace between {history.releases[0].day} and {history.releases[-1].day} the budget would be spent on "
        f"{history.ends}; this continues a line and promises nothing."
    )


def _counts(balance: Balance) -> list[str]:
    """Return what each theorem has counted, one sentence each."""
    lines = [_count(balance, spending) for spending in balance.alive]
    return [*lines, *(f"The {name} filter has refused a booking and counts no more." for name in balance.stopped)]


def _count(balance: Balance, spending: Filter) -> str:
    """Return what one theorem has counted."""
    told = balance.on_trust(spending).amount
    trusted = f" Of that {at_most(float(told))} is on trust: somebody else states it." if told else ""
    return (
        f"By the {spending.name} filter: {at_most(float(spending.spent.amount))} of "
        f"{nearest(float(spending.limit.amount))} spent, {at_most(100 * balance.share(spending), 3)} in a "
        f"hundred; {_so_far(balance, spending)}.{trusted}"
    )
