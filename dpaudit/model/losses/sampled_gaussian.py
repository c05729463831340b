"""The loss of Gaussian noise on a Poisson sample."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from dpaudit.checks import NonNegative, OpenProbability, settle
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.sampled_ratios import ROUNDED, log_absent, loss_before, share_without

SampledOrder = Literal["remove", "add"]
"""Which of the two neighbours holds the record: the first one (it is removed) or the second (it is added)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGaussianLoss:
    """The loss of a Gaussian release on a Poisson sample: each record is in it with probability `rate`.

    With `order` "remove" it is the loss of (1 - rate) N(0, 1) + rate N(mu, 1) against N(0, 1), with "add"
    that of N(0, 1) against the mixture: the two orders of neighbours that differ by one record, and two
    different losses. `mu` is l2 sensitivity over standard deviation, as if the record were surely there.
    Source: Zhu, Dong and Wang (2022), Theorem 11; Mironov, Talwar and Zhang (2019), Theorem 4.

    >>> removed = SampledGaussianLoss(mu=1.0, rate=0.01, order="remove")
    >>> round(removed.hockey_stick(0.0) / GaussianLoss(mu=1.0).hockey_stick(0.0), 6)
    0.01
    """

    mu: NonNegative
    rate: OpenProbability
    order: SampledOrder = "remove"
    infinite_mass: ClassVar[float] = 0.0
    """The probability, under P, of an output that Q cannot produce."""

    def __post_init__(self) -> None:
        settle(self)

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        if self.mu == 0:
            return 0.0
        return math.inf if self.order == "remove" else -log_absent(self.rate) * (1 + ROUNDED) + 1e-300

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits.

        Both orders follow from the unsampled curve at the epsilon that sampling maps to this one.
        Source: Balle, Barthe and Gaboardi (2018), Theorem 2 and Section 4.
        """
        plain = GaussianLoss(mu=self.mu)
        if self.order == "remove":
            inner = loss_before(epsilon, self.rate)
            return -math.expm1(epsilon) if inner == -math.inf else self.rate * plain.hockey_stick(inner)
        inner = -loss_before(-epsilon, self.rate)
        return share_without(epsilon, self.rate) * plain.hockey_stick(inner) if inner < math.inf else 0.0

    def reversed(self) -> "SampledGaussianLoss":
        """Return the loss of (Q, P)."""
        return replace(self, order="add" if self.order == "remove" else "remove")
