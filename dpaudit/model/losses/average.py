"""The loss of one of several losses that a public coin picks, and a loss that is another one on either side of 0."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpaudit.checks import non_negative
from dpaudit.errors import UnsupportedError

if TYPE_CHECKING:
    from dpaudit.model.losses.composed import SimpleLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageLoss:
    """The loss of whichever of `options` a public coin picks: the average of their curves, by weight.

    Shape: `options` holds (weight, loss) pairs; weights are probabilities that sum to 1 within 1e-9.
    Source: an average of curves is a curve, that of a pair whose outputs show the coin.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> AverageLoss(options=((0.5, GaussianLoss(mu=1.0)), (0.5, GaussianLoss(mu=0.0)))).infinite_mass
    0.0
    """

    options: "tuple[tuple[float, SimpleLoss], ...]"

    def __post_init__(self) -> None:
        if abs(math.fsum(non_negative("weight", weight) for weight, _ in self.options) - 1) > 1e-9:
            raise ValueError(f"Expected weights that sum to 1, got {[weight for weight, _ in self.options]}.")

    @property
    def supremum(self) -> float:
        """The largest finite loss of any option."""
        return max(loss.supremum for _, loss in self.options)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return min(1.0, math.fsum(weight * loss.infinite_mass for weight, loss in self.options))

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return math.fsum(weight * loss.hockey_stick(epsilon) for weight, loss in self.options)

    def reversed(self) -> "AverageLoss":
        """Return the loss of (Q, P)."""
        return AverageLoss(options=tuple((weight, loss.reversed()) for weight, loss in self.options))

    def group(self, size: int) -> "AverageLoss":
        """Return the loss itself for one record; a group is not covered.

        Raises: UnsupportedError: size above 1.
        """
        _one_record(size)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class StitchedLoss:
    """A loss that dominates `positive` at every epsilon of 0 or more and `negative` at every one below.

    Both orders of neighbours have their own worst data sets: what is worst for a positive epsilon need not be for a
    negative one, and no single pair need attain both.
    Source: Lebeda, Regehr, Kamath and Steinke (2024), on the worst pairs of samples without replacement.
    """

    positive: "SimpleLoss"
    negative: "SimpleLoss"

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.positive.supremum

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return self.positive.infinite_mass

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return (self.positive if epsilon >= 0 else self.negative).hockey_stick(epsilon)

    def reversed(self) -> "StitchedLoss":
        """Return the loss of (Q, P)."""
        return StitchedLoss(positive=self.negative.reversed(), negative=self.positive.reversed())

    def group(self, size: int) -> "StitchedLoss":
        """Return the loss itself for one record; a group is not covered.

        Raises: UnsupportedError: size above 1.
        """
        _one_record(size)
        return self


def _one_record(size: int) -> None:
    """Refuse a group."""
    if size != 1:
        raise UnsupportedError(
            f"'group' of size {size} over this 'subsample' is not covered: the sample may hold any number of the "
            "person's records. Sample persons, not records, and put the group inside the sample."
        )
