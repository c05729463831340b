"""The verdict that a bound and the power of its audit allow."""

from dpaudit import Claim, Power
from dpaudit.model.audit_result import AuditVerdict


def verdict_of(epsilon_lower: float, power: Power, claim: Claim, certified: float) -> AuditVerdict:
    """Return the verdict on a claim and on a certificate's upper bound.

    *violation*: the bound exceeds either. *inconclusive*: even a gross violation, of twice the claim's epsilon or one
    nat above it if that is more, would have been missed more than one time in ten. Else *consistent*.
    """
    if epsilon_lower > min(claim.epsilon, certified):
        return "violation"
    gross = max(2 * claim.epsilon, claim.epsilon + 1)
    return "consistent" if power.epsilon <= gross else "inconclusive"
