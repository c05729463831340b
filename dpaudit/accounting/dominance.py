"""Provable dominance of one composition over another, decided in exact arithmetic."""

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


def worst(alternatives: Alternatives) -> Alternatives:
    """Return `alternatives` without those that another one dominates; the order is kept.

    Dropping a dominated alternative changes no bound. Dominance is decided exactly, family by family;
    where it cannot be decided, both stay.
    """
    kept: list[Composition] = []
    for alternative in alternatives:
        if any(dominates(other, alternative) for other in kept):
            continue
        kept = [other for other in kept if not dominates(alternative, other)]
        kept.append(alternative)
    return tuple(kept)


def dominates(above: Composition, below: Composition) -> bool:
    """Return whether `above` provably dominates `below`, decided in exact arithmetic."""
    if _gaussian_square(above) < _gaussian_square(below):
        return False
    rest_above = [(loss, times) for loss, times in above.parts if not isinstance(loss, GaussianLoss)]
    rest_below = [(loss, times) for loss, times in below.parts if not isinstance(loss, GaussianLoss)]
    return all(
        sum(n for other, n in rest_below if exceeds(other, loss))
        <= sum(n for other, n in rest_above if exceeds(other, loss))
        for loss, _ in rest_below
    )


def _gaussian_square(composition: Composition) -> Fraction:
    """Return the sum of mu^2 over the Gaussian parts, exactly."""
    return exact_sum((loss.mu, 2, n) for loss, n in composition.parts if isinstance(loss, GaussianLoss))


def exceeds(loss: SimpleLoss, other: SimpleLoss) -> bool:
    """Return whether `loss` is of the kind of `other` and at least as large; each kind is totally ordered."""
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


def consists_of(family: type, composition: Composition) -> bool:
    """Return whether every part belongs to `family`."""
    return all(isinstance(loss, family) for loss, _ in composition.parts)
