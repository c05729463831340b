"""The loss that dominates every (epsilon, delta)-private mechanism, and how its delta grows with a group."""

import math
from dataclasses import dataclass

from dpaudit.checks import NonNegative, ProbabilityBelowOne, settle
from dpaudit.model.losses.discrete import DiscreteLoss


def group_delta(epsilon: float, delta: float, size: int) -> float:
    """Return delta (e^(size epsilon) - 1) / (e^epsilon - 1), rounded up and at most 1: what a group's delta grows to.

    Source: Vadhan (2017), Lemma 2.2, with the geometric sum in place of its bound.
    """
    if size == 1:
        return delta
    if delta == 0 or epsilon <= 0:  # a loss below 0 is one of 0
        return min(1.0, size * delta * (1 + 2.0**-52))
    log_growth = (size - 1) * epsilon + math.log(-math.expm1(-size * epsilon)) - math.log(-math.expm1(-epsilon))
    return min(1.0, delta * math.exp(min(log_growth, 700.0)) * (1 + 1e-12))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateLoss:
    """The loss that dominates every (epsilon, delta)-private mechanism; at delta = 0, randomised response.

    Under P: +epsilon with probability (1 - delta) e^epsilon / (1 + e^epsilon), -epsilon with
    (1 - delta) / (1 + e^epsilon), infinity with delta.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3.

    >>> ApproximateLoss(epsilon=1.0, delta=1e-6).hockey_stick(1.0)
    1e-06
    """

    epsilon: NonNegative
    delta: ProbabilityBelowOne = 0.0

    def __post_init__(self) -> None:
        settle(self)

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.epsilon

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return self.delta

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        if epsilon >= self.epsilon:
            return self.delta
        if epsilon <= -self.epsilon:
            pure = -math.expm1(epsilon)
        else:
            pure = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return self.delta + (1 - self.delta) * pure

    def as_atoms(self) -> DiscreteLoss:
        """Return the same loss by its atoms."""
        share = (1 - self.delta) / (1 + math.exp(-self.epsilon))
        atoms = ((-self.epsilon, share * math.exp(-self.epsilon)), (self.epsilon, share))
        return DiscreteLoss(atoms=atoms, infinite_mass=self.delta, reverse_infinite_mass=self.delta, symmetric=True)

    def reversed(self) -> "ApproximateLoss":
        """Return the loss of (Q, P), which is the same."""
        return self
