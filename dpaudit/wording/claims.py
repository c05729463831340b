"""The words of a claim: its parameters, its model, its neighbours, and what it promises."""

import math
from typing import assert_never

from dpaudit.model.claim import Claim, Model, Neighbours
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.wording.numerals import at_most, exact, nearest

LARGE = 100.0
"""Above this epsilon a factor is printed as a power of e."""

MODEL_WORDS: dict[Model, str] = {
    "central": "central: every published output is protected; the curator sees the data",
    "joint": "joint: what all the other users see is protected; each user sees their own outcome",
    "local": "local: each user's own message is protected before it leaves the device",
}

NEIGHBOUR_WORDS: dict[Neighbours, str] = {
    "replace_one": "replace one: one record's value is replaced by any other; the number of records is public",
    "add_remove": "add or remove: one record is added or taken away; presence itself is protected",
    "zero_out": "zero out: one record's contributions become zero, its place stays; the number of records is public",
}


def claim_parameters(claim: Claim) -> str:
    """Return the claim's numbers, as in "epsilon = 1, delta = 10⁻⁵"."""
    if isinstance(claim, MeasuredClaim):
        return claim.words
    return f"epsilon = {exact(claim.epsilon)}, delta = {exact(claim.delta)}"


def budget_words(budget: Claim) -> str:
    """Return the numbers of a budget."""
    if isinstance(budget, MeasuredClaim):
        return budget.words
    return f"epsilon {nearest(budget.epsilon)}, delta {nearest(budget.delta)}"


def neighbours_phrase(neighbours: Neighbours) -> str:
    """Return the difference between two neighbouring data sets."""
    match neighbours:
        case "replace_one":
            return "one record replaced"
        case "add_remove":
            return "one record added or removed"
        case "zero_out":
            return "one record's contributions set to zero"
        case _:
            assert_never(neighbours)


def observed(model: Model) -> str:
    """Return what the claim bounds the probability of."""
    match model:
        case "central":
            return "any output"
        case "joint":
            return "anything that the other users see together"
        case "local":
            return "any message of the user"
        case _:
            assert_never(model)


def observer(model: Model) -> str:
    """Return the observer whose view the claim is about."""
    match model:
        case "central":
            return "anybody who sees the output"
        case "joint":
            return "the other users together"
        case "local":
            return "anybody who sees the user's message"
        case _:
            assert_never(model)


def promise(claim: Claim) -> str:
    """Return the meaning of the claim for the person behind a record, in one sentence."""
    return f"{capital(promised(claim))}."


def was_promised(claim: Claim) -> str:
    """Return what a claim that does not hold, or is not known to hold for the code, said of a record."""
    return f"The claim was that, {promised(claim)}."


def promised(claim: Claim) -> str:
    """Return the meaning of the claim as a clause that begins in the lower case."""
    condition = {
        "replace_one": f"if {claim.unit} is replaced by another",
        "add_remove": f"if {claim.unit} is added or removed",
        "zero_out": f"if the contribution of {claim.unit} is set to zero",
    }[claim.neighbours]
    probability = f"the probability of {observed(claim.model)}"
    if claim.epsilon == math.inf:
        return f"{condition}, {probability} may change by any factor"
    if not claim.epsilon:
        return f"{condition}, {probability} " + (
            f"changes by at most {exact(claim.delta)}" if claim.delta else "stays the same"
        )
    more = f", plus {exact(claim.delta)}" if claim.delta else ""
    return f"{condition}, {probability} changes by a factor of at most {claimed_factor(claim)}{more}"


def claimed_factor(claim: Claim) -> str:
    """Return e^epsilon of the claim, rounded up; as a power where it is too large to read.

    >>> claimed_factor(Claim(epsilon=1.0, neighbours="add_remove"))
    '2.719'
    """
    return f"e^{exact(claim.epsilon)}" if claim.epsilon > LARGE else at_most(math.exp(claim.epsilon))


def capital(text: str) -> str:
    """Return `text` with its first letter in the upper case."""
    return text[:1].upper() + text[1:]
