"""Losses made of other losses: a choice between several, and several met together."""

from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.checks import count
from dpaudit.model.losses.allocated import AllocatedLoss
from dpaudit.model.losses.approximate import ApproximateLoss
from dpaudit.model.losses.average import AverageLoss, StitchedLoss
from dpaudit.model.losses.discrete import DiscreteLoss
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss
from dpaudit.model.losses.mixture import MixtureLoss
from dpaudit.model.losses.sampled import SampledLoss
from dpaudit.model.losses.sampled_gaussian import SampledGaussianLoss

DerivedLoss: TypeAlias = SampledLoss | AverageLoss | StitchedLoss | AllocatedLoss
"""What folding makes of other losses; engines know a pair above it and one below it, not its law."""

PlainLoss: TypeAlias = (
    GaussianLoss | LaplaceLoss | ApproximateLoss | DiscreteLoss | SampledGaussianLoss | MixtureLoss | DerivedLoss
)
"""What a single release, or a sample of releases, can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceLoss:
    """The loss of whichever of `options` is met, when earlier releases may pick it: their curves' maximum.

    The maximum of curves is the curve of some pair, and that pair dominates every way of picking, also among
    further releases. Folding makes this loss; no mechanism returns it.
    Raises: ValueError: no option.
    Source: Zhu, Dong and Wang (2022), Proposition 8 and Theorem 10.

    >>> either = ChoiceLoss(options=(LaplaceLoss(shift=1.0), GaussianLoss(mu=0.5)))
    >>> either.hockey_stick(0.0) == LaplaceLoss(shift=1.0).hockey_stick(0.0), either.supremum
    (True, inf)
    """

    options: tuple[PlainLoss, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(sorted(set(self.options), key=repr)))
        if not self.options:
            raise ValueError("Expected one option or more, got none.")

    @property
    def supremum(self) -> float:
        """The largest finite loss of any option; the choice's own is no larger."""
        return max(loss.supremum for loss in self.options)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return max(loss.infinite_mass for loss in self.options)

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return max(loss.hockey_stick(epsilon) for loss in self.options)

    def reversed(self) -> "ChoiceLoss":
        """Return the loss of (Q, P): the choice between the reversed options."""
        return ChoiceLoss(options=tuple(loss.reversed() for loss in self.options))

    def group(self, size: int) -> "ChoiceLoss | ComposedLoss":
        """Return a loss that dominates `size` records, which may meet different options: all of them, moved so far."""
        if size == 1:
            return self
        return ComposedLoss(parts=tuple((loss.group(size), 1) for loss in self.options))


SimpleLoss: TypeAlias = PlainLoss | ChoiceLoss
"""What an engine can meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedLoss:
    """Several losses met together, each a number of times: what a composite mechanism returns.

    >>> from dpaudit import Composition
    >>> Composition.of(ComposedLoss(parts=((LaplaceLoss(shift=0.5), 2),)), LaplaceLoss(shift=0.5)).parts
    ((LaplaceLoss(shift=0.5), 3),)
    """

    parts: tuple[tuple[SimpleLoss, int], ...]

    def __post_init__(self) -> None:
        for _, times in self.parts:
            count("times", times)


Loss: TypeAlias = SimpleLoss | ComposedLoss
"""What a mechanism can return."""
