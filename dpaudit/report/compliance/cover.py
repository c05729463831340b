"""Section 0, the cover: the verdict, its meaning for one person, and a place to sign."""

import hashlib
import math

from dpaudit.accounting.curves.gaussian_dp import mu_above, mu_at_every_delta
from dpaudit.accounting.fold import fold
from dpaudit.accounting.loss_tail import LossTail
from dpaudit.model.case import never_attacked
from dpaudit.model.claim import Model
from dpaudit.model.declaration import Declaration, Subsample, walk
from dpaudit.report.compliance.fields import Field, Section, declared, evidence, not_applicable, stated, unknown
from dpaudit.report.curves import Curve
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import Person, odds_of, person_sentence, share_sentence
from dpaudit.report.verdicts import outcome_of, shown_word
from dpaudit.wording.audits import bound_phrase
from dpaudit.wording.certificates import sources_phrase
from dpaudit.wording.numerals import at_most, at_most_beside, exact, nearest

LEFT_OPEN: dict[Model, str] = {
    "central": "the curator, who sees the data before any noise",
    "joint": (
        "each person's own output: it may depend on that person's data without noise, and whoever sees it may learn it"
    ),
    "local": "what the device holds and does before the message is sent",
}
"""What each model of the claim leaves unprotected."""


def cover(report: ReportInputs, curve: Curve, tail: LossTail | None, person: Person | None) -> Section:
    """Return section 0: privacy first, then usefulness, then how many must be trusted."""
    claim, identity = report.certificate.claim, report.deployment.identity
    actors, utility = report.deployment.actors, report.deployment.utility
    first = utility[0] if utility else None
    return Section(
        number="0",
        ident="cover",
        title="Cover and verdict",
        crosswalk="W3C considerations for reviewing such systems; ISO/IEC 27559: transparency",
        fields=(
            evidence("Verdict", shown_word(outcome_of(report).word, report.word), "verdict"),
            evidence("Meaning", odds_of(report, tail), "tail"),
            stated("Claimed epsilon", exact(claim.epsilon), "certificate.claim.epsilon"),
            _certified(report),
            _gaussian(report, curve),
            _audited(report),
            _left_out(report),
            _person(report, person),
            _share(report),
            stated("Left open by the model", LEFT_OPEN[claim.model], "certificate.claim.model"),
            *_own_unit(report),
            _useful(report, f"{first.measure}: {nearest(first.value)}" if first else ""),
            declared("Trusted parties", sum(bool(a.trusted_for) for a in actors) if actors else "", "actors"),
            stated("System", report.system.name, "system.name") if report.system.name else unknown("System"),
            declared("Version", identity.version, "identity.version"),
            declared("Commit", identity.commit, "identity.commit"),
            evidence("Configuration digest", digest_of(report.config_text), "config")
            if report.config_text
            else unknown("Configuration digest"),
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


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def finite(epsilon: float, claimed: float | None = None) -> str:
    """Return an upper bound, with enough digits beside the claimed one; no finite one is said in words."""
    if epsilon == math.inf:
        return "no finite epsilon"
    return at_most(epsilon) if claimed is None else at_most_beside(epsilon, claimed)


def _certified(report: ReportInputs) -> Field:
    """Return the proved epsilon; none where no upper bound is known of the code."""
    name = "Proved epsilon" if report.word == "proved" else "Certified epsilon"
    if report.certificate.verdict == "stated":
        told = finite(report.certificate.tight.epsilon.upper, report.certificate.claim.epsilon)
        return evidence("Stated epsilon", f"{told}, by {sources_phrase(report.certificate)}", "certificate.trust")
    if report.void:
        return evidence(name, f"none: {report.void}", "certificate")
    upper = report.certificate.tight.epsilon.upper
    return evidence(name, finite(upper, report.certificate.claim.epsilon), "certificate.tight.epsilon")


def _gaussian(report: ReportInputs, curve: Curve) -> Field:
    """Return mu of the Gaussian mechanism with the same delta at epsilon 0, at the claimed delta, and everywhere."""
    name, certificate = "Gaussian mu", report.certificate
    if report.void or not curve.deltas:
        return not_applicable(name, f"no curve is proved: {report.void or curve.unavailable}")
    told = [f"{at_most(mu_above(0.0, curve.deltas[0].upper))} at epsilon 0"]
    upper, delta = certificate.tight.epsilon.upper, certificate.claim.delta
    if delta > 0 and upper < math.inf:
        told.append(f"{at_most(mu_above(upper, delta))} at delta {exact(delta)}")
    _, high = mu_at_every_delta(fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions))
    if high == math.inf:
        return evidence(name, f"at most {', '.join(told)}; no mu is known that holds at every delta", "curve")
    useless = "; this bound ignores the sampling" if _sampled(certificate.declaration) else ""
    narrower = "" if told[0].startswith(f"{at_most(high)} ") else f"; at most {', '.join(told)}"
    return evidence(name, f"mu = {at_most(high)} (Gaussian differential privacy){useless}{narrower}", "curve")


def _sampled(node: Declaration) -> bool:
    """Return whether a part of the tree sees a sample."""
    return any(isinstance(part, Subsample) for _, part in walk(node))


def _audited(report: ReportInputs) -> Field:
    """Return the largest lower bound of the audits, with what it takes for granted."""
    best = max(report.audits, key=lambda audit: audit.epsilon_lower, default=None)
    return unknown("Audited epsilon") if best is None else evidence("Audited epsilon", bound_phrase(best), "audits")


def _left_out(report: ReportInputs) -> Field:
    """Return the declared releases that no audit attacked."""
    name = "Releases that no audit attacked"
    if not report.audits:
        return unknown(name, "no audit was made")
    coverages = [audit.coverage for audit in report.audits if audit.coverage is not None]
    if not any(coverage.recorded for coverage in coverages):
        return unknown(name, "the audits record no releases")
    left_out = never_attacked(coverages)
    if not left_out:
        return evidence(name, "none: every declared release was attacked", "audits.coverage")
    return evidence(name, ", ".join(left_out), "audits.coverage")


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


def _share(report: ReportInputs) -> Field:
    """Return delta times the number of units."""
    name = "Delta times the number of units"
    if report.certificate.claim.delta == 0:
        return not_applicable(name, "delta is 0")
    if report.units is None:
        return unknown(name, "The number of units was not said")
    if report.void:
        return not_applicable(name, f"no delta is proved: {report.void}")
    said = report.deployment.scope.number_of_units is not None
    text = share_sentence(report)
    return declared(name, text, "scope.number_of_units") if said else evidence(name, text, "number_of_units")


def _own_unit(report: ReportInputs) -> tuple[Field, ...]:
    """Return the algorithm's own words for a unit where the owner's words replace them."""
    own = report.own_unit
    return (evidence("Unit in the algorithm's own words", own, "own_unit"),) if own and own != report.unit else ()
