"""The words of an audit: its verdict, its power, and its bound against claim and certificate, a sentence each."""

import math
from typing import assert_never

from dpaudit.model.audit_result import AuditResult
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, exact


def audit_meaning(result: AuditResult) -> str:
    """Return the meaning of the verdict of an audit in one sentence."""
    lower, claimed = at_least_beside(result.epsilon_lower, result.claim.epsilon), exact(result.claim.epsilon)
    provided = provision(result)
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
            return f"The attack shows epsilon of at least {lower}{provided}, within the claimed {claimed}."
        case "inconclusive":
            return f"The attack shows epsilon of at least {lower}{provided}, and could not have shown much more."
        case _:
            assert_never(result.verdict)


def provision(result: AuditResult) -> str:
    """Return what the lower bound of an audit takes for granted, as a clause after the number; may be empty."""
    return f", provided that {result.assumption}" if result.assumption else ""


def bound_phrase(result: AuditResult) -> str:
    """Return the lower bound of an audit with what it takes for granted."""
    return f"at least {at_least_beside(result.epsilon_lower, result.claim.epsilon)}{provision(result)}"


def power_sentence(result: AuditResult) -> str:
    """Return the power and the ceiling of an audit."""
    return (
        f"It would have shown a true epsilon of {at_most(result.power.epsilon)} with probability "
        f"{at_least(result.power.probability)}; no attack shows more than {at_most(result.ceiling)} in so many runs."
    )


def detectable(audit: AuditResult) -> str:
    """Return the violations that an audit detects with known probability, and those that it may miss."""
    chance = at_least(audit.power.probability, 3)
    if audit.power.epsilon == math.inf:
        return "No violation, however large, would have been caught for certain: there were too few runs."
    line = f"A true epsilon of {at_most(audit.power.epsilon)} or more, with probability {chance} or more."
    if audit.ceiling <= audit.claim.epsilon:
        return f"{line} With so few runs no attack shows more than {at_most(audit.ceiling)}: none can refute the claim."
    if audit.power.epsilon > audit.claim.epsilon:
        return f"{line} Violations between {exact(audit.claim.epsilon)} and that may have been missed."
    return f"{line} That is within the claim, so larger violations would have been seen as well."


def certified_phrase(audit: AuditResult) -> str:
    """Return the epsilon that the certificate allowed at the time of the audit."""
    return "not known to the audit" if audit.certified == math.inf else f"epsilon of at most {at_most(audit.certified)}"


def position(audit: AuditResult) -> str:
    """Return the position of the lower bound of an audit against claim and certificate."""
    bound = f"epsilon is {bound_phrase(audit)}"
    if audit.verdict == "inconclusive":
        return f"The attack reached no result ({bound})."
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
