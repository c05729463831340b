"""The summary of a check as Markdown, also for the step summary of a hosted pipeline."""

import os
from pathlib import Path

from dpaudit.errors import ConfigError
from dpaudit.gate.document import CheckDocument, Judged, strongest
from dpaudit.gate.issues import Checked
from dpaudit.model.measures.ends import Ends
from dpaudit.wording.certificates import bracket_phrase
from dpaudit.wording.claims import claim_parameters
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.measures import uppers_phrase
from dpaudit.wording.numerals import at_least, nearest

STEP_LIMIT = 1024 * 1024
"""What a step summary may hold, in bytes; above it the whole page is refused."""

_MOST_ROWS = 200
_HEADLINES = {
    "pass": "Privacy checks passed",
    "finding": "Privacy checks found a problem",
    "unusable": "A configuration cannot be used",
    "inconclusive": "Privacy checks reached no result",
}


def summary(document: CheckDocument) -> str:
    """Return the document as Markdown: the verdict, a row for each configuration, a row for each issue."""
    accepted = [entry for entry in document.judged if entry.accepted is not None]
    still_open = [entry for entry in document.judged if entry.accepted is None]
    parts = [f"## {_HEADLINES[document.verdict]}", _table(_HEAD, [_row(entry) for entry in document.checked])]
    if still_open:
        parts += ["### Issues", _table(("rule", "where", "what"), [_issue(entry) for entry in still_open])]
    if accepted:
        parts += ["### Accepted", _table(("rule", "where", "what", "why, and until when"), list(map(_held, accepted)))]
    if document.unused:
        lines = [unused.line for unused in document.unused]
        parts += ["### In the baseline, and not in force", bullets(lines)]
    return "\n\n".join(parts) + "\n"


def append_step_summary(text: str) -> bool:
    """Return whether `text` was added to the file that `GITHUB_STEP_SUMMARY` names; what exceeds its limit is cut.

    Raises: ConfigError: the file cannot be written.
    """
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return False
    path = Path(name)
    try:
        room = STEP_LIMIT - (path.stat().st_size if path.exists() else 0)
        content = fitted(text, room)
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"GITHUB_STEP_SUMMARY={name}: cannot be written ({error.strerror}).") from None
    return bool(content)


def fitted(text: str, room: int) -> bytes:
    """Return `text` in at most `room` bytes, cut at a line, with a last line that says so."""
    content, note = text.encode("utf-8", "replace"), b"\n\nCut: the page is full.\n"
    if len(content) <= room:
        return content
    start = content[: max(0, room - len(note))]
    return start[: start.rfind(b"\n") + 1] + note if b"\n" in start else b""


_HEAD = ("configuration", "claimed", "proved", "attacked", "verdict")


def _row(checked: Checked) -> tuple[str, ...]:
    """Return the row of one configuration."""
    if checked.certificate is None:
        return (checked.name, "", "", "", checked.verdicts)
    certificate, attacked = checked.certificate, strongest(checked)
    tight = certificate.tight
    return (
        checked.name,
        claim_parameters(certificate.claim),
        uppers_phrase(tight) if isinstance(tight, Ends) else f"epsilon {bracket_phrase(tight.epsilon)}",
        "" if attacked is None else f"epsilon at least {at_least(attacked)}, in {looked_at(checked)}",
        checked.verdicts,
    )


def looked_at(checked: Checked) -> str:
    """Return how many runs and scores all audits of a configuration looked at."""
    runs, scores = float(sum(audit.runs for audit in checked.audits)), numbers_of_scores(checked)
    parts = [f"{nearest(runs)} runs"] if checked.audits else []
    return " and ".join([*parts, *([f"{nearest(scores)} scores"] if checked.scores else [])])


def numbers_of_scores(checked: Checked) -> float:
    """Return the number of scores of all audits of scores of a configuration."""
    return float(sum(held.result.members + held.result.others for held in checked.scores))


def _issue(judged: Judged) -> tuple[str, ...]:
    """Return the row of one issue."""
    issue = judged.issue
    return (issue.rule, f"{issue.place.file}:{issue.place.line}", issue.message)


def _held(judged: Judged) -> tuple[str, ...]:
    """Return the row of one accepted issue."""
    why = f"{judged.accepted.reason} (until {judged.accepted.expires})" if judged.accepted else ""
    return (*_issue(judged), why)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table of at most 200 rows in which no text becomes markup."""
    shown = table(head, rows[:_MOST_ROWS])
    more = len(rows) - _MOST_ROWS
    return f"{shown}\n\n{cell(f'And {more} more.')}" if more > 0 else shown
