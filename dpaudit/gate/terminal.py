"""The result of `dpaudit check` on a terminal: a row for each configuration, a line `file:line:` for each issue."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.certification.certificate import Certificate
from dpaudit.gate.document import CheckDocument, Judged, strongest
from dpaudit.gate.issues import Checked
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.render.layout import columns, headline, section
from dpaudit.wording.certificates import bound_name
from dpaudit.wording.escaping import clean, one_line
from dpaudit.wording.measures import uppers_phrase
from dpaudit.wording.numerals import at_least, at_most, nearest

_VERDICTS = {
    "pass": ("PASS", "green", "No open issue."),
    "finding": ("FINDING", "red", "A claim is false, not proved, taken on trust, or broken by the code."),
    "unusable": ("UNUSABLE", "red", "A configuration cannot be used; the others were checked."),
    "inconclusive": ("INCONCLUSIVE", "yellow", "Nothing was found, and the audits could not have found much."),
}


def document_text(document: CheckDocument) -> RenderableType:
    """Return the verdict of `dpaudit check` and a row for each configuration, for a terminal of any width."""
    word, colour, sentence = _VERDICTS[document.verdict]
    proved = [checked for checked in document.checked if checked.certificate is not None]
    if left := sum(strongest(checked) is None for checked in proved):
        sentence += f" {left} of {len(proved)} {'was' if left == 1 else 'were'} not attacked."
    return Group(
        headline(word, colour, sentence),
        section("Checked"),
        columns([_row(checked) for checked in document.checked], "", "dim", "dim", ""),
    )


def issue_lines(document: CheckDocument) -> list[Text]:
    """Return the issues, one a line: an open one is `file:line: RULE message`, from the line's first character.

    Accepted issues follow, indented so that no problem matcher takes them for open ones, each with its reason. Then
    come the entries of the baseline that are not in force.
    """
    accepted = [judged for judged in document.judged if judged.accepted is not None]
    still_open = [judged for judged in document.judged if judged.accepted is None]
    return [
        *_titled("Issues", [Text(entry.issue.line, style=_style(entry)) for entry in still_open]),
        *_titled("Accepted", [Text(f"   {_accepted(entry)}", style="dim") for entry in accepted]),
        *_titled("In the baseline, and not in force", [Text(f"   {e.line}", style="dim") for e in document.unused]),
    ]


def _row(checked: Checked) -> tuple[str, str, str, str]:
    """Return the row of one configuration."""
    if checked.certificate is None:
        return (clean(checked.name), "", "", checked.verdicts)
    certificate, attacked = checked.certificate, strongest(checked)
    return (
        clean(checked.name),
        f"claimed {_claimed(certificate)}, {bound_name(certificate)} {_upper(certificate)}",
        "not attacked" if attacked is None else f"attacked {at_least(attacked)}",
        checked.verdicts,
    )


def _claimed(certificate: Certificate) -> str:
    """Return the claimed epsilon, or the claim in its own measure."""
    claim = certificate.claim
    return claim.words if isinstance(claim, MeasuredClaim) else nearest(claim.epsilon)


def _upper(certificate: Certificate) -> str:
    """Return the upper end of epsilon, or of each number of a claim in its own measure."""
    tight = certificate.tight
    return uppers_phrase(tight) if isinstance(tight, Ends) else at_most(tight.epsilon.upper)


def _titled(title: str, lines: list[Text]) -> list[Text]:
    """Return lines below a heading; nothing without lines."""
    return [Text(), Text(f" {title}", style="bold"), *lines] if lines else []


def _style(judged: Judged) -> str:
    """Return the colour of an open issue."""
    return "red" if judged.issue.level == "error" else "yellow"


def _accepted(judged: Judged) -> str:
    """Return an accepted issue with its reason and its last day."""
    why = f"{judged.accepted.reason} (until {judged.accepted.expires})" if judged.accepted else ""
    return one_line(f"{judged.issue.line} [accepted: {why}]")
