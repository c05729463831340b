"""The loss of Gaussian noise."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from scipy.special import log_ndtr

from dpaudit.model.losses.of_size import LossOfSize


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLoss(LossOfSize):
    """The loss of N(mu, 1) against N(0, 1); `mu` is l2 sensitivity over standard deviation.

    `exact` is mu as a ratio: the shortest decimal of `mu`, or what `exactly` was given.

    Source: Balle and Wang (2018), Theorem 8; Dong, Roth and Su (2022), Corollary 2.13.

    >>> round(GaussianLoss(mu=1.0).hockey_stick(1.0), 6)
    0.126937
    """

    size: ClassVar[str] = "mu"
    mu: float
    exact: Fraction = field(init=False, repr=False, compare=False)

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return math.inf if self.mu > 0 else 0.0

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        if self.mu == 0:
            return max(0.0, -math.expm1(epsilon))
        first = float(log_ndtr(self.mu / 2 - epsilon / self.mu))
        second = epsilon + float(log_ndtr(-self.mu / 2 - epsilon / self.mu))
        return math.exp(first) * -math.expm1(min(0.0, second - first))
