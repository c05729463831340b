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


BASIC = FilterTheorem(
    name="basic",
    cost_of_loss=pure,
    amount=lambda epsilon, _: meant(epsilon),
    statement="Epsilons and deltas add up, however each was chosen from the outputs before it.",
    counts="bounded losses and stated (epsilon, delta)",
    source="Rogers, Roth, Ullman and Vadhan (2016), the basic composition filter",
)
GAUSSIAN = FilterTheorem(
    name="Gaussian",
    cost_of_loss=gaussian,
    amount=_largest_mu_square,
    statement="Stopped before the sum of mu^2 exceeds mu^2, adaptively chosen Gaussian releases are mu-GDP.",
    counts="Gaussian losses",
    source="Smith and Thakurta (2022); Koskela, Tobaben and Honkela (2023)",
)
CONCENTRATED = FilterTheorem(
    name="concentrated",
    cost_of_loss=zcdp,
    amount=lambda epsilon, delta: Fraction(largest_rho(epsilon, delta)),
    statement="Stopped before the sum of rho exceeds rho, approximately concentrated parts are rho-concentrated.",
    counts="Gaussian and bounded losses and stated (epsilon, delta)",
    source="Whitehouse, Ramdas, Rogers and Wu (2023), the filter for approximate zCDP; "
    "Canonne, Kamath and Steinke (2020), Corollary 13",
)
GAUSSIAN_PRIVACY = FilterTheorem(
    name="Gaussian privacy",
    cost_of_loss=squared_mu,
    amount=_largest_mu_square,
    statement="Stopped before the sum of mu_i^2 exceeds mu^2, adaptively chosen mu_i-GDP parts are mu-GDP together. "
    "Proof: for each pair of neighbours and each history, the part is a randomised function of one draw of N(0, 1) or "
    "N(mu_i, 1) (Blackwell); so everything released is a function of adaptively chosen Gaussian releases, of which the "
    "Gaussian filter speaks.",
    counts="Gaussian and bounded losses without mass, and certificates in mu (rho bounds no mu)",
    source="Dong, Roth and Su (2022), Theorem 2; Smith and Thakurta (2022)",
)
ADVANCED = FilterTheorem(
    name="advanced",
    cost_of_loss=zcdp,
    amount=lambda epsilon, delta: Fraction(largest_rho_at_the_advanced_rate(epsilon, delta)),
    statement="Stopped before 2 sqrt(ln(1/delta') sum rho_i) + sum rho_i exceeds epsilon or the sum of delta_i exceeds "
    "delta'', parts of (rho_i, delta_i) are (epsilon, delta' + delta'')-private; rho_i is at most epsilon_i^2 / 2.",
    counts="Gaussian and bounded losses and stated (epsilon, delta)",
    source="Whitehouse, Ramdas, Rogers and Wu (2023), the (epsilon, delta) filter",
)
