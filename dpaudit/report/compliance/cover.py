"""Section 0, the cover: the verdict, its meaning for one person, and a place to sign."""

from collections.abc import Iterator

from dpaudit.model.case import never_attacked
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.report.compliance import fields
from dpaudit.report.compliance.certified import measured_fields
from dpaudit.report.compliance.fields import Part
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import person_sentence
from dpaudit.report.verdicts import shown_word
from dpaudit.wording.audits import bound_phrase, listed
from dpaudit.wording.certificates import finite, sources_phrase
from dpaudit.wording.numerals import exact, nearest

_MOST_NAMED = 6
"""So many releases are named on the cover."""


def cover(facts: Facts) -> Iterator[Part]:
    """Yield section 0: privacy first, then usefulness, then how many must be trusted."""
    report, claim, actors = facts.report, facts.report.certificate.claim, facts.report.deployment.actors
    best = max(report.audits, key=lambda audit: audit.epsilon_lower, default=None)
    yield fields.evidence("Verdict", shown_word(facts.outcome.word, report.word), "verdict")
    if isinstance(claim, MeasuredClaim):
        yield fields.stated("Claim", claim.words, "certificate.claim")
    else:
        yield fields.stated("Claimed epsilon", exact(claim.epsilon), "certificate.claim.epsilon")
    yield from measured_fields(report)
    yield _certified(report)
    yield fields.evidence("Audited epsilon", bound_phrase(best) if best is not None else "", "audits")
    yield _left_out(report)
    yield _person(facts)
    yield _useful(report)
    yield fields.declared("Trusted parties", sum(bool(a.trusted_for) for a in actors) if actors else "", "actors")
    yield fields.stated("System", report.system.name, "system.name") if report.system.name else fields.unknown("System")
    yield fields.evidence("Date", report.created, "created")
    yield from fields.declared_fields(report.deployment.identity, "identity", "valid_until", "author", "reviewer")
    yield fields.Field(name="Digest to sign", value="", status="evidence", evidence_ref="digest_to_sign")


def _useful(report: ReportInputs) -> fields.Field:
    """Return what a study measured by simulation, else what was declared, else why nothing is known."""
    useful, measures = report.usefulness, report.deployment.utility
    if useful.assessed:
        return fields.evidence("Usefulness", useful.short, "sections")
    if measures or not useful.why:
        text = f"{measures[0].measure}: {nearest(measures[0].value)}" if measures else ""
        return fields.declared("Usefulness", text, "utility")
    return fields.unknown("Usefulness", f"not assessed: {useful.why}")


def _certified(report: ReportInputs) -> fields.Field:
    """Return the proved epsilon; none where no upper bound is known of the code."""
    name = "Proved epsilon" if report.word == "proved" else "Certified epsilon"
    upper = finite(report.reading.tight.epsilon.upper, report.reading.claim.epsilon)
    if report.certificate.verdict == "stated":
        return fields.evidence(
            "Stated epsilon", f"{upper}, by {sources_phrase(report.certificate)}", "certificate.trust"
        )
    if report.void:
        return fields.evidence(name, f"none: {report.void}", "certificate")
    return fields.evidence(name, upper, f"{report.reading.source}.tight.epsilon")


def _left_out(report: ReportInputs) -> fields.Field:
    """Return the first few declared releases that no audit attacked."""
    name = "Releases that no audit attacked"
    if not report.audits:
        return fields.unknown(name, "no audit was made")
    coverages = [audit.coverage for audit in report.audits if audit.coverage is not None]
    if not any(coverage.recorded for coverage in coverages):
        return fields.unknown(name, "the audits record no releases")
    left_out = never_attacked(coverages)
    return fields.evidence(
        name, listed(left_out, _MOST_NAMED) or "none: every declared release was attacked", "audits.coverage"
    )


def _person(facts: Facts) -> fields.Field:
    """Return the guarantee of all units of one person."""
    report, person, name = facts.report, facts.person, "One person"
    if person is None:
        return fields.unknown(name, "How many units one person contributes was not said")
    if report.void:
        return fields.not_applicable(name, f"no bound is known: {report.void}")
    text = person_sentence(report, person)
    if report.deployment.contributions.units_per_person is None:
        return fields.evidence(name, text, "person")
    return fields.declared(name, text, "contributions.units_per_person")
