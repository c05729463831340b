"""Rare values beside the main event: a tenth of the significance for values that one neighbour alone shows, seldom."""

from dataclasses import replace

from audits.bounds.guessing import guessing_bound
from audits.decision.earned import nothing_earned
from audits.decision.events import Event, count_guesses
from audits.decision.other_significance import CountedBound
from dpaudit import AuditResult
from dpaudit.model.mechanism import Array

RARE_SHARE = 0.1
"""The share of a deciding bound's significance that rare values have, where there are any."""

_EVENT = Event(low=-1.0, high=1.0, cut=1.0)


def with_rare_values(result: AuditResult, scores: Array, labels: Array, share: float) -> AuditResult:
    """Return `result`, or a violation that rare values show where the main event shows less.

    `scores` are those of `RareValues` on the counted runs, `share` the significance that was set aside for them.
    Guarantee: with the main bound at its own share, both together keep the significance of the audit.
    """
    counts = count_guesses(_EVENT, scores, labels)
    bound = guessing_bound(counts, result.delta, share)
    if bound.epsilon <= max(result.epsilon_lower, min(result.claim.epsilon, result.certified)):
        return result
    return replace(
        result,
        verdict="violation",
        epsilon_lower=bound.epsilon,
        power=nothing_earned(),
        attack="rare values",
        bound=bound.name,
        bounds=(bound, *(other for other in result.bounds if other.name != bound.name)),
        counts=counts,
        epsilon_at=CountedBound(
            counts=counts,
            delta=result.delta,
            gaussian=False,
            significance=result.significance,
            share=share / result.significance,
        ),
    )
