"""The words of a claim: its parameters, its model, its neighbours, and what it promises."""

import math
from typing import Any

from dpaudit.model.claim import Claim, Model, Neighbours
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.runtime.tables import table_of
from dpaudit.wording.numerals import at_most, exact, nearest, number_name

_WORDS: dict[str, dict[str, Any]] = table_of("dpaudit.wording", "claims.toml")

LARGE = 100.0
"""Above this epsilon a factor is printed as a power of e."""

_LARGEST_EPSILON, _LARGEST_DELTA = 20.0, 0.01
"""Above either, a claim limits next to nothing: odds may change by e^20, or one record in 100 may leak."""


def of_neighbours(neighbours: Neighbours) -> dict[str, Any]:
    """Return the words of a kind of neighbours."""
    return dict(_WORDS["neighbours"][neighbours])


def of_model(model: Model) -> dict[str, Any]:
    """Return the words of a model."""
    return dict(_WORDS["models"][model])


def of_measure(claim: MeasuredClaim) -> dict[str, Any]:
    """Return the words of the measure of a claim."""
    return dict(_WORDS["measures"][claim.measure])


def claim_parameters(claim: Claim) -> str:
    """Return the claim's numbers, as in "epsilon = 1, delta = 10⁻⁵"."""
    if isinstance(claim, MeasuredClaim):
        return claim.words
    return f"epsilon = {exact(claim.epsilon)}, delta = {exact(claim.delta)}"


def budget_words(budget: Claim) -> str:
    """Return the numbers of a budget, as they were stated."""
    return budget.words if isinstance(budget, MeasuredClaim) else claim_parameters(budget).replace(" =", "")


def neighbours_phrase(neighbours: Neighbours) -> str:
    """Return the difference between two neighbouring data sets."""
    return str(of_neighbours(neighbours)["differs"])


def observer(model: Model) -> str:
    """Return the observer whose view the claim is about."""
    return str(of_model(model)["observer"])


def measured_promise(claim: MeasuredClaim) -> str:
    """Return a claim in another measure than epsilon and what its measure means, in one sentence.

    >>> measured_promise(Claim(mu=1.0, neighbours="add_remove"))
    'mu = 1: two neighbours are no easier to tell apart than N(0, 1) from N(mu, 1).'
    """
    shifted = " plus xi" if isinstance(claim, RhoClaim) and claim.xi else ""
    return f"{claim.words}: {of_measure(claim)['promise']}{shifted}."


def claimed_number(claim: Claim, measure: str, at: float | None) -> str:
    """Return the name of a number of a claim in its own measure; a rho beside a xi is named so.

    >>> claimed_number(RhoClaim(rho=0.5, xi=0.1, neighbours="add_remove"), "rho", None)
    'rho beside xi = 0.1'
    """
    beside = f" beside xi = {exact(claim.xi)}" if isinstance(claim, RhoClaim) and claim.xi else ""
    return f"{number_name(measure, at)}{beside}"


def promise(claim: Claim) -> str:
    """Return the meaning of the claim for the person behind a record, in one sentence."""
    return f"{capital(promised(claim))}."


def promised(claim: Claim) -> str:
    """Return the meaning of the claim as a clause that begins in the lower case."""
    condition = f"if {of_neighbours(claim.neighbours)['condition'].format(unit=claim.unit)}"
    probability = f"the probability of {of_model(claim.model)['view']}"
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
