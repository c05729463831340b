"""The loss of Laplace noise."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from dpaudit.model.losses.of_size import LossOfSize


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLoss(LossOfSize):
    """The loss of Laplace(shift, 1) against Laplace(0, 1); `shift` is l1 sensitivity over scale.

    `exact` is the shift as a ratio: the shortest decimal of `shift`, or what `exactly` was given.

    It is the exact worst case of a Laplace vector under an l1 sensitivity: spreading the distance over
    coordinates never helps. A chain of moves of one coordinate each leads from one answer to the other; the
    power of a test against the whole move grows no faster along it than along one coordinate alone, where
    thresholds are optimal and moves compose to a longer move of the same kind, so that the chain is attained.
    Source: Dong, Roth and Su (2022), on group privacy, for chains. Dwork and Roth (2014), Theorem 3.6, has the
    pure bound alone.

    >>> LaplaceLoss(shift=3.0).supremum
    3.0
    """

    size: ClassVar[str] = "shift"
    shift: float
    exact: Fraction = field(init=False, repr=False, hash=False)

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.shift

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        if epsilon >= self.shift:
            return 0.0
        if epsilon <= -self.shift:
            return -math.expm1(epsilon)
        return -math.expm1((epsilon - self.shift) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdLoss(LaplaceLoss):
    """The loss of what shows only on which side of a threshold Laplace noise falls, whichever threshold is worst.

    Each pair of neighbours is no easier to tell apart than by some mixture of thresholds that are seen, so that
    divergences are at most that of the worst threshold. The curve is that of the noise, each point by a threshold of
    its own.

    >>> ThresholdLoss(shift=3.0) == LaplaceLoss(shift=3.0)
    False
    """
