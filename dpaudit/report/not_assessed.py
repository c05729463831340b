"""The subjects that a report did not assess for lack of evidence."""

from dataclasses import dataclass

from dpaudit.model.case import never_attacked
from dpaudit.model.declaration import Stated, walk
from dpaudit.report.inputs import ReportInputs

_USEFULNESS = (
    "Usefulness of the output",
    "Whether the noisy answers still serve their purpose, also for small groups.",
)
_BEYOND_SIMULATION = (
    "Usefulness outside the simulation",
    "Section 9a holds for its problem and its law of users; other users and small groups may fare worse.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAssessed:
    """A subject that was not assessed, and why it matters."""

    what: str
    why: str


def not_assessed_of(report: ReportInputs) -> tuple[NotAssessed, ...]:
    """Return the subjects that no section has; hazards that nobody assessed stand in section 8."""
    useful = _BEYOND_SIMULATION if report.usefulness.assessed else _USEFULNESS
    return tuple(NotAssessed(what=what, why=why) for what, why in (*_missing(report), useful))


def _missing(report: ReportInputs) -> tuple[tuple[str, str], ...]:
    """Return the subjects that further evidence would assess."""
    subjects: list[tuple[str, str]] = []
    if not report.audits:
        subjects.append(("The running code", "No audit was made: the code may differ from its declaration."))
    left_out = never_attacked(c for audit in report.audits if (c := audit.coverage) is not None and c.recorded)
    if left_out:
        why = "No audit attacked these releases of the running code."
        subjects.append((f"The noise of {', '.join(left_out)}", why))
    if report.certificate.printed is None:
        subjects.append(("The published proof", "No rules of a paper were declared, so none were repeated."))
    sources = dict.fromkeys(n.source for _, n in walk(report.certificate.declaration) if isinstance(n, Stated))
    subjects.extend((f"What {source} states", "It is taken on trust.") for source in sources)
    if not report.system.name.strip():
        subjects.append(("The system around the algorithm", "It was not named; actors and access are unknown."))
    return tuple(subjects)
