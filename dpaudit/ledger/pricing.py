"""The cost of a booking by each theorem that may count it."""

import re
from fractions import Fraction
from typing import Any

from dpaudit.accounting.additive_costs import Cost, cost_of
from dpaudit.budgets.filter_theorems import FilterTheorem
from dpaudit.budgets.filters import Filter, stated_by
from dpaudit.certification.certificate import Certificate
from dpaudit.errors import DeclarationError, LedgerError, UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration

_RATIO = re.compile(r"[0-9]{1,2000}(/[0-9]{1,2000})?")


def prices(certificate: Certificate, filters: tuple[Filter, ...]) -> dict[str, Cost]:
    """Return the cost of a certificate by the name of each theorem that can count it.

    A certificate can be counted as what it declares (exact Gaussian and bounded losses) or as what it states
    (epsilon and delta); of the two the one is taken that uses the smaller share of the whole limit.
    Raises: DeclarationError: not certified, other neighbours, another unit, or a weaker model than the budget's.
    """
    costs_by_theorem: dict[str, Cost] = {}
    for spending in filters:
        stated = stated_by(certificate, spending.claim)
        costs = (
            cost_of(stated, spending.claim, spending.theorem.cost_of_loss),
            _declared(certificate.declaration, spending.claim, spending.theorem),
        )
        finite = [cost for cost in costs if cost is not None]
        if finite:
            costs_by_theorem[spending.theorem.name] = _cheapest(finite, spending.limit)
    return costs_by_theorem


def _cheapest(costs: list[Cost], limit: Cost) -> Cost:
    """Return the cost that uses the smallest share of a limit."""
    return min(costs, key=lambda cost: _share(cost, limit))


def _declared(part: Declaration, claim: Claim, theorem: FilterTheorem) -> Cost | None:
    """Return what a declaration costs, or None where its own reading does not carry as far as the certificate's."""
    try:
        return cost_of(part, claim, theorem.cost_of_loss)
    except (DeclarationError, UnsupportedError):
        return None


def _share(cost: Cost, limit: Cost) -> Fraction:
    """Return the larger share of a limit that a cost uses; a positive cost against a limit of 0 counts as 2."""
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
