"""The facts of a report: its inputs, and what the accountant computes from them, once for every format."""

from dataclasses import dataclass

from dpaudit.accounting.loss_tail import LossTail
from dpaudit.report.curves import Curve, delta_curve
from dpaudit.report.derivation import Row, rows_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import Person, person_of, tail_of
from dpaudit.report.verdicts import Outcome, outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A report with the values that are derived from it."""

    report: ReportInputs
    outcome: Outcome
    curve: Curve
    rows: tuple[Row, ...]
    tail: LossTail | None
    person: Person | None


def gather(report: ReportInputs) -> Facts:
    """Return the facts that the sections and the formats share."""
    curve = delta_curve(report.certificate, report.reading)
    return Facts(
        report=report,
        outcome=outcome_of(report),
        curve=curve,
        rows=rows_of(report.certificate),
        tail=tail_of(report, curve),
        person=person_of(report),
    )
