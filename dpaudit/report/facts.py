"""Everything that a report says, computed once and read by every format."""

import math
from dataclasses import dataclass

from dpaudit.model.audit_result import AuditResult
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
from dpaudit.wording.numerals import at_least, at_most, nearest


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


def caught(audit: AuditResult) -> str:
    """Return in words what an audit would have caught, and what would have gone unseen."""
    chance = nearest(audit.power.probability, 3)
    if audit.power.epsilon == math.inf:
        return "No violation, however large, would have been caught for certain: there were too few runs."
    line = f"A true epsilon of {at_most(audit.power.epsilon)} or more, with probability {chance} or more."
    if audit.ceiling <= audit.claim.epsilon:
        return (
            f"{line} With so few runs nothing above {at_most(audit.ceiling)} can be shown: the claim was never at risk."
        )
    if audit.power.epsilon > audit.claim.epsilon:
        return f"{line} Violations between {nearest(audit.claim.epsilon)} and that may have gone unseen."
    return f"{line} That is within the claim, so larger violations would have been seen as well."


def certified(audit: AuditResult) -> str:
    """Return in words what the certificate allowed when the audit was made."""
    return "not known to the audit" if audit.certified == math.inf else f"epsilon of at most {at_most(audit.certified)}"


def placed(audit: AuditResult) -> str:
    """Return in words where an audit's lower bound lies against the claim and the certificate."""
    bound = f"epsilon is at least {at_least(audit.epsilon_lower)}"
    if audit.verdict == "inconclusive":
        return f"The attack reached no result ({bound})."
    if audit.assumption:
        bound = f"{bound}, provided that {audit.assumption}"
    if audit.exceeds_claim:
        return f"The attack contradicts the claim: {bound}."
    if audit.epsilon_lower > audit.certified:
        return f"The attack contradicts the declaration, and nothing without assumption the claim: {bound}."
    if audit.verdict == "violation":
        return f"The audit reports a violation: {bound}."
    if audit.epsilon_lower == 0:
        return "The attack showed nothing: its lower bound on epsilon is 0."
    agreed = "the claim" if audit.certified == math.inf else "claim and certificate"
    return f"The attack agrees with {agreed}: {bound}."
