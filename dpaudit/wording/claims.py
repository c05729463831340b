"""The words of a claim: its parameters, its model, its neighbours, and what it promises."""

import math

from dpaudit.model.claim import Claim, Model, Neighbours
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
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


_LARGEST_EPSILON, _LARGEST_DELTA = 20.0, 0.01
"""Above either, a claim limits next to nothing: odds may change by e^20, or one record in 100 may leak."""


def claim_parameters(claim: Claim) -> str:
    """Return the claim's numbers, as in "epsilon = 1, delta = 10⁻⁵"."""
    if isinstance(claim, MeasuredClaim):
        return claim.words
    return f"epsilon = {exact(claim.epsilon)}, delta = {exact(claim.delta)}"


def budget_words(budget: Claim) -> str:
    """Return the numbers of a budget, as they were stated."""
    return budget.words if isinstance(budget, MeasuredClaim) else claim_parameters(budget).replace(" =", "")


_DIFFERENCES: dict[Neighbours, tuple[str, str]] = {
    "replace_one": ("one record replaced", "{unit} is replaced by another"),
    "add_remove": ("one record added or removed", "{unit} is added or removed"),
    "zero_out": ("one record's contributions set to zero", "the contribution of {unit} is set to zero"),
}
"""The difference between two neighbouring data sets, as a phrase and as a condition."""

_VIEWS: dict[Model, tuple[str, str]] = {
    "central": ("any output", "anybody who sees the output"),
    "joint": ("anything that the other users see together", "the other users together"),
    "local": ("any message of the user", "anybody who sees the user's message"),
}
"""What a claim bounds the probability of, and the observer whose view it is about."""

_PROMISES = {
    "rho": "every Renyi divergence of order a between the outputs of two neighbours is at most rho times a",
    "mu": "two neighbours are no easier to tell apart than N(0, 1) from N(mu, 1)",
    "renyi": "the Renyi divergences between the outputs of two neighbours are at most the claimed ones, in both orders",
    "profile": "for every event, its probability exceeds e^epsilon times that of a neighbour by at most delta, at "
    "each claimed epsilon",
}


def neighbours_phrase(neighbours: Neighbours) -> str:
    """Return the difference between two neighbouring data sets."""
    return _DIFFERENCES[neighbours][0]


def observer(model: Model) -> str:
    """Return the observer whose view the claim is about."""
    return _VIEWS[model][1]


def measured_promise(claim: MeasuredClaim) -> str:
    """Return a claim in another measure than epsilon and what its measure means, in one sentence.

    >>> measured_promise(Claim(mu=1.0, neighbours="add_remove"))
    'mu = 1: two neighbours are no easier to tell apart than N(0, 1) from N(mu, 1).'
    """
    shifted = " plus xi" if isinstance(claim, RhoClaim) and claim.xi else ""
    return f"{claim.words}: {_PROMISES[claim.measure]}{shifted}."


def promise(claim: Claim) -> str:
    """Return the meaning of the claim for the person behind a record, in one sentence."""
    return f"{capital(promised(claim))}."


def was_promised(claim: Claim) -> str:
    """Return what a claim that does not hold, or is not known to hold for the code, said of a record."""
    return f"The claim was that, {promised(claim)}."


def promised(claim: Claim) -> str:
    """Return the meaning of the claim as a clause that begins in the lower case."""
    condition = f"if {_DIFFERENCES[claim.neighbours][1].format(unit=claim.unit)}"
    probability = f"the probability of {_VIEWS[claim.model][0]}"
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


def excess_of(claim: Claim) -> str:
    """Return why a claim limits next to nothing, in a sentence; an empty text where it limits something.

    >>> excess_of(Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one"))
    ''
    """
    if isinstance(claim, MeasuredClaim):
        return _measured_excess(claim)
    if claim.epsilon > _LARGEST_EPSILON:
        return (
            f"The claim limits next to nothing: epsilon {nearest(claim.epsilon)} is above {nearest(_LARGEST_EPSILON)}, "
            "so one record may change the probability of an output by a factor of more than 100 million."
        )
    if claim.delta > _LARGEST_DELTA:
        return (
            f"The claim limits next to nothing: delta {nearest(claim.delta)} is above {nearest(_LARGEST_DELTA)}, so "
            "more than one record in a hundred may leak completely."
        )
    return ""


def _measured_excess(claim: MeasuredClaim) -> str:
    """Return the same of a claim in its own measure: it is larger than that of the largest epsilon, or than its mu."""
    match claim:
        case RhoClaim(rho=rho):
            large = rho > _LARGEST_EPSILON
        case MuClaim(mu=mu):
            large = mu**2 / 2 > _LARGEST_EPSILON
        case RenyiClaim(renyi=points):
            large = all(epsilon > _LARGEST_EPSILON for _, epsilon in points)
        case ProfileClaim(profile=points):
            large = all(epsilon > _LARGEST_EPSILON or delta > _LARGEST_DELTA for epsilon, delta in points)
        case _:
            large = False
    return f"The claim limits next to nothing: {claim.words}." if large else ""
