"""The cost of a booking by each theorem that may count it."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.accounting.additive_costs import Cost, cost_of, rounded_up
from dpaudit.accounting.curves.measures import bounds_of
from dpaudit.accounting.fold import above, folded
from dpaudit.budgets.filters import Filter, require_spendable, stated_by
from dpaudit.budgets.renyi import usual_order
from dpaudit.certification.certificate import Certificate
from dpaudit.checks import meant
from dpaudit.errors import DeclarationError, LedgerError, UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import ApproximateLoss
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.model.measures.ends import Ends

_RATIO = re.compile(r"[0-9]{1,2000}(/[0-9]{1,2000})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a booking costs by one theorem, and by which rule, in words."""

    cost: Cost
    rule: str


def prices(certificate: Certificate, filters: tuple[Filter, ...]) -> dict[str, Price]:
    """Return the price of a certificate by the name of each filter that can count it.

    A certificate can be counted as what it declares (of its losses, or of the whole declaration in the measure of the
    budget) or as what it states (epsilon and delta, rho, mu, Renyi divergences or points of a profile); the one is
    taken that uses the smallest share of the whole limit. What a measure does not bound is not counted by it: rho
    bounds no mu, and neither of them an epsilon without delta.
    Raises: DeclarationError: not certified, other neighbours, another unit, or a weaker model than the budget's.
    """
    by_theorem: dict[str, Price] = {}
    for spending in filters:
        require_spendable(certificate, spending.claim)
        candidates = [*_stated(certificate, spending), *_declared(certificate.declaration, spending)]
        if candidates:
            by_theorem[spending.name] = min(candidates, key=lambda price: share_of(price.cost, spending.limit))
    return by_theorem


def _stated(certificate: Certificate, spending: Filter) -> Iterator[Price]:
    """Yield what the claim of a certificate costs at its word."""
    claim = certificate.claim
    if not isinstance(claim, MeasuredClaim):
        part = stated_by(certificate, spending.claim)
        cost = cost_of(part, spending.claim, spending.theorem.cost_of_loss)
        if cost is not None:
            yield Price(cost=cost, rule=_WORDS.get(spending.theorem.name, "its epsilon and delta"))
        return
    if not spending.claim.implied_by(claim.model):
        raise DeclarationError(
            f"The certificate protects the {claim.model} view, and the budget is for the {spending.claim.model} one."
        )
    ends = certificate.tight.rows if isinstance(certificate.tight, Ends) else ()
    proved = [min(Fraction(end.upper), meant(stated)) for end, (_, stated) in zip(ends, claim.rows, strict=True)]
    yield from _in_measure(claim, proved, spending)


def _in_measure(claim: MeasuredClaim, proved: list[Fraction], spending: Filter) -> Iterator[Price]:
    """Yield what proved numbers of a claim in its own measure cost by a theorem; nothing where they bound nothing."""
    name = spending.theorem.name
    if name == "Renyi":
        yield from _at_one_order(claim, proved, spending.claim)
    match claim:
        case RhoClaim(xi=xi) if name == "concentrated" and not xi:
            yield Price(cost=Cost(amount=proved[0]), rule="its rho")
        case MuClaim() if name in ("Gaussian", "Gaussian privacy"):
            yield Price(cost=Cost(amount=proved[0] ** 2), rule="the square of its mu")
        case MuClaim() if name == "concentrated":
            yield Price(cost=Cost(amount=proved[0] ** 2 / 2), rule="mu^2 / 2 of its mu")
        case ProfileClaim(profile=points):
            for (epsilon, _), delta in zip(points, proved, strict=True):
                cost = spending.theorem.cost_of_loss(ApproximateLoss(epsilon=epsilon, delta=float(delta)))
                if cost is not None:
                    yield Price(cost=cost, rule=f"its point at epsilon {epsilon:g}")
        case _:
            return


def _at_one_order(claim: MeasuredClaim, proved: list[Fraction], budget: Claim) -> Iterator[Price]:
    """Yield what a claim bounds of the Renyi divergence of the order that a budget counts; the divergence increases."""
    order = budget.renyi[0][0] if isinstance(budget, RenyiClaim) else usual_order(budget.epsilon, budget.delta)
    match claim:
        case RhoClaim(xi=xi):
            yield Price(cost=Cost(amount=meant(xi) + Fraction(order) * proved[0]), rule="xi + rho times the order")
        case MuClaim():
            yield Price(cost=Cost(amount=Fraction(order) * proved[0] ** 2 / 2), rule="mu^2 / 2 times the order")
        case RenyiClaim(renyi=points):
            higher = [end for (at, _), end in zip(points, proved, strict=True) if at >= order]
            if higher:
                yield Price(cost=Cost(amount=higher[0]), rule="its divergence at the next order")
        case _:
            return


def _declared(part: Declaration, spending: Filter) -> Iterator[Price]:
    """Yield what a declaration costs, loss by loss and as a whole; nothing where its own reading does not carry."""
    claim = spending.claim
    try:
        cost = cost_of(part, claim, spending.theorem.cost_of_loss)
        if cost is not None:
            yield Price(cost=cost, rule="the losses that it declares, added up")
        if isinstance(claim, MeasuredClaim):
            ((_, high),) = bounds_of(folded(above(part, claim.neighbours), ()), claim)
            if high < math.inf:
                whole = Cost(amount=rounded_up(math.nextafter(float(high), math.inf)))
                yield Price(cost=whole, rule=f"the {claim.measure} of its declaration as a whole")
    except (DeclarationError, UnsupportedError):
        return


_WORDS = {
    "concentrated": "epsilon tanh(epsilon / 2) of its epsilon",
    "Gaussian privacy": "the mu that its epsilon allows",
}
"""How an epsilon is counted by theorems that do not add epsilons up."""


def share_of(cost: Cost, limit: Cost) -> Fraction:
    """Return the larger share of a limit that a cost uses, by amount or by mass; 2 of a limit of 0 that it exceeds."""
    sides = ((cost.amount, limit.amount), (cost.mass, limit.mass))
    return max(Fraction(part / whole) if whole else Fraction(2 if part else 0) for part, whole in sides)


def encode_prices(costs: dict[str, Cost]) -> dict[str, dict[str, str]]:
    """Return costs as exact text."""
    return {name: {"amount": str(cost.amount), "mass": str(cost.mass)} for name, cost in costs.items()}


def decode_prices(data: Any) -> dict[str, Cost]:
    """Return the costs that `data` spells, as whole numbers or ratios of whole numbers of at most 2,000 digits.

    Raises: LedgerError: it spells none.
    """
    try:
        return {
            str(name): Cost(amount=_ratio(cost["amount"]), mass=_ratio(cost["mass"])) for name, cost in data.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise LedgerError(f"The costs of a booking are malformed: {error!s:.200}") from None


def _ratio(text: Any) -> Fraction:
    """Return the ratio that `text` spells; a power of ten, which could fill the memory, is none."""
    if not isinstance(text, str) or not _RATIO.fullmatch(text):
        raise ValueError(f"expected {text!r:.60} as a ratio of whole numbers")
    return Fraction(text)
