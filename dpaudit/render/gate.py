"""The gate on a terminal: a row for each configuration, a line for each issue that an editor can follow."""

import json
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.gate.comparison import Change
from dpaudit.gate.document import CheckDocument, Judged, strongest
from dpaudit.gate.issues import Checked
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.wording import verdicts as words
from dpaudit.wording.escaping import clean
from dpaudit.wording.markdown import table
from dpaudit.wording.numerals import at_least, at_most, nearest

_VERDICTS = {
    "pass": ("PASS", "green", "No open issue."),
    "finding": ("FINDING", "red", "A claim is false, not proved, or broken by the code."),
    "unusable": ("UNUSABLE", "red", "A configuration cannot be used; the others were checked."),
    "inconclusive": ("INCONCLUSIVE", "yellow", "Nothing was found, and the audits could not have found much."),
}
_COLOURS = {"worse": "red", "other": "yellow", "better": "green"}


def document_text(document: CheckDocument) -> RenderableType:
    """Return the outcome of `dpaudit check` for a terminal of any width."""
    word, colour, sentence = _VERDICTS[document.verdict]
    accepted = [held for held in document.judged if held.accepted is not None]
    return Group(
        headline(word, colour, sentence),
        section("Checked"),
        columns([_row(held) for held in document.checked], "", "dim", "dim", ""),
        *_issues("Issues", [held for held in document.judged if held.accepted is None]),
        *_issues("Accepted", accepted),
        *_unused(document),
    )


def changes_text(changes: tuple[Change, ...]) -> RenderableType:
    """Return the differences of two reports for a terminal."""
    worse = sum(change.direction == "worse" for change in changes)
    head = (
        headline("WORSE", "red", f"{worse} of {len(changes)} changes are for the worse.")
        if worse
        else headline("NO WORSE", "green", f"{len(changes)} changes, none for the worse." if changes else "No change.")
    )
    rows = [
        (Text(held.direction, style=_COLOURS[held.direction]), clean(held.what), clean(f"{held.before} → {held.after}"))
        for held in changes
    ]
    return Group(head, *([Text(), columns(rows, "", "", "")] if rows else []))


def changes_markdown(changes: tuple[Change, ...]) -> str:
    """Return the differences of two reports as Markdown."""
    if not changes:
        return "No change.\n"
    rows = [(held.direction, clean(held.what), clean(held.before), clean(held.after)) for held in changes]
    return table(("", "what", "before", "after"), rows) + "\n"


def changes_json(changes: tuple[Change, ...]) -> str:
    """Return the differences of two reports as JSON."""
    rows: list[dict[str, Any]] = [
        {"what": held.what, "before": held.before, "after": held.after, "direction": held.direction} for held in changes
    ]
    return json.dumps(rows, indent=2, sort_keys=True)


def _row(held: Checked) -> tuple[str, str, str, str]:
    """Return the row of one configuration."""
    if held.certificate is None:
        return (clean(held.name), "", "", "unusable")
    certificate, attacked = held.certificate, strongest(held.audits)
    proved = certificate.tight.epsilon.upper
    verdicts = [words.verdict(certificate.verdict), *(audit.verdict.upper() for audit in held.audits)]
    return (
        clean(held.name),
        f"claimed {nearest(certificate.claim.epsilon)}, proved {at_most(proved)}",
        "not attacked" if attacked is None else f"attacked {at_least(attacked)}",
        ", ".join(dict.fromkeys(verdicts)),
    )


def _issues(title: str, judged: list[Judged]) -> list[RenderableType]:
    """Return issues, each as `file:line: rule message`."""
    if not judged:
        return []
    return [section(title), *(line for held in judged for line in _issue(held))]


def _issue(held: Judged) -> list[RenderableType]:
    """Return one issue, and below it why it is accepted."""
    issue, style = held.issue, "red" if held.issue.level == "error" else "yellow"
    text = f"{issue.place.file}:{issue.place.line}: {issue.rule} {issue.message}"
    lines = [inset(clean(" ".join(text.split())), style="dim" if held.accepted else style)]
    if held.accepted:
        lines.append(inset(inset(clean(f"{held.accepted.reason} (until {held.accepted.expires})"))))
    return lines


def _unused(document: CheckDocument) -> list[RenderableType]:
    """Return the entries of the baseline that accept nothing today."""
    if not document.unused:
        return []
    lines = [f"{e.rule} in {e.config}: {e.subject} (until {e.expires})" for e in document.unused]
    return [section("In the baseline, and expired or gone"), *(inset(clean(line), style="dim") for line in lines)]
