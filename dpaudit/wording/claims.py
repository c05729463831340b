"""The words of a claim: its parameters, its model, its neighbours, and what it promises."""

import math
from typing import assert_never

from dpaudit.model.claim import Claim, Model, Neighbours
from dpaudit.wording.numerals import at_most, nearest

MODEL_WORDS: dict[Model, str] = {
    "central": "central: every published output is protected; the curator sees the data",
    "joint": "joint: what all the other users see is protected; each user sees their own outcome",
    "local": "local: each user's own message is protected before it leaves the device",
}

NEIGHBOUR_WORDS: dict[Neighbours, str] = {
    "replace_one": "replace one: one record's value is replaced by any other; the number of records is public",
    "add_remove": "add or remove: one record is added or taken away; presence itself is protected",
}


def claim_parameters(claim: Claim) -> str:
    """Return the claim's numbers, as in "epsilon = 1, delta = 1e-05"."""
    return f"epsilon = {nearest(claim.epsilon)}, delta = {nearest(claim.delta)}"


def neighbours_phrase(neighbours: Neighbours) -> str:
    """Return the difference between two neighbouring data sets."""
    match neighbours:
        case "replace_one":
            return "one record replaced"
        case "add_remove":
            return "one record added or removed"
        case _:
            assert_never(neighbours)


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
    whatever = (
        f"Whether or not {claim.unit} is there" if claim.neighbours == "add_remove" else f"Whatever {claim.unit} is"
    )
    factor = f"e^{nearest(claim.epsilon)}" if claim.epsilon > 100 else at_most(math.exp(claim.epsilon))
    change = f"by no more than a factor of {factor}" if claim.epsilon else "not at all"
    if claim.delta:
        change = (
            f"{change}, plus {nearest(claim.delta)}" if claim.epsilon else f"by no more than {nearest(claim.delta)}"
        )
    return f"{whatever}, the probability of anything that {observer(claim.model)} may see changes {change}."
