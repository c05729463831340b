"""Section 0, the cover: the verdict, its meaning for one person, and a place to sign."""

import math

from dpaudit.model.case import never_attacked
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.report.compliance.fields import Field, Section, declared, evidence, not_applicable, stated, unknown
from dpaudit.report.compliance.in_measure import measured_fields
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import Person, person_sentence
from dpaudit.report.verdicts import outcome_of, shown_word
from dpaudit.wording.audits import bound_phrase
from dpaudit.wording.certificates import sources_phrase
from dpaudit.wording.numerals import at_most, at_most_beside, exact, nearest


def cover(report: ReportInputs, person: Person | None) -> Section:
    """Return section 0: privacy first, then usefulness, then how many must be trusted."""
    claim, identity = report.certificate.claim, report.deployment.identity
    measured = isinstance(claim, MeasuredClaim)
    actors, utility = report.deployment.actors, report.deployment.utility
    first = utility[0] if utility else None
    return Section(
        number="0",
        ident="cover",
        title="Cover and verdict",
        crosswalk="W3C considerations for reviewing such systems; ISO/IEC 27559: transparency",
        fields=(
            evidence("Verdict", shown_word(outcome_of(report).word, report.word), "verdict"),
            stated("Claim", claim.words, "certificate.claim")
            if measured
            else stated("Claimed epsilon", exact(claim.epsilon), "certificate.claim.epsilon"),
            *measured_fields(report),
            _certified(report),
            _audited(report),
            _left_out(report),
            _person(report, person),
            _useful(report, f"{first.measure}: {nearest(first.value)}" if first else ""),
            declared("Trusted parties", sum(bool(a.trusted_for) for a in actors) if actors else "", "actors"),
            stated("System", report.system.name, "system.name") if report.system.name else unknown("System"),
            evidence("Date", report.created, "created"),
            declared("Valid until", identity.valid_until, "identity.valid_until"),
            declared("Author", identity.author, "identity.author"),
            declared("Reviewer", identity.reviewer, "identity.reviewer"),
            evidence("Digest to sign", "", "digest_to_sign"),
        ),
    )


def _useful(report: ReportInputs, stated_measure: str) -> Field:
    """Return what a study measured by simulation, else what was declared, else why nothing is known."""
    useful = report.usefulness
    if useful.assessed:
        return evidence("Usefulness", useful.short, "sections")
    if stated_measure or not useful.why:
        return declared("Usefulness", stated_measure, "utility")
    return unknown("Usefulness", f"not assessed: {useful.why}")


def finite(epsilon: float, claimed: float | None = None) -> str:
    """Return an upper bound, with enough digits beside the claimed one; no finite one is said in words."""
    if epsilon == math.inf:
        return "no finite epsilon"
    return at_most(epsilon) if claimed is None else at_most_beside(epsilon, claimed)


def _certified(report: ReportInputs) -> Field:
    """Return the proved epsilon; none where no upper bound is known of the code."""
    name = "Proved epsilon" if report.word == "proved" else "Certified epsilon"
    if report.certificate.verdict == "stated":
        told = finite(report.reading.tight.epsilon.upper, report.reading.claim.epsilon)
        return evidence("Stated epsilon", f"{told}, by {sources_phrase(report.certificate)}", "certificate.trust")
    if report.void:
        return evidence(name, f"none: {report.void}", "certificate")
    upper = report.reading.tight.epsilon.upper
    return evidence(name, finite(upper, report.reading.claim.epsilon), f"{report.reading.source}.tight.epsilon")


def _audited(report: ReportInputs) -> Field:
    """Return the largest lower bound of the audits, with what it takes for granted."""
    best = max(report.audits, key=lambda audit: audit.epsilon_lower, default=None)
    return unknown("Audited epsilon") if best is None else evidence("Audited epsilon", bound_phrase(best), "audits")


def _left_out(report: ReportInputs) -> Field:
    """Return the first few declared releases that no audit attacked."""
    name = "Releases that no audit attacked"
    if not report.audits:
        return unknown(name, "no audit was made")
    coverages = [audit.coverage for audit in report.audits if audit.coverage is not None]
    if not any(coverage.recorded for coverage in coverages):
        return unknown(name, "the audits record no releases")
    left_out = never_attacked(coverages)
    if not left_out:
        return evidence(name, "none: every declared release was attacked", "audits.coverage")
    most = 6
    more = f" and {len(left_out) - most} more" if len(left_out) > most else ""
    return evidence(name, ", ".join(left_out[:most]) + more, "audits.coverage")


def _person(report: ReportInputs, person: Person | None) -> Field:
    """Return the guarantee of all units of one person."""
    name = "One person"
    if person is None:
        return unknown(name, "How many units one person contributes was not said")
    if report.void:
        return not_applicable(name, f"no bound is known: {report.void}")
    said = report.deployment.contributions.units_per_person is not None
    text = person_sentence(report, person)
    return declared(name, text, "contributions.units_per_person") if said else evidence(name, text, "person")
