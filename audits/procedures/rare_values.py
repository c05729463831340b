"""Rare values beside the main event: a part of the significance for values that one neighbour alone shows, seldom."""

from audits.bounds.guessing import guessing_bound
from audits.decision.events import Event, count_guesses
from audits.decision.overruled import overruled
from dpaudit import AuditResult
from dpaudit.model.audit_result import LowerBound
from dpaudit.model.mechanism import Array

_BESIDE, _ALONE = 0.1, 0.9
"""Shares of a deciding bound's significance for rare values, where there are any: beside a main event that promises to
refute the claim, and where the main event promises nothing of the kind."""

_EVENT = Event(low=-1.0, high=1.0, cut=1.0)
_REMARK = "Values that few runs show, and those of one data set alone, decide; no witness file holds them."


def rare_share(promise: float, target: float) -> float:
    """Return the share of a deciding bound's significance for rare values, before anything is counted.

    `promise` is the bound that the main event promises, `target` the epsilon to refute.

    >>> rare_share(2.0, 1.0), rare_share(0.9, 1.0)
    (0.1, 0.9)
    """
    return _BESIDE if promise > target else _ALONE


def with_rare_values(result: AuditResult, scores: Array, labels: Array, share: float) -> AuditResult:
    """Return `result`, or a violation that rare values show where the main event shows less.

    `scores` are those of `RareValues` on the counted runs, `share` the significance that was set aside for them. Their
    bound has a name of its own: a witness of the main event does not show it again.
    Guarantee: with the main bound at its own share, both together keep the significance of the audit.
    """
    counts = count_guesses(_EVENT, scores, labels)
    epsilon = guessing_bound(counts, result.delta, share).epsilon
    if epsilon <= max(result.epsilon_lower, min(result.claim.epsilon, result.certified)):
        return result
    bound = LowerBound(name="rare_values", epsilon=epsilon, significance=share)
    return overruled(result, bound, counts, "rare values", share / result.significance, _REMARK)
