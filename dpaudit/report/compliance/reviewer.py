"""A reviewer's questions: how many people an output exposes, and how often a motivated intruder guesses right.

Both are about an attacker who knows all other records and holds one of two values of a unit for true, with a stated
belief. The loss L moves the odds of the true value by e^L, so a belief p passes t where L exceeds ln(odds(t)/odds(p)).
The best guess of an intruder with belief p <= 1/2 is right with probability max over tests of
p (true positive rate) + (1 - p)(1 - false positive rate) = (1 - p) + p delta(ln((1 - p)/p)).
"""

import math

from dpaudit.accounting.loss_tail import LossTail
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.claim import Claim
from dpaudit.report.compliance.fields import Grid
from dpaudit.report.curves import Curve
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import resting_note
from dpaudit.wording.audits import bound_phrase
from dpaudit.wording.numerals import at_most, counted, whole

_PRIORS = (0.01, 0.1, 0.5)
_EXPOSED = 0.9
"""The belief in the true value from which on a unit counts as exposed."""


def exposed_share(tail: LossTail, prior: float, belief: float = _EXPOSED) -> float:
    """Return an upper bound on the probability that a belief `prior` in a unit's true value passes `belief`.

    Guarantee: for every pair of values of the unit, whatever the other records are; the expected number of exposed
    units of N is at most N times as large, whether or not outputs of units depend on each other.

    >>> exposed_share(LossTail(points=((1.0, 0.0),)), 0.1)
    0.0
    """
    return tail.above(math.log(belief / (1 - belief)) - math.log(prior / (1 - prior)))


def intruder_success(delta: float, prior: float) -> float:
    """Return how often the best guess of one of two values is right, at most, with a belief `prior` <= 1/2 before.

    `delta` is an upper bound on the curve at epsilon ln((1 - prior) / prior). Edge cases: 1 - prior without any output.

    >>> intruder_success(0.25, 0.5)
    0.625
    """
    return min(1.0, 1 - prior + prior * delta)


def claimed_delta(claim: Claim, epsilon: float) -> float:
    """Return the largest delta at `epsilon` that the claim allows.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1, at the corner of the region.

    >>> claimed_delta(Claim(epsilon=1.0, delta=0.01, neighbours="add_remove"), 2.0)
    0.01
    """
    if epsilon >= claim.epsilon:
        return claim.delta
    surplus = -math.expm1(epsilon - claim.epsilon) / (1 + math.exp(-claim.epsilon))
    return claim.delta + (1 - claim.delta) * surplus


def reviewer(report: ReportInputs, curve: Curve, tail: LossTail | None) -> Grid:
    """Return the table of both questions for some beliefs: by the claim alone, and as proved."""
    claim = report.reading.claim
    stated = LossTail(points=((claim.epsilon, claim.delta),))
    rows = []
    for prior in _PRIORS:
        shares = (exposed_share(stated, prior), 1.0 if tail is None else exposed_share(tail, prior))
        question = f"How many are exposed, by a belief of {prior:g} before and {_EXPOSED:g} or more after?"
        rows.append((question, *(_number(report.units, share) for share in shares)))
    for prior in _PRIORS:
        at = math.log((1 - prior) / prior)
        deltas = claimed_delta(claim, at), _proved_delta(curve, at)
        question = f"How often is an intruder right who believes {prior:g} before ({1 - prior:g} without an output)?"
        rows.append((question, *(f"at most {at_most(intruder_success(delta, prior))}" for delta in deltas)))
    return Grid(
        name="reviewer",
        annex=True,
        caption="A reviewer's questions, about attackers who know all other records",
        head=("Question", "By the claim", "As proved"),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
        note="Exposed means: the belief in the true one of two values of a unit. The number is an expected one. "
        + resting_note(report),
    )


def most_at_risk(audits: tuple[AuditResult, ...]) -> str:
    """Return which attacked pair shows the largest epsilon, with the multiplicity paid; empty without audits."""
    free = [audit for audit in audits if not audit.assumption]
    if not free:
        return ""
    worst = max(free, key=lambda audit: audit.epsilon_lower)
    error = min(1.0, math.fsum(audit.significance for audit in audits))
    if worst.epsilon_lower == 0:
        return f"none of {counted(len(audits), 'attacked pair')} shows an epsilon above 0"
    described = f" ({worst.description.rstrip('.')})" if worst.description else ""
    return (
        f"'{worst.name}'{described}: epsilon {bound_phrase(worst)}, the largest of {counted(len(audits), 'pair')}; all "
        f"bounds hold together except with probability {at_most(error)}"
    )


def _number(units: int | None, share: float) -> str:
    """Return the expected number of exposed units, or their share where the number of units is not known."""
    if units is None:
        return f"at most a share of {at_most(share)}; the number of units is not stated"
    return f"at most {at_most(units * share)} of {whole(units)} units"


def _proved_delta(curve: Curve, epsilon: float) -> float:
    """Return an upper bound on the proved delta at `epsilon`: that of the nearest known point below it."""
    points = zip(curve.epsilons, curve.deltas, strict=True)
    return min((bracket.upper for known, bracket in points if known <= epsilon), default=1.0)
