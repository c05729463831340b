"""Rare values beside the main event: a tenth of the significance for values that one neighbour alone shows, seldom."""

from audits.bounds.guessing import guessing_bound
from audits.decision.events import Event, count_guesses
from audits.decision.overruled import overruled
from dpaudit import AuditResult, LowerBound
from dpaudit.model.mechanism import Array

RARE_SHARE = 0.1
"""The share of a deciding bound's significance that rare values have, where there are any."""

_EVENT = Event(low=-1.0, high=1.0, cut=1.0)
_REMARK = "Values that few runs show, and those of one data set alone, decide; no witness file holds them."


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
