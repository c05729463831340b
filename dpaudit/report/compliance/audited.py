"""Section 7: each audit with its attack, its bound, its power and its ceiling."""

import math

from dpaudit.model.audit_result import AuditResult, FollowedPlan
from dpaudit.report.compliance.fields import Field, Grid, Section, evidence, unknown
from dpaudit.report.compliance.reviewer import most_at_risk
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.audits import (
    bound_phrase,
    lines_sentence,
    measured_phrase,
    plan_phrase,
    power_phrase,
    releases_sentence,
    significance_phrase,
)
from dpaudit.wording.numerals import at_most, counted, exact, whole


def audited(report: ReportInputs) -> Section:
    """Return section 7."""
    audits, findings = report.audits, report.certificate.findings
    trace = evidence(
        "L0: what ran against what was declared",
        counted(len(findings), "finding") if findings else "no difference was seen",
        "certificate.findings",
    )
    looked = bool(findings) or any(c.status != "assumed" for c in report.certificate.conditions)
    significance = math.fsum(audit.significance for audit in audits)
    looks = (
        evidence(
            "Correction for several looks",
            f"the significances of {counted(len(audits), 'audit')} add up to {at_most(significance)}: correct code is "
            f"flagged by any of them with probability {at_most(min(1.0, significance))} or less",
            "audits",
        )
        if audits
        else unknown("Correction for several looks", "no audit was made")
    )
    risk = most_at_risk(audits)
    rows = tuple(_row(number, audit) for number, audit in enumerate(audits, start=1))
    return Section(
        number="7",
        ident="audits",
        title="Empirical audits",
        crosswalk="ISO/IEC 27559: adversarial testing; EDPB Opinion 28/2024: resistance to attacks",
        fields=(
            *_plan(report),
            trace if looked else unknown("L0: what ran against what was declared", "no run was traced"),
            evidence("L1: a mechanism's output, and L2: the whole system", counted(len(audits), "audit"), "audits")
            if audits
            else unknown("L1: a mechanism's output, and L2: the whole system"),
            looks,
            evidence("Pair most at risk", risk, "audits")
            if risk
            else unknown("Pair most at risk", "no audit was made"),
            evidence("Where the threshold was chosen", "on other runs than those that count", "audits")
            if audits
            else unknown("Where the threshold was chosen", "no audit was made"),
        ),
        grids=(
            Grid(
                name="audits",
                caption="Audits, and how far each could have seen",
                head=("Audit, view", "Attack and pair", "Bound", "Outcome", "Would have caught", "Ceiling"),
                rows=rows,
                statuses=tuple("evidence" for _ in rows),
                note="" if rows else "Nobody attacked the running code.",
            ),
        ),
    )


def _plan(report: ReportInputs) -> tuple[Field, ...]:
    """Return the plan that the audits were bound to, with everything that departed from it; nothing without one."""
    if report.plan is None:
        return ()
    held = FollowedPlan(digest=report.plan.digest, departures=report.departures)
    return (evidence("Plan before the run", plan_phrase(held), "plan"),)


def _row(number: int, audit: AuditResult) -> tuple[str, ...]:
    """Return one audit as a row."""
    seen = power_phrase(audit)
    counts = audit.counts
    return (
        f"{number}. {audit.name}; {audit.view}",
        f"{audit.attack}. {audit.description} {_covers(audit)}".strip(),
        f"{audit.bound}: epsilon {bound_phrase(audit)}, at delta {exact(audit.delta)}, "
        f"significance {significance_phrase(audit)}" + "".join(f"; {measured_phrase(held)}" for held in audit.measured),
        f"{audit.verdict}; {whole(counts.correct)} of {whole(counts.guesses)} guesses correct in "
        f"{whole(audit.runs)} runs; seed {audit.seed if audit.seed is not None else 'not recorded'}",
        seen,
        at_most(audit.ceiling),
    )


def _covers(audit: AuditResult) -> str:
    """Return what an audit covers of its program; an empty text where it belongs to none."""
    coverage = audit.coverage
    return "" if coverage is None else f"{releases_sentence(coverage)} {lines_sentence(coverage)}"
