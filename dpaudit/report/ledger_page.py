"""The page of a budget ledger for an officer: what each release cost, what is left, and when it ends at this pace."""

from dpaudit.ledger import Balance, Statement
from dpaudit.ledger.pace import History, history_of
from dpaudit.wording.claims import budget_words
from dpaudit.wording.escaping import xml
from dpaudit.wording.numerals import at_least, at_most

_STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #22252b;
  background: #fff; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.state { font-weight: bold; } .bad { color: #9b2320; } .good { color: #1d6a43; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #dcd7ca; }
th { overflow-wrap: normal; } td.n, td.day { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; max-width: 36rem; height: auto; } svg text { font-size: 19px; fill: currentColor; }
@media screen and (prefers-color-scheme: dark) {
  body { color: #e8e6e1; background: #16181c; } th, td { border-color: #3a3d44; }
  .bad { color: #f0908a; } .good { color: #7fcf9f; }
}
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 260, 72, 40


def ledger_page(statement: Statement, created: str) -> str:
    """Return the statement of a ledger as one HTML page without requests and scripts; every text is escaped."""
    faults = "".join(f"<li>Entry {c.sequence}: {xml(c.message)}</li>" for c in statement.findings)
    intact = not statement.findings
    state = "The chain is intact." if intact else "The chain was altered. Trust no balance on this page."
    accounts = "".join(_account(balance) for balance in statement.accounts.values())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Privacy budgets</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>Privacy budgets</h1>\n<p>As of {xml(created)}; {statement.entries} entries; last digest "
        f"<code>{xml(statement.head)}</code>.</p>\n"
        f'<p class="state {"good" if intact else "bad"}">{state}</p><ul>{faults}</ul>\n'
        f"{accounts or '<p>No account is open.</p>'}\n</body></html>\n"
    )


def _account(balance: Balance) -> str:
    """Return the section of one account."""
    history, budget = history_of(balance), balance.account.budget
    rows = "".join(
        f'<tr><td class="day">{r.day}</td><td>{xml(r.label)}</td>{_number(r.share)}{_number(r.total)}'
        f"<td>{'on trust' if r.on_trust else ''}</td></tr>"
        for r in history.releases
    )
    table = (
        '<div class="wide"><table><thead><tr><th>day</th><th>release</th><th class="n">cost, % of the budget</th>'
        f'<th class="n">spent with it, %</th><th>on trust</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    return (
        f"<h2>{xml(balance.account.name)}</h2>\n<p>Budget: {xml(budget_words(budget))}, "
        f"{budget.neighbours}, {budget.model}, for {xml(budget.unit)}.</p>\n"
        f"<p>{xml(spent_sentence(history))} {xml(_end(history))}</p>\n"
        + (f"{_chart(history)}\n{table}\n" if history.releases else "<p>Nothing is booked.</p>\n")
        + (f"<p>A new budget begins: {xml(balance.account.refresh)}</p>\n" if balance.account.refresh else "")
    )


def spent_sentence(history: History) -> str:
    """Return what is spent and what is left, in one sentence."""
    left = max(0.0, 1 - history.spent)
    return (
        f"{len(history.releases)} releases have spent at most {at_most(100 * history.spent, 3)} % of the budget by the "
        f"{history.theorem} filter; at least {at_least(100 * left, 3)} % is left."
    )


def _end(history: History) -> str:
    """Return when the budget ends at this pace."""
    if history.ends is None:
        return "There is no pace yet: it takes releases on two different days."
    return f"At the pace so far it would be spent on {history.ends}; this continues a line and promises nothing."


def _number(share: float) -> str:
    """Return a cell with a share in per cent, rounded up."""
    return f'<td class="n">{at_most(100 * share, 3)}</td>'


def _chart(history: History) -> str:
    """Return the share spent over time as a step line, with the whole budget as a line above it."""
    first, last = history.releases[0].day, history.releases[-1].day
    span = max(1, (last - first).days)
    points: list[str] = []
    before = 0.0
    for release in history.releases:
        x = _LEFT + (_WIDTH - _LEFT - 10) * (release.day - first).days / span
        points += [f"{x:.1f},{_y(before):.1f}", f"{x:.1f},{_y(release.total):.1f}"]
        before = release.total
    marks = "".join(
        f'<text x="{_LEFT - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{int(100 * share)} %</text>'
        f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="currentColor" '
        f'stroke-opacity="{".7" if share == 1 else ".15"}"/>'
        for share in (0.0, 0.5, 1.0)
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="share of the budget spent over time">{marks}'
        f'<polyline points="{" ".join(points)}" fill="none" stroke="#a2401f" stroke-width="2.5"/>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{first}</text>'
        f'<text x="{_WIDTH - 10}" y="{_HEIGHT - 8}" text-anchor="end">{last}</text></svg>'
    )


def _y(share: float) -> float:
    """Return the height of a share in the chart."""
    return 16 + (_HEIGHT - _BOTTOM - 16) * (1 - min(1.0, share))
