"""Provable dominance of one composition over another, decided in exact arithmetic."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpaudit.accounting.normal_form import Alternatives
from dpaudit.engines.exact import exact_sum
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    ConcentratedLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
    ThresholdLoss,
)

_MOST = 64
"""How many compositions are kept for a lower bound, which may leave any of them out."""


def worst(alternatives: Alternatives) -> Alternatives:
    """Return `alternatives` without those that another one dominates; the order is kept.

    Dropping a dominated alternative changes no bound. Dominance is decided exactly, family by family;
    where it cannot be decided, both stay.
    """
    undominated: list[Composition] = []
    for alternative in alternatives:
        if any(dominates(other, alternative) for other in undominated):
            continue
        undominated = [other for other in undominated if not dominates(alternative, other)]
        undominated.append(alternative)
    return tuple(undominated)


def dominates(above: Composition, below: Composition) -> bool:
    """Return whether `above` provably dominates `below`, decided in exact arithmetic.

    Each loss of `below` needs a loss of `above` of its own that exceeds it. Such pairs exist if no set of losses has
    fewer losses that exceed one of them than members (Hall 1935). Each kind is totally ordered, so that its largest
    sets are those above one loss. Laplace noise exceeds threshold losses, and not the other way around: together they
    have the sets above one loss of either.
    """
    if _gaussian_square(above) < _gaussian_square(below):
        return False
    rest_above, rest_below = (
        [(loss, times) for loss, times in each.parts if not isinstance(loss, GaussianLoss)] for each in (above, below)
    )
    kinds = [loss for loss, _ in rest_below]
    thresholds = [loss for loss in kinds if isinstance(loss, ThresholdLoss)]
    least = [(loss,) for loss in kinds] + [(x, y) for x in kinds if type(x) is LaplaceLoss for y in thresholds]
    return all(_exceeding(rest_below, losses) <= _exceeding(rest_above, losses) for losses in least)


def _exceeding(parts: Sequence[tuple[SimpleLoss, int]], least: tuple[SimpleLoss, ...]) -> int:
    """Return how many losses exceed one of `least`."""
    return sum(times for loss, times in parts if any(exceeds(loss, smaller) for smaller in least))


def _gaussian_square(composition: Composition) -> Fraction:
    """Return the sum of mu^2 over the Gaussian parts, exactly."""
    return exact_sum((loss.mu, 2, n) for loss, n in composition.parts if isinstance(loss, GaussianLoss))


def exceeds(loss: SimpleLoss, other: SimpleLoss) -> bool:
    """Return whether `loss` is of the kind of `other` and at least as large; each kind is totally ordered.

    Laplace noise exceeds a threshold loss of its shift as well.
    """
    match loss, other:
        case LaplaceLoss(shift=a), LaplaceLoss(shift=b):
            return a >= b and (type(loss) is LaplaceLoss or isinstance(other, ThresholdLoss))
        case ConcentratedLoss(rho=a), ConcentratedLoss(rho=b):
            return a >= b
        case ApproximateLoss(epsilon=a, delta=p), ApproximateLoss(epsilon=b, delta=q):
            return a >= b and p == q
        case SampledGaussianLoss(mu=a, rate=p, order=left), SampledGaussianLoss(mu=b, rate=q, order=right):
            return a >= b and p == q and left == right
        case _:
            return loss == other


def heaviest(compositions: Iterable[Composition]) -> tuple[Composition, ...]:
    """Return compositions that no other one dominates, up to the number that is kept, the heaviest first."""
    ordered = sorted(compositions, key=lambda composition: (_weight(composition), repr(composition)), reverse=True)
    return worst(tuple(ordered[:_MOST]))


def _weight(composition: Composition) -> tuple[float, float, float]:
    """Return a rough size to sort by: mass at infinity, squared total variations, and the largest loss."""
    mass = sum(loss.infinite_mass * times for loss, times in composition.parts)
    variation = sum(loss.hockey_stick(0.0) ** 2 * times for loss, times in composition.parts)
    return mass, variation, max((loss.supremum for loss, _ in composition.parts), default=0.0)
