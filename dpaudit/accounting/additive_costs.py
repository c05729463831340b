"""Costs of losses that add up over time, whatever the parts are and however each was chosen from earlier outputs.

That is what a filter needs. Four costs add up so, and each is counted exactly, as a fraction:

    pure        the largest losses
    gaussian    mu^2, for Gaussian losses only
    squared_mu  mu^2, for Gaussian and for bounded losses
    zcdp        rho, for Gaussian and for bounded losses

Beside the amount, each of them counts the mass of outputs without any protection (the deltas of black boxes).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from dpaudit.accounting.curves.concentrated import (
    rho_of_atoms,
    rho_of_black_box,
    rho_of_laplace,
    rho_of_range,
    rho_of_threshold,
)
from dpaudit.accounting.fold import fold
from dpaudit.accounting.views import delivered_model
from dpaudit.checks import meant
from dpaudit.engines.exact import exact_supremum
from dpaudit.engines.gaussian import mu_of_bounded
from dpaudit.engines.limits import options_of
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import (
    Composition,
    ConcentratedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SimpleLoss,
    ThresholdLoss,
)

_LARGEST = 700.0  # from here on e^epsilon is no float, and no mu is given
_BITS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """An exact amount of one additive cost, and a mass of outputs without any protection.

    Raises: ValueError: one of the two is negative.
    """

    amount: Fraction = Fraction(0)
    mass: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.amount < 0 or self.mass < 0:
            raise ValueError(f"Expected amount={self.amount} and mass={self.mass} to be zero or positive.")

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(amount=self.amount + other.amount, mass=self.mass + other.mass)

    def __mul__(self, times: int) -> "Cost":
        return Cost(amount=self.amount * times, mass=self.mass * times)

    def within(self, limit: "Cost") -> bool:
        """Return whether neither side exceeds `limit`."""
        return self.amount <= limit.amount and self.mass <= limit.mass

    def worst(self, other: "Cost") -> "Cost":
        """Return the smallest cost that covers both."""
        return Cost(amount=max(self.amount, other.amount), mass=max(self.mass, other.mass))

    def beside(self, left: "Cost") -> str:
        """Return what is asked for beside what is left, as the end of a sentence; a delta only where there is one.

        >>> Cost(amount=Fraction(1, 2)).beside(Cost(amount=Fraction(1, 4)))
        'costs 0.5, where 0.25 is left'
        """
        if self.mass == left.mass == 0:
            return f"costs {float(self.amount):.6g}, where {float(left.amount):.6g} is left"
        return (
            f"costs {float(self.amount):.6g} and a delta of {float(self.mass):.3g}, where {float(left.amount):.6g} and "
            f"a delta of {float(left.mass):.3g} are left"
        )


CostOfLoss: TypeAlias = Callable[[SimpleLoss], Cost | None]
"""What one loss costs; None for a loss that this cost cannot count."""


def pure(loss: SimpleLoss) -> Cost | None:
    """Return the largest loss, in either order of the neighbours, and the mass beyond it.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3: such a loss is dominated by the randomised response of
    that epsilon and delta.
    """
    largest = max(loss.supremum, loss.reversed().supremum)
    if largest == float("inf"):
        return None
    mass = max(loss.infinite_mass, loss.reversed().infinite_mass)
    amount = max(exact_supremum(order) for order in (loss, loss.reversed()))
    return Cost(amount=amount, mass=meant(mass))


def gaussian(loss: SimpleLoss) -> Cost | None:
    """Return mu^2 of a Gaussian loss; no other loss is counted."""
    return Cost(amount=loss.exact**2) if isinstance(loss, GaussianLoss) else None


def squared_mu(loss: SimpleLoss) -> Cost | None:
    """Return mu^2 of a Gaussian loss, and of a bounded one that of the smallest mu that allows its largest loss.

    The trade-off of epsilon is two lines that meet at equal error rates 1 / (1 + e^epsilon). A convex curve from (0, 1)
    to (1, 0) that meets them there lies below both; so mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)). A loss with a mass
    has no mu, and one of epsilon 700 or more is given none.
    Source: Dong, Roth and Su (2022), Definition 2.6 and Proposition 2.5.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> cost = squared_mu(LaplaceLoss(shift=1.0))
    >>> cost is not None and 1.517 < float(cost.amount) < 1.519
    True
    """
    if isinstance(loss, GaussianLoss):
        return gaussian(loss)
    bounded = pure(loss)
    if bounded is None or bounded.mass or bounded.amount >= _LARGEST:
        return None
    mu = mu_of_bounded(math.nextafter(float(bounded.amount), math.inf))
    return Cost(amount=rounded_up(mu**2)) if bounded.amount else Cost()


def rounded_up(value: float) -> Fraction:
    """Return a number rounded up to 32 bits, so that a machine whose functions end otherwise finds the same one."""
    mantissa, exponent = math.frexp(value)
    return math.ceil(math.ldexp(mantissa, _BITS)) * Fraction(2) ** (exponent - _BITS)


def zcdp(loss: SimpleLoss) -> Cost | None:
    """Return the smallest rho of a Gaussian or bounded loss, rounded up: its divergence over the order, at any order.

    mu^2 / 2 of a Gaussian loss; shift - 1 + e^-shift of Laplace noise; epsilon tanh(epsilon / 2) of a black box, and
    of whatever has a mass beyond epsilon; what a theorem proves (of discrete Gaussian noise, and of losses within a
    range); of other laws of finitely many losses a search that rounds up.
    Source: Bun and Steinke (2016), Proposition 1.6 and section 8 there for a positive mass; see `curves.concentrated`.
    """
    if isinstance(loss, DiscreteLoss) and loss.rho is not None:
        return Cost(amount=loss.rho)
    if isinstance(loss, DiscreteLoss) and loss.span is not None:
        return Cost(amount=Fraction(rho_of_range(loss.span)[1]))
    if isinstance(loss, GaussianLoss):
        return Cost(amount=loss.exact**2 / 2)
    if isinstance(loss, ThresholdLoss):
        return Cost(amount=Fraction(rho_of_threshold(loss.shift)[1]))
    if isinstance(loss, ConcentratedLoss):
        return Cost(amount=loss.exact)
    if isinstance(loss, LaplaceLoss):
        return Cost(amount=rho_of_laplace(loss.exact))
    bounded = pure(loss)
    if bounded is None:
        return None
    box = rho_of_black_box(bounded.amount)
    if isinstance(loss, DiscreteLoss) and not bounded.mass:
        return Cost(amount=min(box, rho_of_atoms(loss.pair or loss)))
    return Cost(amount=box, mass=bounded.mass)


def cost_of(part: Declaration, claim: Claim, cost_of_loss: CostOfLoss) -> Cost | None:
    """Return what releasing `part` costs at worst, over all neighbours; None where `cost_of_loss` cannot count it.

    Only the relation and the model of `claim` are read.

    Raises:
        DeclarationError: a sensitivity stated for other neighbours than the claim's, or a weaker model.
        UnsupportedError: a node that no rule covers.
    """
    model = delivered_model(part)
    if not claim.implied_by(model):
        raise DeclarationError(
            f"The part protects the {model} view, and the budget is for the {claim.model} one; "
            f"declare what makes it {claim.model}, or keep a budget for the {model} view."
        )
    return _worst(_total(alternative, cost_of_loss) for alternative in fold(part, claim.neighbours).upper)


def _worst(costs: Iterable[Cost | None]) -> Cost | None:
    """Return a cost that covers all, None if one of them is not known."""
    all_costs = tuple(costs)
    known_costs = [cost for cost in all_costs if cost is not None]
    return reduce(Cost.worst, known_costs) if len(known_costs) == len(all_costs) else None


def _total(composition: Composition, cost_of_loss: CostOfLoss) -> Cost | None:
    """Return the sum over all losses of a composition; whatever an adaptive choice picks costs its dearest at most."""
    total = Cost()
    for loss, times in composition.parts:
        cost = _worst(map(cost_of_loss, options_of(loss)))
        if cost is None:
            return None
        total += cost * times
    return total
