"""The table of groups: the guarantee for several units together, by the claim and by the declaration."""

import math

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.engines import QUICK
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.declaration import Group
from dpaudit.report.compliance.fields import Grid, Status
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import guarantee_by_claim, resting_note
from dpaudit.wording.numerals import at_most, exact

GROUPS = (2, 5, 10)


def groups(report: ReportInputs) -> Grid:
    """Return the guarantee for several units together, for groups of 2, 5 and 10."""
    claim = report.reading.claim
    rows = tuple(
        (str(size), guarantee_by_claim(report, size), _bounded(_epsilon_of_group(report, size))) for size in GROUPS
    )
    statuses: tuple[Status, ...] = tuple("not_assessed" if "not covered" in row[2] else "evidence" for row in rows)
    return Grid(
        name="groups",
        annex=True,
        caption="Groups: several units of one person, or several people together",
        head=("Units", "By the claim alone", f"Proved epsilon, at delta {exact(claim.delta)}"),
        rows=rows,
        statuses=statuses,
        note=resting_note(report),
    )


def _epsilon_of_group(report: ReportInputs, size: int) -> Bracket | None:
    """Return the group's bracket at the claim's delta, or None where no rule covers it."""
    certificate = report.certificate
    try:
        form = fold(Group(part=certificate.declaration, size=size), certificate.claim.neighbours)
        return bracket_epsilon(form, report.reading.claim.delta, QUICK)
    except (UnsupportedError, DeclarationError):
        return None


def _bounded(bracket: Bracket | None) -> str:
    """Return an upper bound in words."""
    if bracket is None:
        return "not covered by a rule"
    return "no finite epsilon" if bracket.upper == math.inf else f"at most {at_most(bracket.upper)}"
