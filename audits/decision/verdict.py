"""The verdict that a bound and the power of its audit allow."""

from audits.decision.controls import gross
from dpaudit import Claim
from dpaudit.model.audit_result import AuditVerdict, MeasureTest, Power


def verdict_of(
    epsilon_lower: float, power: Power, claim: Claim, certified: float, tested: MeasureTest | None = None
) -> AuditVerdict:
    """Return the verdict on a claim and on a certificate's upper bound.

    *violation*: the bound exceeds either. *consistent*: no violation, and one of gross size at this pair is excluded,
    or would have been caught (gross: twice the claim's epsilon, or one nat above it if that is more). *not_refuted*:
    no violation, and the audit would catch a control that is stretched from the code's own behaviour, or the code with
    still less noise. Else *inconclusive*. `tested` is the test of a claim in its own measure,
    from which `claim` follows.
    """
    if tested is not None and tested.refuted:
        return "violation"
    if epsilon_lower > min(claim.epsilon, certified):
        return "violation"
    if power.kind in ("upper_limit", "less_noise") and power.epsilon <= gross(claim.epsilon):
        return "consistent"
    return "inconclusive" if power.kind in ("upper_limit", "none") else "not_refuted"
