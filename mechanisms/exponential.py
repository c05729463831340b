"""The exponential mechanism: a candidate drawn with probability exponential in its utility."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from scipy.special import log_softmax

from dpaudit import Claim, meets, smallest_holding
from dpaudit.arguments import settled
from dpaudit.checks import Size, Within, meant
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting

Utilities = Literal["general", "monotone"]
"""Whether a record may move some utilities up and others down, or all of them one way."""

_LARGEST_EPSILON = 300.0
_STEPS = 1000


@settled
class Exponential:
    """Draws a candidate with probability proportional to e^(epsilon utility / (2 linf_sensitivity)).

    Shape: utilities (..., candidates) in, indices (...) out.
    Unit: `epsilon` in nats; `linf_sensitivity` is the most
    that a record moves any single utility, in the unit of the utilities. `utilities` are "monotone" where a
    record moves all of them up, or all of them down.
    Guarantee: pure, and of bounded range: the losses of one pair of neighbours lie within r of each other, where r is
    epsilon, and half of it for monotone utilities. The worst pair depends on the question: delta(e) =
    (e^(r/2) - e^(e/2))^2 / (e^r - 1), attained by two candidates where the losses are (r + e) / 2 and (e - r) / 2.
    `loss` dominates them all; its curve is that one at 2001 points from -r to r, and lies above it by at most a
    relative 1e-5 in between where delta matters. `attained_loss` is one pair, with losses r / 2 and -r / 2, which says
    that any other split of r is attained, too.
    Edge cases: drawn by adding float64 Gumbel noise, whose low bits no observer sees, as an index is released; an
    output's probability is off by rounding only.
    Raises: ValueError: epsilon outside (0, 300], a sensitivity outside 1e-140 to 1e140, unknown neighbours.
    Source: McSherry and Talwar (2007), Theorem 6; Dong, Durfee and Rogers (2020) for the bounded range.

    >>> choice = Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="replace_one")
    >>> int(choice.release(np.array([0.0, 50.0, 0.0]), np.random.default_rng(0)))
    1
    """

    name: ClassVar[str] = "exponential"

    epsilon: Annotated[float, Within(above=0, at_most=_LARGEST_EPSILON)]
    linf_sensitivity: Size
    neighbours: Neighbours
    utilities: Utilities = "general"

    @classmethod
    def calibrated(cls, claim: Claim, *, linf_sensitivity: float, utilities: Utilities = "general") -> Self:
        """Return the sharpest choice that meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        unit = cls(epsilon=1.0, linf_sensitivity=linf_sensitivity, neighbours=claim.neighbours, utilities=utilities)
        if isinstance(claim, MeasuredClaim):
            return meeting(unit, claim)

        def holds(factor: float) -> bool:
            if 1 / factor > _LARGEST_EPSILON:
                return False
            return meets(unit.scaled(factor).loss(), claim.epsilon, claim.delta)

        return unit.scaled(smallest_holding(holds, f"epsilon={claim.epsilon}, delta={claim.delta}"))

    def loss(self) -> DiscreteLoss:
        """Return a loss that dominates every pair: straight lines (in e^e) between points of the exact curve.

        Each line's slope and so each mass has a closed form: tanh(step / 4) / (e^r - 1) times 2 e^((r + loss) / 2), and
        half of that at both ends.
        In concentrated budgets it costs what no pair of that range exceeds, which bounds several choices, too.
        Source: Doroshenko et al. (2022), connecting the dots; Dong, Durfee and Rogers (2020) for the range.
        """
        span = self.span
        losses = span * np.arange(-_STEPS, _STEPS + 1) / _STEPS
        masses = 2 * np.exp((losses - span) / 2)
        masses[0], masses[-1] = math.exp(-span), 1.0
        masses *= math.tanh(span / _STEPS / 4) / -math.expm1(-span)
        atoms = tuple(zip(losses.tolist(), masses.tolist(), strict=True))
        return DiscreteLoss(atoms=atoms, symmetric=True, span=span)

    def attained_loss(self) -> DiscreteLoss:
        """Return the loss of two candidates whose utilities cross half way; their utilities before decide the split."""
        losses = (-self.span / 2, self.span / 2)
        atoms = tuple((loss, 1 / (1 + math.exp(-loss))) for loss in losses)
        return DiscreteLoss(atoms=atoms, symmetric=True, span=self.span)

    @property
    def span(self) -> float:
        """How far apart the losses of one pair of neighbours are at most."""
        return self.epsilon / 2 if self.utilities == "monotone" else self.epsilon

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the index of one candidate for each row of utilities. Shape: (..., candidates) to (...)."""
        weights = np.asarray(value, dtype=np.float64) * (self.epsilon / (2 * self.linf_sensitivity))
        chosen: Array = np.argmax(weights + rng.gumbel(size=weights.shape), axis=-1)
        return chosen

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each index, minus infinity where it names no candidate."""
        weights = np.asarray(value, dtype=np.float64) * (self.epsilon / (2 * self.linf_sensitivity))
        return picked(log_softmax(weights, axis=-1), output)

    def scaled(self, factor: float) -> Self:
        """Return the same choice with `factor` times the noise, which is epsilon / factor."""
        return replace(self, epsilon=self.epsilon / factor)

    def of_records(self, records: int) -> Self:
        """Return the choice that is as sharp as what `records` records can make of this one together.

        Its loss dominates records that change one after another: the ranges of the losses of a chain add up.
        Raises: ValueError: epsilon would exceed 300.
        """
        exact = meant(self.epsilon) * records
        near = float(exact)
        return replace(self, epsilon=near if meant(near) >= exact else math.nextafter(near, math.inf))

    def worst_pair(self) -> tuple[Array, Array]:
        """Return the utilities of two candidates before and after they cross, of monotone ones after one moved up."""
        if self.utilities == "monotone":
            return np.array([0.5, 0.0]) * self.linf_sensitivity, np.array([0.5, 1.0]) * self.linf_sensitivity
        first = np.array([0.5, -0.5]) * self.linf_sensitivity
        return first, first[::-1].copy()


def picked(log_probabilities: Array, index: Array) -> Array:
    """Return each row's entry at `index`, minus infinity where there is none. Shape: (..., n) and (...) to (...)."""
    chosen = np.asarray(index)
    candidates = log_probabilities.shape[-1]
    rows = np.broadcast_to(log_probabilities, (*chosen.shape, candidates))
    inside = (chosen >= 0) & (chosen < candidates)
    entries = np.take_along_axis(rows, np.where(inside, chosen, 0)[..., None], axis=-1)[..., 0]
    return np.where(inside, entries, -np.inf)


EXAMPLES = (
    Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="replace_one"),
    Exponential(epsilon=3.0, linf_sensitivity=5.0, neighbours="add_remove"),
    Exponential(epsilon=3.0, linf_sensitivity=2.0, neighbours="add_remove", utilities="monotone"),
)
