"""The result of an audit that another attack turns into a violation."""

from collections.abc import Callable
from dataclasses import replace

from audits.decision.earned import nothing_earned
from audits.decision.other_significance import CountedBound
from dpaudit import AuditResult
from dpaudit.model.audit_result import Counts, LowerBound


def overruled(
    result: AuditResult, bound: LowerBound, counts: Counts, attack: str, share: float, remark: str
) -> AuditResult:
    """Return `result` as a violation that `attack` shows: its bound decides, and its counts are those reported.

    `share` is the part of the audit's significance at which `bound` holds.
    """
    at = CountedBound(counts=counts, delta=result.delta, gaussian=False, significance=result.significance, share=share)
    return replace(violated(result, bound, counts, attack, at), remarks=(*result.remarks, remark))


def violated(
    result: AuditResult, bound: LowerBound, counts: Counts, attack: str, epsilon_at: Callable[[float], float]
) -> AuditResult:
    """Return `result` as a violation; `epsilon_at` gives its bound at another significance."""
    return replace(
        result,
        verdict="violation",
        epsilon_lower=bound.epsilon,
        bound=bound.name,
        bounds=(bound, *result.bounds),
        counts=counts,
        attack=attack,
        power=nothing_earned(),
        epsilon_at=epsilon_at,
    )
