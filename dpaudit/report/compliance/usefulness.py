"""Section 9a: what the certified setting is worth in simulation, from a study of the same configuration."""

from dpaudit.report.compliance.fields import Field, Grid, Section, evidence, unknown
from dpaudit.report.inputs import ReportInputs
from dpaudit.study.usefulness import HEAD

_REF = "sections"


def usefulness(report: ReportInputs) -> Section:
    """Return section 9a; without a study of this configuration it is not assessed, with the reason."""
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
    """Return whether anything was learned; the sentences below the table have the numbers."""
    useful = report.usefulness
    if useful.front is None:
        return (unknown("Regret a round", useful.why),)
    shown = "no" if "not_shown" in dict(useful.remarks) else "yes"
    return (evidence("Learning is shown, in simulation", shown, _REF),)
