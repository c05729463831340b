"""The result of a check as a document, for a terminal and for the step summary of a hosted pipeline."""

import os
from pathlib import Path

from dpaudit.documents.document import Block, Document, Lines, Mark, Paragraph, Table, document, judged, lines, under
from dpaudit.documents.outcome import Reported
from dpaudit.errors import ConfigError
from dpaudit.gate.document import CheckDocument, strongest
from dpaudit.gate.issues import Checked
from dpaudit.gate.outcome import outcome_of
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.measures.ends import Ends
from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.attacks import Attack
from dpaudit.wording.audits import shown_phrase
from dpaudit.wording.certificates import bracket_phrase
from dpaudit.wording.claims import claim_parameters
from dpaudit.wording.escaping import one_line
from dpaudit.wording.measures import uppers_phrase
from dpaudit.wording.numerals import at_least, nearest
from dpaudit.wording.verdicts import Tone

STEP_LIMIT = 1024 * 1024
"""What a step summary may hold, in bytes; above it the whole page is refused."""

_MOST_ROWS = 200
_SENTENCES = {
    "pass": "No open issue.",
    "finding": "A claim is false, not proved, taken on trust, or broken by the code.",
    "unusable": "A configuration cannot be used; the others were checked.",
    "inconclusive": "Nothing was found, and the audits could not have found much.",
}
_TONES: dict[str, Tone] = {"error": "bad", "warning": "open"}
_INSET = "   "
_HEAD = ("configuration", "claimed", "proved", "attacked", "verdict")


def check_document(gate: CheckDocument) -> Document:
    """Return the verdict of `dpaudit check`, a row for each configuration, and its issues, one a line and for programs.

    An open issue is `file:line: RULE message`, from the line's first character. Accepted ones are indented, so that no
    problem matcher takes them for open ones, each with its reason, and so are entries of the baseline not in force.
    """
    sentence = _SENTENCES[gate.verdict]
    proved = [checked for checked in gate.checked if checked.certificate is not None]
    if left := sum(strongest(checked) is None for checked in proved):
        sentence += f" {left} of {len(proved)} {'was' if left == 1 else 'were'} not attacked."
    outcome = outcome_of(gate)
    still_open = (Mark(issue.text, _TONES[issue.rule.level]) for issue in outcome.issues if not issue.reason)
    return document(
        judged(gate.verdict, sentence),
        under("Checked", *_table(tuple(map(_row, gate.checked)))),
        under("Issues", Lines(tuple(still_open))),
        under("Accepted", lines(f"{_INSET}{_accepted(issue)}" for issue in outcome.issues if issue.reason)),
        under("In the baseline, and not in force", lines(f"{_INSET}{entry.line}" for entry in gate.unused)),
        title="Privacy checks",
        outcome=outcome,
    )


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


def _accepted(issue: Reported) -> str:
    """Return an accepted issue with its reason and its last day."""
    return one_line(f"{issue.text} [accepted: {issue.reason} (until {issue.until})]")


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
        "not attacked" if attacked is None else f"{_shown(attacked)}, in {looked_at(checked)}",
        checked.verdicts,
    )


def _shown(attack: Attack) -> str:
    """Return the lower bound of an attack, in the measure of the claim where that is tested."""
    result = attack.result
    if isinstance(result, AuditResult) and result.tested is not None:
        return shown_phrase(result)
    return f"epsilon at least {at_least(result.epsilon_lower)}"


def looked_at(checked: Checked) -> str:
    """Return how many runs and scores all audits of a configuration looked at."""
    names = [("scores" if isinstance(a.result, ScoresResult) else "runs", a.looked_at) for a in checked.attacks]
    sums = ((name, sum(number for own, number in names if own == name)) for name in dict(names))
    return " and ".join(f"{nearest(number)} {name}" for name, number in sums)


def _table(rows: tuple[tuple[str, ...], ...]) -> tuple[Block, ...]:
    """Return a table of at most 200 configurations, and how many more there are."""
    more = len(rows) - _MOST_ROWS
    return (
        Table(rows[:_MOST_ROWS], head=_HEAD, wrapped=True),
        Paragraph(f"And {more} more." if more > 0 else ""),
    )
