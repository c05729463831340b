"""The history as a document and as plain data."""

import math
from collections.abc import Iterable
from datetime import date
from typing import Any

from dpaudit.documents.document import Block, Document, Look, Paragraph, Picture, Table, document, items, under
from dpaudit.figures.over_time import Line, over_time_figure
from dpaudit.history.observations import Observation, Observed
from dpaudit.history.trends import Trend, claim_of, summary_of, trends_of
from dpaudit.model.codec import encode
from dpaudit.wording.numerals import at_least, at_most, counted, nearest

_HEAD = (
    "day",
    "document",
    "verdict",
    "claimed",
    "proved, at most",
    "attacked, at least",
    "findings",
    "open issues",
)
_LOOKS: tuple[Look, ...] = ("quiet", "", "", "number", "number", "number", "number", "number")


def history_document(observed: Observed) -> Document:
    """Return the history: a chart, a table and the changes of each subject."""
    lost = f" {len(observed.unread)} could not be read:" if observed.unread else ""
    return document(
        Paragraph(f"Read {counted(observed.documents, 'document')} (reports and checks).{lost}"),
        items(observed.unread),
        *(_subject(number, trend) for number, trend in enumerate(trends_of(observed.observations))),
        title="Privacy over time",
    )


def history_data(observed: Observed) -> dict[str, Any]:
    """Return the history as plain data."""
    return {
        "documents": observed.documents,
        "unread": list(observed.unread),
        "subjects": [_data(trend) for trend in trends_of(observed.observations)],
    }


def _data(trend: Trend) -> dict[str, Any]:
    """Return one trend as plain data."""
    return {
        "subject": trend.subject,
        "risk": trend.risk,
        "observations": [encode(seen) | {"day": str(seen.day)} for seen in trend.observations],
        "changes": [{"day": str(turn.later.day), "sentence": turn.sentence} for turn in trend.turns],
    }


def _subject(number: int, trend: Trend) -> tuple[Block, ...]:
    """Return the blocks of one subject."""
    rows = tuple(map(_row, trend.observations))
    table = Table(rows, head=_HEAD, looks=_LOOKS, wrapped=True)
    turns = items(f"{turn.later.day}: {turn.sentence}" for turn in trend.turns)
    return under(trend.subject, Paragraph(summary_of(trend)), *_chart(number, trend), turns, table)


def _chart(number: int, trend: Trend) -> tuple[Picture, ...]:
    """Return claimed and proved epsilon as lines over time and bounds from below as dots; nothing without numbers."""
    seen = trend.observations
    lines = (
        Line("claim", _points((observation.day, observation.claimed) for observation in seen)),
        Line("curve", _points((observation.day, observation.proved) for observation in seen)),
        Line("attacked", _points((observation.day, observation.attacked) for observation in seen)),
    )
    values = [value for line in lines for _, value in line.points]
    if not values:
        return ()
    title = "Epsilon over time. Dashed: claimed. Line: proved. Dots: bounds from below."
    highest = max(values) or 1.0
    figure = over_time_figure(f"subject-{number}", title, lines, highest, lambda value: nearest(value, 2))
    return (figure.picture(),)


def _points(values: Iterable[tuple[date, float | None]]) -> tuple[tuple[date, float], ...]:
    """Return the numbers that are there and can be drawn."""
    return tuple((day, value) for day, value in values if value is not None and math.isfinite(value))


def _row(seen: Observation) -> tuple[str, ...]:
    """Return one observation as cells; a number that is not there is empty."""
    spent = "" if seen.spent is None else f"; {at_most(100 * seen.spent, 3)} % of the budget spent"
    return (
        str(seen.day),
        seen.document,
        seen.verdict + spent,
        claim_of(seen).partition(", neighbours")[0] if seen.claimed is None else nearest(seen.claimed),
        seen.proved_numbers if seen.proved is None else at_most(seen.proved),
        "" if seen.attacked is None else at_least(seen.attacked),
        str(seen.findings),
        "" if seen.open_issues is None else str(seen.open_issues),
    )
