"""Plain words and honest digits: what a certificate or an audit says, one sentence at a time."""

import math
from typing import assert_never

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.bracket import Bracket
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.readings import PrintedReading, Slack, Verdict
from dpaudit.wording.names import promise
from dpaudit.wording.numerals import at_least, at_most, nearest


def bracket(held: Bracket) -> str:
    """Return where a number provably lies, in words and rounded outwards."""
    if held.lower == math.inf:
        return "infinite"
    if held.lower == held.upper == 0:
        return "0"
    if held.upper == math.inf and held.lower == 0:
        return "not bounded by what is known"
    if held.upper == math.inf:
        return f"at least {at_least(held.lower)}, with no upper bound"
    if held.upper < 1e-300:
        return "below 10⁻³⁰⁰"
    if held.lower == 0:
        return f"at most {at_most(held.upper)}"
    return f"between {at_least(held.lower)} and {at_most(held.upper)}"


def verdict(held: Verdict) -> str:
    """Return a certificate's verdict as a reader says it."""
    match held:
        case "certified":
            return "CERTIFIED"
        case "refuted":
            return "REFUTED"
        case "not_proved":
            return "NOT PROVED"
        case _:
            assert_never(held)


def parameters(claim: Claim) -> str:
    """Return the claim's numbers, as in "epsilon = 1, delta = 1e-05"."""
    return f"epsilon = {nearest(claim.epsilon)}, delta = {nearest(claim.delta)}"


def neighbours(held: Neighbours) -> str:
    """Return what may differ between two neighbouring data sets."""
    match held:
        case "replace_one":
            return "one record replaced"
        case "add_remove":
            return "one record added or removed"
        case _:
            assert_never(held)


def meaning(certificate: CertificateRecord) -> str:
    """Return what the verdict says about the claim, in one sentence."""
    claim, epsilon = certificate.claim, certificate.tight.epsilon
    match certificate.verdict:
        case "certified":
            return promise(claim)
        case "refuted":
            floor = "is infinite" if epsilon.lower == math.inf else f"is at least {at_least(epsilon.lower)}"
            return (
                f"The declared noise cannot keep the claim: at delta = {nearest(claim.delta)} epsilon {floor}, "
                f"and {nearest(claim.epsilon)} was claimed."
            )
        case "not_proved":
            return "The claim may be true, but what was declared and seen does not prove it."
        case _:
            assert_never(certificate.verdict)


def printed(reading: PrintedReading) -> str:
    """Return what the paper's own argument concludes, and whether it holds as written."""
    steps = "each step holds as written" if reading.valid else "but not every step holds as written"
    return f"It concludes epsilon = {nearest(reading.epsilon)}, delta = {nearest(reading.delta)}; {steps}."


def slack(held: Slack) -> str:
    """Return how loose the claim is, in one sentence."""
    if not math.isfinite(held.epsilon_ratio) or not math.isfinite(held.noise_ratio):
        return "The slack has no finite size: one of the two readings is infinite or zero."
    if abs(held.noise_ratio - 1) < 1e-3 and abs(held.epsilon_ratio - 1) < 1e-3:
        return "There is none: the noise is what the claim needs, no more."
    if held.noise_ratio < 1:
        return f"The noise is {nearest(1 / held.noise_ratio)} times smaller than the claim needs."
    return (
        f"The noise is {nearest(held.noise_ratio)} times larger than the claim needs, and the claimed epsilon "
        f"{nearest(held.epsilon_ratio)} times the one delivered."
    )


def audit_meaning(result: AuditResult) -> str:
    """Return what an audit's verdict says, in one sentence."""
    lower, claimed = at_least(result.epsilon_lower), nearest(result.claim.epsilon)
    match result.verdict:
        case "violation" if result.assumption:
            return (
                f"If {result.assumption}, epsilon is at least {lower}, and the declaration delivers "
                f"{at_most(result.certified)}. The code is not what is declared."
            )
        case "violation" if result.exceeds_claim:
            return f"The attack shows epsilon of at least {lower}, above the claimed {claimed}."
        case "violation":
            return (
                f"The attack shows epsilon of at least {lower}: inside the claimed {claimed}, but above the "
                f"{at_most(result.certified)} that the declaration delivers. The code is not what is declared."
            )
        case "consistent":
            return f"The attack shows epsilon of at least {lower}, within the claimed {claimed}."
        case "inconclusive":
            return f"The attack shows epsilon of at least {lower}, and could not have shown much more."
        case _:
            assert_never(result.verdict)


def power(result: AuditResult) -> str:
    """Return how far the audit could have seen."""
    return (
        f"It would have shown a true epsilon of {nearest(result.power.epsilon)} with probability "
        f"{nearest(result.power.probability)}; no attack shows more than {nearest(result.ceiling)} in so many runs."
    )
