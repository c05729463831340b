"""Section 0, the cover: the verdict, its meaning for one person, and a place to sign."""

from collections.abc import Iterator

from dpaudit.model.case import never_attacked
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.report.compliance.certified import measured_fields
from dpaudit.report.compliance.fields import (
    Field,
    Part,
    declared,
    declared_fields,
    evidence,
    not_applicable,
    stated,
    unknown,
)
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import person_sentence
from dpaudit.report.verdicts import shown_word
from dpaudit.wording.audits import bound_phrase
from dpaudit.wording.certificates import finite, sources_phrase
from dpaudit.wording.numerals import exact, nearest

_MOST_NAMED = 6
"""So many releases are named on the cover."""


def cover(facts: Facts) -> Iterator[Part]:
    """Yield section 0: privacy first, then usefulness, then how many must be trusted."""
    report, claim, actors = facts.report, facts.report.certificate.claim, facts.report.deployment.actors
    best = max(report.audits, key=lambda audit: audit.epsilon_lower, default=None)
    yield evidence("Verdict", shown_word(facts.outcome.word, report.word), "verdict")
    if isinstance(claim, MeasuredClaim):
        yield stated("Claim", claim.words, "certificate.claim")
    else:
        yield stated("Claimed epsilon", exact(claim.epsilon), "certificate.claim.epsilon")
    yield from measured_fields(report)
    yield _certified(report)
    yield evidence("Audited epsilon", bound_phrase(best) if best is not None else "", "audits")
    yield _left_out(report)
    yield _person(facts)
    yield _useful(report)
    yield declared("Trusted parties", sum(bool(a.trusted_for) for a in actors) if actors else "", "actors")
    yield stated("System", report.system.name, "system.name") if report.system.name else unknown("System")
    yield evidence("Date", report.created, "created")
    yield from declared_fields(report.deployment.identity, "identity", "valid_until", "author", "reviewer")
    yield Field(name="Digest to sign", value="", status="evidence", evidence_ref="digest_to_sign")


def _useful(report: ReportInputs) -> Field:
    """Return what a study measured by simulation, else what was declared, else why nothing is known."""
    useful, measures = report.usefulness, report.deployment.utility
    if useful.assessed:
        return evidence("Usefulness", useful.short, "sections")
    if measures or not useful.why:
        text = f"{measures[0].measure}: {nearest(measures[0].value)}" if measures else ""
        return declared("Usefulness", text, "utility")
    return unknown("Usefulness", f"not assessed: {useful.why}")


def _certified(report: ReportInputs) -> Field:
    """Return the proved epsilon; none where no upper bound is known of the code."""
    name = "Proved epsilon" if report.word == "proved" else "Certified epsilon"
    upper = finite(report.reading.tight.epsilon.upper, report.reading.claim.epsilon)
    if report.certificate.verdict == "stated":
        return evidence("Stated epsilon", f"{upper}, by {sources_phrase(report.certificate)}", "certificate.trust")
    if report.void:
        return evidence(name, f"none: {report.void}", "certificate")
    return evidence(name, upper, f"{report.reading.source}.tight.epsilon")


def _left_out(report: ReportInputs) -> Field:
    """Return the first few declared releases that no audit attacked."""
    name = "Releases that no audit attacked"
    if not report.audits:
        return unknown(name, "no audit was made")
    coverages = [audit.coverage for audit in report.audits if audit.coverage is not None]
    if not any(coverage.recorded for coverage in coverages):
        return unknown(name, "the audits record no releases")
    left_out = never_attacked(coverages)
    more = f" and {len(left_out) - _MOST_NAMED} more" if len(left_out) > _MOST_NAMED else ""
    listed = ", ".join(left_out[:_MOST_NAMED]) + more
    return evidence(name, listed or "none: every declared release was attacked", "audits.coverage")


def _person(facts: Facts) -> Field:
    """Return the guarantee of all units of one person."""
    report, person, name = facts.report, facts.person, "One person"
    if person is None:
        return unknown(name, "How many units one person contributes was not said")
    if report.void:
        return not_applicable(name, f"no bound is known: {report.void}")
    text = person_sentence(report, person)
    if report.deployment.contributions.units_per_person is None:
        return evidence(name, text, "person")
    return declared(name, text, "contributions.units_per_person")
