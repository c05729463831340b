"""The loss of releases at one secret step out of several."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from dpaudit.checks import count, one_of
from dpaudit.errors import UnsupportedError
from dpaudit.model.losses.sampled import infinite_of
from dpaudit.model.losses.sampled_gaussian import SampledOrder

if TYPE_CHECKING:
    from dpaudit.model.losses.composed import SimpleLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedLoss:
    """The loss of `steps` runs of all `inside`, one of which, secret and uniform, uses the record.

    With order "remove" it is the loss of the average over i of Q^(i-1) P Q^(steps-i) against Q^steps, (P, Q) being all
    `inside` together; with "add" that of the reverse.
    Raises: ValueError: nothing inside, less than one step, or an unknown order.
    Source: a secret position that is independent of the data is a mixture of products, which kernels from a dominating
    pair preserve (Blackwell 1953); Chua et al. (2024), for balls in bins.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> AllocatedLoss(inside=((GaussianLoss(mu=1.0), 1),), steps=10).supremum
    inf
    """

    inside: "tuple[tuple[SimpleLoss, int], ...]"
    steps: int
    order: SampledOrder = "remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", count("steps", self.steps))
        one_of("order", self.order, get_args(SampledOrder))
        if not self.inside:
            raise ValueError("Expected one loss or more inside an allocation, got none.")
        for _, times in self.inside:
            count("times", times)

    @property
    def supremum(self) -> float:
        """A bound on the largest finite loss, of a step that is known."""
        back = self.order == "add"
        return math.fsum((loss.reversed() if back else loss).supremum * times for loss, times in self.inside)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        if self.order == "add":
            return float(infinite_of(tuple((loss.reversed(), times) for loss, times in self.inside))) ** self.steps
        return float(infinite_of(self.inside))

    def hockey_stick(self, epsilon: float) -> float:
        """Return the total variation of a known step, beyond which delta(epsilon) never lies."""
        back = self.order == "add"
        losses = ((loss.reversed() if back else loss, times) for loss, times in self.inside)
        return min(1.0, math.fsum(times * loss.hockey_stick(max(0.0, epsilon)) for loss, times in losses))

    def reversed(self) -> "AllocatedLoss":
        """Return the loss of (Q, P)."""
        return replace(self, order="add" if self.order == "remove" else "remove")

    def group(self, size: int) -> "AllocatedLoss":
        """Return the loss itself for one record; several records at secret steps are not covered.

        Raises: UnsupportedError: size above 1.
        """
        if size == 1:
            return self
        raise UnsupportedError(
            f"'group' of size {size} over 'allocate' is not covered: a person's records may lie at different steps. "
            "Put the group inside the allocation where they lie at one."
        )
