"""Section 7: each audit in one row, and its details by fact, bound and audit."""

import math
from collections.abc import Callable

from dpaudit.model.audit_result import AuditResult, FollowedPlan
from dpaudit.report.compliance.fields import Field, Grid, Section, evidence, unknown
from dpaudit.report.compliance.reviewer import most_at_risk
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.audits import (
    bound_phrase,
    certified_phrase,
    detectable,
    lines_sentence,
    measured_phrase,
    plan_phrase,
    releases_sentence,
    significance_phrase,
)
from dpaudit.wording.numerals import at_least, at_most, counted, exact, nearest, whole


def audited(report: ReportInputs) -> Section:
    """Return section 7."""
    audits, findings = report.audits, report.certificate.findings
    trace = evidence(
        "L0: what ran against what was declared",
        counted(len(findings), "finding") if findings else "no difference was seen",
        "certificate.findings",
    )
    looked = bool(findings) or any(c.status != "assumed" for c in report.certificate.conditions)
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
            else unknown("L1: a mechanism's output, and L2: the whole system", "no audit was made"),
            *_looks(audits),
        ),
        grids=(
            Grid(
                name="audits",
                caption="Audits, and the most that their runs could have shown",
                head=("Audit", "Measured epsilon", "Outcome", "Significance", "Ceiling"),
                rows=tuple(map(_row, range(1, len(audits) + 1), audits)),
                statuses=tuple("evidence" for _ in audits),
                note="" if audits else "Nobody attacked the running code: no fault of the code would have been caught.",
            ),
            *((_details(report), _bounds(audits)) if audits else ()),
        ),
    )


def _looks(audits: tuple[AuditResult, ...]) -> tuple[Field, ...]:
    """Return the power, how several looks are paid for, and where thresholds come from; nothing without an audit."""
    if not audits:
        return ()
    risk = most_at_risk(audits)
    significance = at_most(min(1.0, math.fsum(audit.significance for audit in audits)))
    return (
        evidence("Would have caught", _together([detectable(audit) for audit in audits]), "audits"),
        evidence(
            "Correction for several looks",
            f"the significances of {counted(len(audits), 'audit')} add up to {significance}: correct code is flagged "
            f"by any of them with probability {significance} or less",
            "audits",
        ),
        evidence("Pair most at risk", risk, "audits") if risk else unknown("Pair most at risk"),
        evidence("Where the threshold was chosen", "on other runs than those that count", "audits"),
    )


def _plan(report: ReportInputs) -> tuple[Field, ...]:
    """Return the plan that the audits were bound to, with everything that departed from it; nothing without one."""
    if report.plan is None:
        return ()
    held = FollowedPlan(digest=report.plan.digest, departures=report.departures)
    return (evidence("Plan before the run", plan_phrase(held), "plan"),)


def _row(number: int, audit: AuditResult) -> tuple[str, ...]:
    """Return one audit as a row."""
    return (
        f"{number}. {audit.name}",
        bound_phrase(audit),
        audit.verdict.replace("_", " "),
        nearest(audit.significance),
        at_most(audit.ceiling),
    )


def _details(report: ReportInputs) -> Grid:
    """Return what else is known of the audits: one row a fact, and one value where it is the same for all."""
    facts: dict[str, Callable[[AuditResult], str]] = {
        "View": lambda audit: audit.view,
        "Attack": lambda audit: audit.attack,
        "Pair and statistic": lambda audit: audit.description,
        "Releases": lambda audit: releases_sentence(audit.coverage) if audit.coverage else "",
        "Lines": lambda audit: lines_sentence(audit.coverage) if audit.coverage else "",
        "Guesses": _guesses,
        "Delta": lambda audit: exact(audit.delta),
        "Significance": significance_phrase,
        "Other measures": lambda audit: "; ".join(measured_phrase(held) for held in audit.measured),
        "Deciding bound": lambda audit: audit.bound,
        "Seed": lambda audit: str(audit.seed) if audit.seed is not None else "not recorded",
    }
    if not report.void:
        facts["The certificate allowed"] = certified_phrase
    told = ((name, _together([say(audit) for audit in report.audits])) for name, say in facts.items())
    rows = tuple((name, text) for name, text in told if text)
    return Grid(
        name="audit_details",
        annex=True,
        caption="How the code was attacked" + ("; numbers before a colon are audits" if len(report.audits) > 1 else ""),
        head=("Fact", "Audits"),
        rows=rows,
        statuses=tuple("evidence" for _ in rows),
    )


def _guesses(audit: AuditResult) -> str:
    """Return the counts of the threshold test, on runs that chose nothing."""
    counts = audit.counts
    return (
        f"{whole(counts.correct)} of {whole(counts.guesses)} correct in {whole(audit.runs)} runs; true positives "
        f"{whole(counts.true_positives)} of {whole(counts.positives)}, false positives "
        f"{whole(counts.false_positives)} of {whole(counts.negatives)}"
    )


def _together(values: list[str]) -> str:
    """Return one value a audit, each once with the numbers of its audits; only the value where all agree.

    >>> _together(["a", "a"]), _together(["a", "b", "a"])
    ('a', '1, 3: a; 2: b')
    """
    numbers: dict[str, list[str]] = {}
    for number, value in enumerate(values, start=1):
        numbers.setdefault(value, []).append(str(number))
    if len(numbers) == 1:
        return values[0]
    return "; ".join(f"{', '.join(held)}: {value.removesuffix('.')}" for value, held in numbers.items() if value)


def _bounds(audits: tuple[AuditResult, ...]) -> Grid:
    """Return every lower bound of the audits, a row for each bound; the deciding ones are in the details."""
    names = dict.fromkeys((b.name, b.significance, b.assumption) for audit in audits for b in audit.bounds)
    rows = tuple(
        (
            name,
            _together(
                [
                    ", ".join(
                        at_least(b.epsilon)
                        for b in audit.bounds
                        if (b.name, b.significance, b.assumption) == (name, significance, assumption)
                    )
                    for audit in audits
                ]
            ),
            nearest(significance),
            assumption or "nothing",
        )
        for name, significance, assumption in names
    )
    return Grid(
        name="audit_bounds",
        annex=True,
        caption="All bounds from these runs",
        head=("Bound", "Epsilon at least", "Significance", "Takes for granted"),
        rows=rows,
        statuses=tuple("evidence" for _ in rows),
        note="" if rows else "No bound is recorded beside the deciding one.",
    )
