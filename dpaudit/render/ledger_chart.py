"""The spending of an account over time, as bars of text."""

from collections.abc import Iterator
from datetime import date

from dpaudit.ledger.pace import History
from dpaudit.wording.numerals import at_most

_WIDTH = 40
_MOST_ROWS = 24


def chart_lines(history: History) -> list[str]:
    """Return a line for each day with a release, the latest 24 at most: the share spent by the end of the day."""
    days = {release.day: release.total for release in history.releases}
    rows = list(days.items())[-_MOST_ROWS:]
    left_out = len(days) - len(rows)
    return [*([f"{left_out} earlier days are left out."] if left_out else []), *_bars(rows)]


def _bars(rows: list[tuple[date, float]]) -> Iterator[str]:
    """Yield one bar a row; a full bar is the whole budget."""
    for day, share in rows:
        full = min(_WIDTH, max(1 if share else 0, int(share * _WIDTH)))
        yield f"{day}  {'█' * full}{'·' * (_WIDTH - full)}  {at_most(100 * share, 3)} %"


def pace_sentence(history: History) -> str:
    """Return when the budget ends at this pace, in one sentence."""
    if history.ends is None:
        return "There is no pace yet: it takes releases on two different days."
    return (
        f"At the pace between {history.releases[0].day} and {history.releases[-1].day} the budget would be spent on "
        f"{history.ends}; this continues a line and promises nothing."
    )
