"""The words of a claim in another measure than epsilon and delta: what it says, and what is known of it."""

from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.readings import Trust, Verdict
from dpaudit.wording.escaping import one_line

_PROMISES = {
    "rho": "every Renyi divergence of order a between the outputs of two neighbours is at most rho times a (plus xi)",
    "mu": "two neighbours are no easier to tell apart than N(0, 1) from N(mu, 1)",
    "renyi": "the Renyi divergences between the outputs of two neighbours are at most the claimed ones, in both orders",
    "profile": "for every event, its probability exceeds e^epsilon times that of a neighbour by at most delta, at "
    "each claimed epsilon",
}


def measured_meaning(verdict: Verdict, claim: MeasuredClaim, trust: Trust | None) -> str:
    """Return the meaning of a verdict on a claim in its own measure, in one sentence.

    >>> from dpaudit import Claim
    >>> measured_meaning("not_proved", Claim(mu=1.0, neighbours="add_remove"), None)
    'The claim may be true, but what was declared and seen does not prove it.'
    """
    if verdict == "certified":
        return f"With {claim.words}: {_PROMISES[claim.measure]}."
    if verdict == "stated" and trust is not None:
        names = " and ".join(map(one_line, trust.sources))
        return f"The claim follows only from what {names} stated; nothing of that was proved or checked here."
    if verdict == "refuted":
        return f"The declared noise cannot keep the claim {claim.words}."
    return "The claim may be true, but what was declared and seen does not prove it."
