"""Section 9a: what the certified setting is worth in simulation, from a study of the same configuration."""

from dpaudit.report.compliance.fields import NOT_ASSESSED, Field, Grid, Section, evidence, unknown
from dpaudit.report.inputs import ReportInputs
from dpaudit.study.usefulness import HEAD
from dpaudit.wording.numerals import at_most, nearest

_REF = "sections"


def usefulness(report: ReportInputs) -> Section:
    """Return section 9a; without a study of this very configuration its fields are not assessed, with the reason."""
    useful = report.usefulness
    return Section(
        number="9a",
        ident="usefulness",
        title="Privacy and usefulness",
        crosswalk="NIST SP 800-226: utility at a stated epsilon",
        fields=_fields(report),
        grids=(
            Grid(
                name="privacy_and_usefulness",
                caption=useful.caption or "Privacy and usefulness",
                head=HEAD,
                rows=useful.rows,
                statuses=tuple("evidence" for _ in useful.rows),
                note=" ".join(useful.sentences) or "No study says what this setting is worth.",
            ),
        ),
    )


def _fields(report: ReportInputs) -> tuple[Field, ...]:
    """Return the numbers of the present setting, each a round."""
    useful = report.usefulness
    if useful.front is None:
        why = f"{NOT_ASSESSED}: {useful.why}" if useful.why else NOT_ASSESSED
        return tuple(unknown(name, why) for name in ("Regret a round", "Learning is shown", "Dominated"))
    point = useful.front.present
    lost = f"{nearest(point.regret, 3)} at certified epsilon {at_most(point.epsilon)} (measured by simulation)"
    found = dict(useful.remarks)
    return (
        evidence("Regret a round", lost, _REF),
        evidence("Learning is shown", found.get("not_shown", "yes"), _REF),
        evidence("Dominated", found.get("dominated", "by no contender of the study"), _REF),
    )
