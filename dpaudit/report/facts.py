"""Everything that a report says, computed once and read by every format."""

from dataclasses import dataclass

from dpaudit.report.compliance.fields import Section
from dpaudit.report.compliance.sections import sections_of
from dpaudit.report.curves import (
    FALSE_POSITIVE_RATES,
    Curve,
    claimed_advantage,
    delta_curve,
    highest_true_positive_rate,
)
from dpaudit.report.derivation import Row, rows_of
from dpaudit.report.gaps import Gap, gaps_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.verdicts import Outcome, outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The most that any attacker reaches by one measure, under the claim and under the certificate."""

    measure: str
    claim: float
    certificate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A report with all that is derived from it."""

    report: ReportInputs
    outcome: Outcome
    curve: Curve
    rows: tuple[Row, ...]
    gains: tuple[Gain, ...]
    gaps: tuple[Gap, ...]
    sections: tuple[Section, ...]


def gather(report: ReportInputs) -> Facts:
    """Return everything that the formats need; the accountant is asked here and nowhere else."""
    curve, rows = delta_curve(report.certificate), rows_of(report.certificate)
    return Facts(
        report=report,
        outcome=outcome_of(report),
        curve=curve,
        rows=rows,
        gains=_gains(report, curve),
        gaps=gaps_of(report),
        sections=sections_of(report, curve, rows),
    )


def _gains(report: ReportInputs, curve: Curve) -> tuple[Gain, ...]:
    """Return an attacker's advantage and true positive rates at small false positive rates."""
    claim = report.certificate.claim
    known = bool(curve.epsilons)
    advantage = Gain(
        measure="advantage (true minus false positive rate)",
        claim=claimed_advantage(claim.epsilon, claim.delta),
        certificate=curve.advantage if known else None,
    )
    rates = (
        Gain(
            measure=f"true positive rate at false positive rate {rate:g}",
            claim=highest_true_positive_rate(claim.epsilon, claim.delta, rate),
            certificate=curve.true_positive_rate(rate) if known else None,
        )
        for rate in FALSE_POSITIVE_RATES
    )
    return (advantage, *rates)
