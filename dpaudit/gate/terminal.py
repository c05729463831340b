"""The result of `dpaudit check` on a terminal: a row for each configuration, a line `file:line:` for each issue."""

from rich.console import Group, RenderableType

from dpaudit.gate.document import CheckDocument, Judged, strongest
from dpaudit.gate.issues import Checked
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.wording.escaping import clean
from dpaudit.wording.numerals import at_least, at_most, nearest

_VERDICTS = {
    "pass": ("PASS", "green", "No open issue."),
    "finding": ("FINDING", "red", "A claim is false, not proved, or broken by the code."),
    "unusable": ("UNUSABLE", "red", "A configuration cannot be used; the others were checked."),
    "inconclusive": ("INCONCLUSIVE", "yellow", "Nothing was found, and the audits could not have found much."),
}


def document_text(document: CheckDocument) -> RenderableType:
    """Return the outcome of `dpaudit check` for a terminal of any width."""
    word, colour, sentence = _VERDICTS[document.verdict]
    accepted = [judged for judged in document.judged if judged.accepted is not None]
    still_open = [judged for judged in document.judged if judged.accepted is None]
    return Group(
        headline(word, colour, sentence),
        section("Checked"),
        columns([_row(checked) for checked in document.checked], "", "dim", "dim", ""),
        *_issues("Issues", still_open),
        *_issues("Accepted", accepted),
        *_unused(document),
    )


def _row(checked: Checked) -> tuple[str, str, str, str]:
    """Return the row of one configuration."""
    if checked.certificate is None:
        return (clean(checked.name), "", "", checked.verdicts)
    certificate, attacked = checked.certificate, strongest(checked.audits)
    proved = certificate.tight.epsilon.upper
    return (
        clean(checked.name),
        f"claimed {nearest(certificate.claim.epsilon)}, proved {at_most(proved)}",
        "not attacked" if attacked is None else f"attacked {at_least(attacked)}",
        checked.verdicts,
    )


def _issues(title: str, judged: list[Judged]) -> list[RenderableType]:
    """Return issues, each as `file:line: rule message`."""
    if not judged:
        return []
    return [section(title), *(line for issue in judged for line in _issue(issue))]


def _issue(judged: Judged) -> list[RenderableType]:
    """Return one issue, and below it why it is accepted."""
    issue, style = judged.issue, "red" if judged.issue.level == "error" else "yellow"
    lines = [inset(clean(" ".join(issue.line.split())), style="dim" if judged.accepted else style)]
    if judged.accepted:
        lines.append(inset(inset(clean(f"{judged.accepted.reason} (until {judged.accepted.expires})"))))
    return lines


def _unused(document: CheckDocument) -> list[RenderableType]:
    """Return the entries of the baseline that accept nothing today."""
    if not document.unused:
        return []
    lines = [f"{e.rule} in {e.config}: {e.subject} (until {e.expires})" for e in document.unused]
    return [section("In the baseline, and expired or gone"), *(inset(clean(line), style="dim") for line in lines)]
