"""The facts of a report, computed once for every format."""

from dataclasses import dataclass

from dpaudit.accounting.loss_tail import LossTail
from dpaudit.report.compliance.fields import Section
from dpaudit.report.compliance.sections import sections_of
from dpaudit.report.curves import Curve, delta_curve
from dpaudit.report.derivation import Row, rows_of
from dpaudit.report.explorer import Explorer, explorer_of
from dpaudit.report.gains import Gain, gains_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import Person, person_of, tail_of
from dpaudit.report.not_assessed import NotAssessed, not_assessed_of
from dpaudit.report.verdicts import Outcome, outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A report with every value that is derived from it; `digest` is what is signed, empty before it is computed."""

    report: ReportInputs
    outcome: Outcome
    curve: Curve
    rows: tuple[Row, ...]
    gains: tuple[Gain, ...]
    not_assessed: tuple[NotAssessed, ...]
    sections: tuple[Section, ...]
    tail: LossTail | None
    person: Person | None
    explorer: Explorer | None
    digest: str = ""


def gather(report: ReportInputs) -> Facts:
    """Return all facts that the formats need; only this function calls the accountant for them."""
    curve, rows = delta_curve(report.certificate, report.reading), rows_of(report.certificate)
    tail, person = tail_of(report, curve), person_of(report)
    return Facts(
        report=report,
        outcome=outcome_of(report),
        curve=curve,
        rows=rows,
        gains=gains_of(report.reading.claim, curve),
        not_assessed=not_assessed_of(report),
        sections=sections_of(report, curve, rows, tail, person),
        tail=tail,
        person=person,
        explorer=explorer_of(report),
    )
