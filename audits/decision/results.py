"""Results of audits: what nothing shows, the verdict that a bound and its power allow, violations by other attacks."""

from dataclasses import replace

from audits.bounds.error_rates import perfect_counts
from audits.decision.controls import gross
from audits.decision.earned import nothing_earned
from audits.experiment.settings import Settings
from dpaudit import AuditCase, AuditResult, Claim
from dpaudit.model.audit_result import AuditVerdict, Counts, LowerBound, MeasureTest, Power


def nothing_shown(
    case: AuditCase, claim: Claim, how: Settings, *, runs: int, delta: float, significance: float
) -> AuditResult:
    """Return the result of an audit before anything is counted: inconclusive, with epsilon 0 and no power."""
    bound = LowerBound(name="guessing", epsilon=0.0, significance=significance)
    return AuditResult(
        name=case.name,
        verdict="inconclusive",
        epsilon_lower=bound.epsilon,
        delta=delta,
        significance=significance,
        runs=runs,
        ceiling=0.0,
        power=nothing_earned(),
        view=case.view,
        attack="none",
        bound=bound.name,
        bounds=(bound,),
        counts=perfect_counts(0),
        seed=None,
        claim=claim,
        certified=how.certified,
        description=case.description,
    )


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


def overruled(result: AuditResult, bound: LowerBound, counts: Counts, attack: str, *remarks: str) -> AuditResult:
    """Return `result` as a violation that `attack` shows: its bound decides, and its counts are those reported."""
    return replace(
        result,
        verdict="violation",
        epsilon_lower=bound.epsilon,
        bound=bound.name,
        bounds=(bound, *result.bounds),
        counts=counts,
        attack=attack,
        power=nothing_earned(),
        remarks=(*result.remarks, *remarks),
    )
