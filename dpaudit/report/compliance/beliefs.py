"""The table of beliefs: what an output can make of a belief about one unit, and how rarely it makes more."""

import math

from dpaudit.accounting.loss_tail import LossTail
from dpaudit.report.compliance.fields import Grid
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import TWICE, resting_note
from dpaudit.wording.numerals import at_most, exact

_PRIORS = (0.01, 0.1, 0.5)


def beliefs(report: ReportInputs, tail: LossTail | None) -> Grid:
    """Return the largest belief after an output for some beliefs before it: by the claim alone, and as proved.

    At delta 0 no output does more. Elsewhere each column says with which probability an output does.
    """
    claim = report.reading.claim
    by_claim, claim_head = claim.epsilon, "After, by the claim"
    proved, proved_head = report.reading.tight.epsilon.upper, "After, as proved"
    if claim.delta:
        by_claim += TWICE
        proved = math.inf if tail is None else tail.exceeded_with(claim.delta)
        claim_head = f"{claim_head}; more with probability at most {at_most(min(1.0, 2 * claim.delta))}"
        proved_head = f"{proved_head}; more with probability at most {exact(claim.delta)}"
    rows = tuple(
        (f"{prior:g}", at_most(_posterior(prior, by_claim)), at_most(_posterior(prior, proved))) for prior in _PRIORS
    )
    return Grid(
        name="beliefs",
        annex=True,
        caption="A belief in one of two values of a unit, before an output and, at most, after it",
        head=("Before", claim_head, proved_head),
        rows=rows,
        statuses=tuple("evidence" for _ in rows),
        note=resting_note(report),
    )


def _posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief that odds times e^epsilon allow."""
    return prior / (prior + (1 - prior) * math.exp(-epsilon))
