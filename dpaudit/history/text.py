"""The history on a terminal, as Markdown and as plain data."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.history.observations import Observation, Observed
from dpaudit.history.trends import Trend, claim_of, summary_of, trends_of
from dpaudit.model.codec import encode
from dpaudit.render.layout import columns, inset, section
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.numerals import at_least, at_most, counted

_HEAD = ("day", "document", "verdict", "claimed", "proved, at most", "attacked, at least")


def history_text(observed: Observed) -> RenderableType:
    """Return the history for a terminal."""
    parts: list[RenderableType] = [Text(), inset(counts_sentence(observed))]
    for trend in trends_of(observed.observations):
        rows = [_row(seen)[:1] + _row(seen)[3:] + _row(seen)[2:3] for seen in trend.observations]
        heads = ("day", "claimed", "proved", "attacked", "verdict")
        turns = [inset(f"{turn.later.day}: {turn.sentence}") for turn in trend.turns]
        parts += [section(trend.subject), inset(summary_of(trend)), Text(), columns([heads, *rows], *[""] * 5), *turns]
    parts += [inset(line) for line in observed.unread]
    return Group(*parts)


def history_markdown(observed: Observed) -> str:
    """Return the history as Markdown; every text is escaped."""
    parts = ["# Privacy over time", cell(counts_sentence(observed))]
    for trend in trends_of(observed.observations):
        parts += [f"## {cell(trend.subject)}", cell(summary_of(trend)), table(_HEAD, map(_row, trend.observations))]
        parts += [bullets(f"{turn.later.day}: {turn.sentence}" for turn in trend.turns)] if trend.turns else []
    parts += [bullets(observed.unread)] if observed.unread else []
    return "\n\n".join(parts) + "\n"


def history_data(observed: Observed) -> dict[str, Any]:
    """Return the history as plain data."""
    return {
        "documents": observed.documents,
        "unread": list(observed.unread),
        "subjects": [_subject(trend) for trend in trends_of(observed.observations)],
    }


def counts_sentence(observed: Observed) -> str:
    """Return how many documents were read, and how many could not be."""
    lost = f" {len(observed.unread)} could not be read; they are listed at the end." if observed.unread else ""
    return f"Read {counted(observed.documents, 'document')} (reports and checks).{lost}"


def _subject(trend: Trend) -> dict[str, Any]:
    """Return one trend as plain data."""
    return {
        "subject": trend.subject,
        "risk": trend.risk,
        "observations": [encode(seen) | {"day": str(seen.day)} for seen in trend.observations],
        "changes": [{"day": str(turn.later.day), "sentence": turn.sentence} for turn in trend.turns],
    }


def _row(seen: Observation) -> tuple[str, ...]:
    """Return one observation as cells; a number that is not there is a dash."""
    proved = "-" if seen.proved is None else at_most(seen.proved)
    attacked = "-" if seen.attacked is None else at_least(seen.attacked)
    return str(seen.day), seen.document, seen.verdict, claim_of(seen).partition(" (")[0], proved, attacked
