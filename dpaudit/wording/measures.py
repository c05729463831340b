"""The words of a claim in another measure than epsilon and delta: what it says, and what is known of it."""

import math

from dpaudit.model.measures.claims import MeasuredClaim, RhoClaim
from dpaudit.model.measures.ends import End, Ends
from dpaudit.model.readings import Trust, Verdict
from dpaudit.wording.escaping import one_line
from dpaudit.wording.numerals import at_least, at_most, exact

_PROMISES = {
    "rho": "every Renyi divergence of order a between the outputs of two neighbours is at most rho times a",
    "mu": "two neighbours are no easier to tell apart than N(0, 1) from N(mu, 1)",
    "renyi": "the Renyi divergences between the outputs of two neighbours are at most the claimed ones, in both orders",
    "profile": "for every event, its probability exceeds e^epsilon times that of a neighbour by at most delta, at "
    "each claimed epsilon",
}


def uppers_phrase(ends: Ends) -> str:
    """Return the upper ends of a certificate in its own measure, rounded up.

    >>> from dpaudit.model.measures.ends import End
    >>> uppers_phrase(Ends(measure="rho", rows=(End(lower=0.4, upper=0.5),)))
    'rho at most 0.5'
    """
    return ", ".join(f"{number_name(ends.measure, row.at)} at most {at_most(row.upper)}" for row in ends.rows)


def number_name(measure: str, at: float | None) -> str:
    """Return the name of a number of a claim: of rho or mu, a Renyi divergence, or the delta at an epsilon.

    >>> number_name("renyi", 2.0), number_name("profile", 0.5), number_name("mu", None)
    ('Renyi divergence of order 2', 'delta at epsilon 0.5', 'mu')
    """
    if at is None:
        return measure
    return f"Renyi divergence of order {exact(at)}" if measure == "renyi" else f"delta at epsilon {exact(at)}"


def between_phrase(row: End) -> str:
    """Return the bounds of a number in words, rounded outwards.

    >>> between_phrase(End(lower=0.25, upper=0.5))
    'between 0.25 and 0.5'
    """
    if row.lower == math.inf:
        return "infinite"
    if row.upper == math.inf:
        return f"at least {at_least(row.lower)}, with no upper bound" if row.lower else "not bounded by what is known"
    return f"between {at_least(row.lower)} and {at_most(row.upper)}" if row.lower else f"at most {at_most(row.upper)}"


def bounds_rows(ends: Ends) -> tuple[tuple[str, str], ...]:
    """Return one row for each number of a claim: its name, and its bounds rounded outwards."""
    return tuple((number_name(ends.measure, row.at), between_phrase(row)) for row in ends.rows)


def measured_promise(claim: MeasuredClaim) -> str:
    """Return the claim and what its measure means, in one sentence.

    >>> from dpaudit import Claim
    >>> measured_promise(Claim(mu=1.0, neighbours="add_remove"))
    'mu = 1: two neighbours are no easier to tell apart than N(0, 1) from N(mu, 1).'
    """
    shifted = " plus xi" if isinstance(claim, RhoClaim) and claim.xi else ""
    return f"{claim.words}: {_PROMISES[claim.measure]}{shifted}."


def measured_meaning(verdict: Verdict, claim: MeasuredClaim, trust: Trust | None) -> str:
    """Return the meaning of a verdict on a claim in its own measure, in one sentence.

    >>> from dpaudit import Claim
    >>> measured_meaning("not_proved", Claim(mu=1.0, neighbours="add_remove"), None)
    'The claim may be true, but what was declared and seen does not prove it.'
    """
    if verdict == "certified":
        return f"With {measured_promise(claim)}"
    if verdict == "stated" and trust is not None:
        names = " and ".join(map(one_line, trust.sources))
        return f"The claim follows only from what {names} stated; nothing of that was proved or checked here."
    if verdict == "refuted":
        return f"The declared noise cannot keep the claim {claim.words}."
    return "The claim may be true, but what was declared and seen does not prove it."
