"""Sections 7 and 7a: audits of code and of scores, each in one row, with details by fact, bound and audit."""

import math
from collections.abc import Callable, Iterator

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.compliance.fields import Field, Grid, Part, Status, evidence, grid
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.marks import unattacked_phrase, watched
from dpaudit.wording.audits import audit_facts, bound_phrase, certified_phrase, detectable, plan_phrase
from dpaudit.wording.claims import capital
from dpaudit.wording.numerals import at_least, at_most, counted, nearest
from dpaudit.wording.scores import BOUNDS_HEAD, scores_bounds, scores_evidence, scores_meaning, scores_rates

_UNSEEN = "By its output no fault of the code would have been caught."


def audited(facts: Facts) -> Iterator[Part]:
    """Yield section 7."""
    report, audits = facts.report, facts.report.audits
    findings = report.certificate.findings
    if report.plan is not None:
        yield evidence("Plan before the run", plan_phrase(report.plan.digest, report.departures), "plan")
    seen = counted(len(findings), "finding") if findings else "no difference was seen"
    yield evidence(
        "L0: what ran against what was declared",
        seen if watched(report) else "",
        "certificate.findings",
        unless="no run was traced",
    )
    yield evidence(
        "L1: a mechanism's output, and L2: the whole system",
        counted(len(audits), "audit") if audits else "",
        "audits",
        unless="no audit was made",
    )
    if audits:
        significance = at_most(min(1.0, math.fsum(audit.significance for audit in audits)))
        yield evidence("Would have caught", _together(map(detectable, audits)), "audits")
        yield evidence(
            "Correction for several looks",
            f"the significances of {counted(len(audits), 'audit')} add up to {significance}: correct code is flagged "
            f"by any of them with probability {significance} or less",
            "audits",
        )
        yield evidence("Pair most at risk", most_at_risk(audits), "audits")
        yield evidence("Where the threshold was chosen", "on other runs than those that count", "audits")
    yield grid(
        "audits",
        "Audits, and the most that their runs could have shown",
        ("Audit", "Measured epsilon", "Outcome", "Significance", "Ceiling"),
        (
            (
                f"{number}. {audit.name}",
                bound_phrase(audit),
                audit.verdict.replace("_", " "),
                nearest(audit.significance),
                at_most(audit.ceiling),
            )
            for number, audit in enumerate(audits, start=1)
        ),
        note="" if audits else f"{unattacked_phrase(report)} {_UNSEEN}",
    )
    if audits:
        yield _details(report)
        yield _bounds(audits)


def most_at_risk(audits: tuple[AuditResult, ...]) -> str:
    """Return which attacked pair shows the largest epsilon, with the multiplicity paid; empty without audits."""
    free = [audit for audit in audits if not audit.assumption]
    if not free:
        return f"none is named: each bound of {counted(len(audits), 'audit')} rests on an assumption" if audits else ""
    worst = max(free, key=lambda audit: audit.epsilon_lower)
    error = min(1.0, math.fsum(audit.significance for audit in audits))
    if worst.epsilon_lower == 0:
        return f"none of {counted(len(audits), 'attacked pair')} shows an epsilon above 0"
    described = f" ({worst.description.rstrip('.')})" if worst.description else ""
    return (
        f"'{worst.name}'{described}: epsilon {bound_phrase(worst)}, the largest of {counted(len(audits), 'pair')}; all "
        f"bounds hold together except with probability {at_most(error)}"
    )


def _details(report: ReportInputs) -> Grid:
    """Return what else is known of the audits: one row a fact, and one value where it is the same for all."""
    facts = [
        audit_facts(audit) | ({} if report.void else {"the certificate allowed": certified_phrase(audit)})
        for audit in report.audits
    ]
    names = dict.fromkeys(name for facts_of_audit in facts for name in facts_of_audit)
    return grid(
        "audit_details",
        "How the code was attacked" + ("; numbers before a colon are audits" if len(facts) > 1 else ""),
        ("Fact", "Audits"),
        ((capital(name), _together(facts_of_audit.get(name, "") for facts_of_audit in facts)) for name in names),
        annex=True,
    )


def _together(values: Iterator[str]) -> str:
    """Return one value an audit, each once with the numbers of its audits; only the value where all agree.

    >>> _together(iter(["a", "a"])), _together(iter(["a", "b", "a"]))
    ('a', '1, 3: a; 2: b')
    """
    numbers: dict[str, list[str]] = {}
    for number, value in enumerate(values, start=1):
        numbers.setdefault(value, []).append(str(number))
    if len(numbers) == 1:
        return next(iter(numbers))
    return "; ".join(f"{', '.join(own)}: {value.removesuffix('.')}" for value, own in numbers.items() if value)


def _bounds(audits: tuple[AuditResult, ...]) -> Grid:
    """Return every lower bound of the audits, a row for each bound; the deciding ones are in the details."""
    kinds = dict.fromkeys((b.name, b.significance, b.assumption) for audit in audits for b in audit.bounds)

    def shown(audit: AuditResult, kind: tuple[str, float, str]) -> str:
        """Return the bounds of one kind that an audit has."""
        own = (b for b in audit.bounds if (b.name, b.significance, b.assumption) == kind)
        return ", ".join(at_least(b.epsilon) for b in own)

    return grid(
        "audit_bounds",
        "All bounds from these runs",
        ("Bound", "Epsilon at least", "Significance", "Takes for granted"),
        (
            (kind[0], _together(shown(audit, kind) for audit in audits), nearest(kind[1]), kind[2] or "nothing")
            for kind in kinds
        ),
        note="" if kinds else "No bound is recorded beside the deciding one.",
        annex=True,
    )


def scored(facts: Facts) -> Iterator[Part]:
    """Yield section 7a where the configuration names audits of scores, else nothing."""
    scores = facts.report.scores
    if not scores:
        return
    for number, scored_file in enumerate(scores, start=1):
        result, ref = scored_file.result, f"scores[{number - 1}]"
        verdict = f"{result.verdict.replace('_', ' ')}. {scores_meaning(result)}"
        yield evidence(f"S{number}: verdict", verdict, ref)
        for name, text in scores_evidence(result):
            status: Status = "declared" if name == "sampling" else "evidence"
            apart = "; whether the certificate's declaration is the same was not compared"
            value = text + apart if name.startswith("declared") else text
            yield Field(name=f"S{number}: {name}", value=value, status=status, evidence_ref=ref)
        yield evidence(f"S{number}: file", f"{scored_file.file}, SHA-256 {scored_file.digest}", f"{ref}.digest")

    def numbered(rows_of: Callable[[ScoresResult], tuple[tuple[str, ...], ...]]) -> Iterator[tuple[str, ...]]:
        """Yield the rows of each audit of scores, the first cell with its number."""
        for number, scored_file in enumerate(scores, start=1):
            yield from ((f"S{number}: {first}", *others) for first, *others in rows_of(scored_file.result))

    yield grid(
        "score_bounds",
        "Lower bounds on epsilon from scores, each under the stated sampling",
        tuple(map(capital, BOUNDS_HEAD)),
        numbered(scores_bounds),
    )
    yield grid(
        "score_rates",
        "How well the scores tell members from others",
        ("Quantity", "Measured and limits"),
        numbered(scores_rates),
    )
