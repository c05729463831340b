"""Limits of the engines that put losses on a grid: compositions neither too large, nor too many, nor too small."""

from dpaudit.model.losses import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    DerivedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    PlainLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
)

LARGEST = 1e5
"""The largest loss that is put on a grid, in nats."""
MOST_MU = 2000.0
"""The largest mu that is put on a grid; one loss then takes less than 400,000 panels."""
MOST_EVENTS = 10**9
"""The most releases: the error of a transform grows with them."""
TINY = 1e-120
"""A total variation, over all copies of a loss, that stands for nothing."""


def gridded(composition: Composition) -> bool:
    """Return whether every loss lies within the limits of the engines with grids, and one of them counts.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> gridded(Composition.of(LaplaceLoss(shift=1.0))), gridded(Composition.of(LaplaceLoss(shift=1e6)))
    (True, False)
    """
    within = composition.events <= MOST_EVENTS and all(_within(loss) for loss, _ in composition.parts)
    return within and any(map(_counts, composition.parts))


def is_derived(loss: SimpleLoss) -> bool:
    """Return whether a loss, or an option of a choice, is made of others, so that only pairs bound it."""
    return any(isinstance(option, DerivedLoss) for option in options_of(loss))


def options_of(loss: SimpleLoss) -> tuple[PlainLoss, ...]:
    """Return what a choice is between; any other loss is itself."""
    return loss.options if isinstance(loss, ChoiceLoss) else (loss,)


def _counts(part: tuple[SimpleLoss, int]) -> bool:
    """Return whether copies of a loss are more than nothing; atoms are, unless all are at 0."""
    loss, times = part
    if isinstance(loss, DiscreteLoss):
        return loss.infinite_mass > 0 or any(value for value, _ in loss.atoms)
    return variation(loss, times) > TINY


def variation(loss: SimpleLoss, times: int) -> float:
    """Return about the total variation that copies of a loss add up to, at most 1."""
    return min(1.0, loss.hockey_stick(0.0) * min(times, 1 << 1000))


def _within(loss: SimpleLoss) -> bool:
    """Return whether one loss lies within the limits."""
    match loss:
        case LaplaceLoss(shift=shift):
            return shift <= LARGEST
        case GaussianLoss(mu=mu) | SampledGaussianLoss(mu=mu):
            return mu <= MOST_MU
        case MixtureLoss(above=above, below=below):
            return above[-1][0] - below[0][0] <= MOST_MU
        case ChoiceLoss(options=options):
            return all(map(_within, options))
        case SampledLoss(inside=inside) | AllocatedLoss(inside=inside):
            return all(_within(part) for part, _ in inside)
        case AverageLoss(options=weighted):
            return all(_within(part) for _, part in weighted)
        case StitchedLoss(positive=positive, negative=negative):
            return _within(positive) and _within(negative)
        case DiscreteLoss(atoms=atoms):
            return not atoms or max(-atoms[0][0], atoms[-1][0]) <= LARGEST
        case _:
            return max(loss.supremum, loss.reversed().supremum) <= LARGEST
