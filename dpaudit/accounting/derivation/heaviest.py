"""The few compositions that matter for a lower bound, out of many."""

import math
from collections.abc import Iterable

from dpaudit.accounting.dominance import worst
from dpaudit.model.losses import (
    AllocatedLoss,
    Composition,
    GaussianLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
)

_MOST = 64
"""How many compositions are kept; a lower bound may leave any of them out."""


def heaviest(compositions: Iterable[Composition]) -> tuple[Composition, ...]:
    """Return compositions that no other one dominates, up to the number that is kept, the heaviest first."""
    ordered = sorted(compositions, key=lambda composition: (_weight(composition), repr(composition)), reverse=True)
    return worst(tuple(ordered[:_MOST]))


def _weight(composition: Composition) -> tuple[float, float]:
    """Return a rough size by which compositions are sorted: mass at infinity, then squared losses."""
    mass = sum(loss.infinite_mass * times for loss, times in composition.parts)
    return mass, sum(_size(loss) * _size(loss) * times for loss, times in composition.parts)


def _size(loss: SimpleLoss) -> float:
    """Return how far a loss reaches, roughly."""
    match loss:
        case GaussianLoss(mu=mu):
            return mu
        case SampledGaussianLoss(mu=mu, rate=rate):
            return mu * rate
        case SampledLoss(inside=inside, rate=rate):
            return rate * math.sqrt(sum(_size(part) * _size(part) * times for part, times in inside))
        case AllocatedLoss(inside=inside, steps=steps):
            return math.sqrt(sum(_size(part) * _size(part) * times for part, times in inside) / steps)
        case MixtureLoss(above=above, below=below):
            return sum(shift * weight for shift, weight in above) - sum(shift * weight for shift, weight in below)
        case _:
            return loss.supremum
