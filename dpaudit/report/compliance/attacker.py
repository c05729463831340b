"""What an attacker can gain, by the claim alone and as proved: rates of tests, beliefs, exposed units, right guesses.

The last two are a reviewer's questions, about an attacker who knows all other records and holds one of two values of a
unit for true, with a stated belief. The loss L moves the odds of the true value by e^L, so a belief p passes t where L
exceeds ln(odds(t)/odds(p)). The best guess of an intruder with belief p <= 1/2 is right with probability max over tests
of p (true positive rate) + (1 - p)(1 - false positive rate) = (1 - p) + p delta(ln((1 - p)/p)).
"""

import math

from dpaudit.accounting.loss_tail import LossTail
from dpaudit.model.claim import Claim
from dpaudit.report.compliance.fields import Grid, grid
from dpaudit.report.curves import FALSE_POSITIVE_RATES, Curve, gains_of
from dpaudit.report.facts import Facts
from dpaudit.report.meaning import TWICE, resting_note
from dpaudit.wording.numerals import at_most, exact, whole

_PRIORS = (0.01, 0.1, 0.5)
_EXPOSED = 0.9
"""The belief in the true value from which on a unit counts as exposed."""


def operating(facts: Facts) -> Grid:
    """Return the largest gains of a test, and the odds after a positive answer."""
    rows = []
    for rate, gain in zip(
        (None, *FALSE_POSITIVE_RATES), gains_of(facts.report.reading.claim, facts.curve), strict=True
    ):
        proved = "not known" if gain.certificate is None else at_most(gain.certificate)
        odds = "" if rate is None else "not known"
        if rate is not None and gain.certificate is not None:
            odds = f"{at_most(gain.certificate / rate)} times"
        rows.append((gain.measure, at_most(gain.claim), proved, odds))
    return grid(
        "operating",
        "The most that any attacker can gain, whatever they know besides",
        ("Measure", "The claim allows", "The certificate allows", "Odds after a positive, by the certificate"),
        rows,
        note=resting_note(facts.report),
        annex=True,
    )


def beliefs(facts: Facts) -> Grid:
    """Return the largest belief after an output for some beliefs before it: by the claim alone, and as proved.

    At delta 0 no output does more. Elsewhere each column says with which probability an output does.
    """
    claim = facts.report.reading.claim
    by_claim, claim_head = claim.epsilon, "After, by the claim"
    proved, proved_head = facts.report.reading.tight.epsilon.upper, "After, as proved"
    if claim.delta:
        by_claim += TWICE
        proved = math.inf if facts.tail is None else facts.tail.exceeded_with(claim.delta)
        claim_head = f"{claim_head}; more with probability at most {at_most(min(1.0, 2 * claim.delta))}"
        proved_head = f"{proved_head}; more with probability at most {exact(claim.delta)}"
    return grid(
        "beliefs",
        "A belief in one of two values of a unit, before an output and, at most, after it",
        ("Before", claim_head, proved_head),
        ((f"{prior:g}", *(at_most(_posterior(prior, e)) for e in (by_claim, proved))) for prior in _PRIORS),
        note=resting_note(facts.report),
        annex=True,
    )


def _posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief that odds times e^epsilon allow."""
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


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


def reviewer(facts: Facts) -> Grid:
    """Return the table of both questions for some beliefs: by the claim alone, and as proved."""
    claim, tail, units = facts.report.reading.claim, facts.tail, facts.report.units
    by_claim = LossTail(points=((claim.epsilon, claim.delta),))
    rows: list[tuple[str, ...]] = []
    for prior in _PRIORS:
        shares = (exposed_share(by_claim, prior), 1.0 if tail is None else exposed_share(tail, prior))
        question = f"How many are exposed, by a belief of {prior:g} before and {_EXPOSED:g} or more after?"
        rows.append((question, *(_number(units, share) for share in shares)))
    for prior in _PRIORS:
        at = math.log((1 - prior) / prior)
        deltas = claimed_delta(claim, at), _proved_delta(facts.curve, at)
        question = f"An intruder believes {prior:g} before an output. How often is the best guess right after it?"
        rows.append((question, *(f"at most {at_most(intruder_success(delta, prior))}" for delta in deltas)))
    return grid(
        "reviewer",
        "A reviewer's questions, about attackers who know all other records",
        ("Question", "By the claim", "As proved"),
        rows,
        note="Exposed means: the belief in the true one of two values of a unit. The number is an expected one. "
        + resting_note(facts.report),
        annex=True,
    )


def _number(units: int | None, share: float) -> str:
    """Return the expected number of exposed units, or their share where the number of units is not known."""
    if units is None:
        return f"at most a share of {at_most(share)}; the number of units is not stated"
    return f"at most {at_most(units * share)} of {whole(units)} units"


def _proved_delta(curve: Curve, epsilon: float) -> float:
    """Return an upper bound on the proved delta at `epsilon`: that of the nearest known point below it."""
    return min((bracket.upper for proved_epsilon, bracket in curve.points if proved_epsilon <= epsilon), default=1.0)
