"""The result of an audit that another attack turns into a violation."""

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
    return replace(
        result,
        verdict="violation",
        epsilon_lower=bound.epsilon,
        bound=bound.name,
        bounds=(bound, *result.bounds),
        counts=counts,
        attack=attack,
        power=nothing_earned(),
        remarks=(*result.remarks, remark),
        epsilon_at=CountedBound(
            counts=counts, delta=result.delta, gaussian=False, significance=result.significance, share=share
        ),
    )
