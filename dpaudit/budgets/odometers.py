"""Odometers: what an adaptive analyst has spent so far, true at every moment at once, without a limit set before.

A filter fixes the limit and stops there. An odometer runs on and can be read at any time, and the analyst may stop
because of what it reads. Being right at all times at once costs a little more than being right at one.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpaudit.accounting.additive_costs import Cost, cost_of, pure, zcdp
from dpaudit.budgets.filters import Refusal
from dpaudit.checks import (
    Natural,
    OpenProbability,
    Positive,
    ProbabilityBelowOne,
    meant,
    settle,
)
from dpaudit.model.claim import Claim, Model, Neighbours
from dpaudit.model.declaration import Declaration

_ROUNDED_UP = 1 + 2.0**-40


@dataclass(frozen=True, slots=True, kw_only=True)
class Odometer:
    """A running upper bound on epsilon, `reading`, for parts and costs chosen as the analyst goes.

    `delta` is the probability that the bound fails at any time; `mass` caps the deltas that parts may bring
    beside it; `tuned_to` is the sum of rho near which the reading is tightest, chosen in advance.
    Guarantee: for every rule of stopping that looks at outputs and readings only, every two `neighbours` with
    laws P and Q of what was released, and every event E, P(E) <= E_Q[e^reading; E] + delta + mass. So where the
    reading never exceeds epsilon, the whole is (epsilon, delta + mass)-private.
    Proof: every part is a function of its dominating pair, so count the losses L of those. With rho the sum so
    far, exp(s (L - rho) - s^2 rho) is a supermartingale under P for every s > 0; so is its mean over s = |N(0, 1/g)|,
    which at z = L - rho >= 0 is at least sqrt(g / (2 rho + g)) exp(z^2 / (2 (2 rho + g))). By Ville's inequality it
    ever reaches 1/delta with probability at most delta. The sum of the largest losses is never exceeded at all.
    Raises: ValueError: `delta` or `mass` no probability, `tuned_to` not positive.
    Source: Whitehouse, Ramdas, Rogers and Wu (2023), the mixture odometer; Howard, Ramdas, McAuliffe and Sekhon
        (2021), Eq. (3.7) for the boundary and Proposition 3 for its tuning, in the published numbering.

    >>> from dpaudit import Release
    >>> from mechanisms import Gaussian
    >>> part = Release(label="sum", mechanism=Gaussian(stddev=20.0, l2_sensitivity=1.0, neighbours="replace_one"))
    >>> odometer = Odometer(delta=1e-6, neighbours="replace_one")
    >>> odometer.reading, round(odometer.spend(part).reading, 3)
    (0.0, 0.502)
    """

    delta: OpenProbability
    neighbours: Neighbours
    model: Model = "central"
    mass: ProbabilityBelowOne = 0.0
    tuned_to: Positive = 0.1
    spent: Cost = field(default_factory=Cost)
    spent_epsilon: Fraction | None = field(default_factory=Fraction)
    events: Natural = 0

    def __post_init__(self) -> None:
        settle(self)
        if self.spent.mass > self.mass:
            raise ValueError(f"Expected the spent mass {float(self.spent.mass)} to be at most mass={self.mass}.")

    @property
    def reading(self) -> float:
        """Epsilon so far, rounded up: the mixture boundary, or the sum of the largest losses if that is smaller."""
        boundary = mixture_boundary(float(self.spent.amount) * _ROUNDED_UP, self.delta, self.tuned_to)
        if self.spent_epsilon is None:
            return boundary
        return min(boundary, math.nextafter(float(self.spent_epsilon), math.inf)) if self.spent_epsilon else 0.0

    def spend(self, part: Declaration) -> "Odometer | Refusal":
        """Return the odometer after `part` was released, or the reason why it cannot be counted.

        Raises:
            DeclarationError: `part` is stated for other neighbours, or protects a weaker model.
            UnsupportedError: a node that no rule covers.
        """
        relation = Claim(epsilon=0.0, neighbours=self.neighbours, model=self.model)
        cost, bounded = cost_of(part, relation, zcdp), cost_of(part, relation, pure)
        if cost is None:
            return Refusal(reason="An odometer counts Gaussian and bounded losses; the part has neither.")
        spent = self.spent + cost
        if spent.mass > self.mass:
            return Refusal(
                reason=f"The part brings a mass of {float(cost.mass):.3g}; "
                f"{float(meant(self.mass) - self.spent.mass):.3g} of mass={self.mass:g} is left."
            )
        if self.spent_epsilon is None or bounded is None:
            return replace(self, spent=spent, spent_epsilon=None, events=self.events + 1)
        epsilon = self.spent_epsilon + bounded.amount
        return replace(self, spent=spent, spent_epsilon=epsilon, events=self.events + 1)


def mixture_boundary(rho: float, delta: float, tuned_to: float) -> float:
    """Return a bound that the loss of rho-concentrated parts exceeds at no time, but with probability delta.

    With v = 2 rho and g from `tuned_to`: v/2 + sqrt((v + g) (2 ln(1/delta) + ln((v + g) / g))).
    """
    tail = -2 * math.log(delta)
    g = 2 * tuned_to / (tail + math.log1p(tail))
    v = 2 * rho
    return (rho + math.sqrt((v + g) * (tail + math.log1p(v / g)))) * _ROUNDED_UP
