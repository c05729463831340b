"""The theorems that let a running sum be stopped at a limit, as data."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpaudit.accounting.additive_costs import Cost, CostOfLoss, gaussian, pure, squared_mu, zcdp
from dpaudit.accounting.calibration import smallest_holding
from dpaudit.budgets.zcdp import largest_rho, largest_rho_at_the_advanced_rate
from dpaudit.checks import meant
from dpaudit.engines.gaussian import gaussian_delta
from dpaudit.runtime.tables import table_of

_WORDS = table_of("dpaudit.budgets", "filter_theorems.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterTheorem:
    """Why a running sum may be stopped at a limit, for parts and costs chosen as the analyst goes.

    `cost_of_loss` is what is summed, `amount` the largest sum that proves (epsilon, delta); `counts` says in words
    which parts it can count.
    """

    name: str
    cost_of_loss: CostOfLoss
    amount: Callable[[float, float], Fraction]
    statement: str
    counts: str
    source: str


@lru_cache(maxsize=1024)
def limit_of(theorem: FilterTheorem, epsilon: float, delta: float, mass: float) -> Cost:
    """Return the largest cost that proves (epsilon, delta) with `mass` of delta set aside."""
    left = meant(delta) - meant(mass)
    rest = float(left)
    while meant(rest) > left:
        rest = math.nextafter(rest, 0)
    return Cost(amount=theorem.amount(epsilon, rest), mass=meant(mass))


def _largest_mu_square(epsilon: float, delta: float) -> Fraction:
    """Return the largest mu^2 of a Gaussian loss that is (epsilon, delta)-private, rounded down."""
    goal = f"epsilon={epsilon}, delta={delta}"
    mu = 1 / smallest_holding(lambda noise: gaussian_delta(1 / noise, epsilon)[1] <= delta, goal)
    while gaussian_delta(mu, epsilon)[1] > delta:
        mu = math.nextafter(mu, 0)
    return Fraction(mu) ** 2


def _theorem(name: str, cost_of_loss: CostOfLoss, amount: Callable[[float, float], Fraction]) -> FilterTheorem:
    """Return a theorem by the name under which its words stand in the table beside this file."""
    return FilterTheorem(name=name, cost_of_loss=cost_of_loss, amount=amount, **_WORDS[name])


BASIC = _theorem("basic", pure, lambda epsilon, _: meant(epsilon))
GAUSSIAN = _theorem("Gaussian", gaussian, _largest_mu_square)
CONCENTRATED = _theorem("concentrated", zcdp, lambda epsilon, delta: Fraction(largest_rho(epsilon, delta)))
GAUSSIAN_PRIVACY = _theorem("Gaussian privacy", squared_mu, _largest_mu_square)
ADVANCED = _theorem("advanced", zcdp, lambda epsilon, delta: Fraction(largest_rho_at_the_advanced_rate(epsilon, delta)))
