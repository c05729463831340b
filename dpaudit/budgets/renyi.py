"""Renyi divergences of one order as a budget: the cost of parts, the limit of a claim, and a usual order."""

import math
from fractions import Fraction
from functools import lru_cache, partial

from dpaudit.accounting.additive_costs import Cost, rounded_up
from dpaudit.accounting.curves.renyi_divergence import renyi_of_loss
from dpaudit.budgets.filter_theorems import FilterTheorem
from dpaudit.checks import positive
from dpaudit.model.losses import SimpleLoss

_ORDERS = tuple(1 + math.exp(k / 16) for k in range(-64, 129))
_ROUNDED = 1e-13


def renyi_cost(loss: SimpleLoss, order: float) -> Cost | None:
    """Return the larger Renyi divergence of both orders of the neighbours, from above; None where it is infinite.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> float(renyi_cost(GaussianLoss(mu=1.0), 8.0).amount) >= 4.0
    True
    """
    largest = max(renyi_of_loss(way, order)[1] for way in (loss, loss.reversed()))
    return Cost(amount=rounded_up(largest)) if largest < math.inf else None


def largest_divergence(order: float, epsilon: float, delta: float) -> float:
    """Return the largest Renyi divergence of this order that is turned into (epsilon, delta), rounded down.

    Edge cases: 0 where nothing is, and where delta is 0.
    Source: Canonne, Kamath and Steinke (2020), Proposition 12.
    """
    if delta == 0:
        return 0.0
    power = order - 1
    terms = (epsilon, math.log(delta) / power, math.log(power) / power, order * math.log1p(1 / power) / power)
    return max(0.0, math.fsum(terms) - _ROUNDED * math.fsum(map(abs, terms)))


@lru_cache(maxsize=256)
def renyi_theorem(order: float) -> FilterTheorem:
    """Return the theorem that lets a sum of Renyi divergences of one order be stopped at a limit.

    Raises: ValueError: an order that is not above 1 and finite.
    """
    if not 1 < positive("order", order) < math.inf:
        raise ValueError(f"Expected order={order} to be above 1 and finite.")
    at = float(order)
    return FilterTheorem(
        name="Renyi",
        cost_of_loss=partial(renyi_cost, order=at),
        amount=lambda epsilon, delta: Fraction(largest_divergence(at, epsilon, delta)),
        statement="Stopped before the sum of the divergences of one order, fixed first, exceeds a limit, parts chosen "
        "from the outputs before them have at most the limit together, in either order of the neighbours.",
        counts="losses of finite Renyi divergence, samples of Gaussian and of other noise among them",
        source="Feldman and Zrnic (2021), the Renyi filter; Lecuyer (2021); Canonne, Kamath and Steinke (2020), "
        "Proposition 12",
    )


@lru_cache(maxsize=256)
def usual_order(epsilon: float, delta: float) -> float:
    """Return the smallest order, of those that are looked at, whose limit is a third of epsilon.

    Any order gives a true filter. At a larger one Gaussian releases last up to an eighth longer; samples, whose
    divergence grows faster with the order, last much shorter.

    >>> 13 < usual_order(1.0, 1e-5) < 14
    True
    """
    return next((o for o in _ORDERS if largest_divergence(o, epsilon, delta) >= epsilon / 3), _ORDERS[-1])


def reading_at(spent: Fraction, order: float, delta: float) -> float:
    """Return an epsilon that the loss exceeds at no moment, but with probability delta, rounded up.

    e^((order - 1) (loss - divergences so far)) is a supermartingale under P, whose mean starts at 1; Ville's inequality
    bounds the probability that it ever reaches 1/delta.
    Source: Ville (1939); Whitehouse, Ramdas, Rogers and Wu (2023), for odometers.

    >>> round(reading_at(Fraction(1, 2), 11.0, 1e-5), 4)
    1.6513
    """
    return (float(spent) - math.log(delta) / (order - 1)) * (1 + _ROUNDED)
