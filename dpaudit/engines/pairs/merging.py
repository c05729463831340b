"""Losses by families: Gaussian ones become one, and what is next to nothing a chance of losing everything."""

from dataclasses import dataclass
from functools import lru_cache

from dpaudit.engines.gaussian import total_mu
from dpaudit.engines.limits import TINY, variation
from dpaudit.engines.pairs.looks import deviation
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

Parts = tuple[tuple[SimpleLoss, int], ...]
CLASSED = (ApproximateLoss, GaussianLoss, LaplaceLoss, SampledGaussianLoss)
"""Families of which many members become few."""
_TINY_MU = 1e-120


def merged(composition: Composition) -> tuple[Parts, Parts]:
    """Return losses that the composition dominates, and losses that dominate it.

    Gaussian losses become one. A choice dominates each of its options. Losses of next to no total variation are left
    out below, and above count as a chance, twice that, of losing everything.
    """
    losses = gathered(composition)
    low = dict(losses.low)
    for members in losses.families:
        for loss, times in members:
            low[widest(loss)] = low.get(widest(loss), 0) + times
    return tuple(low.items()), (*losses.high, *(part for members in losses.families for part in members), *losses.lost)


def widest(loss: SimpleLoss) -> SimpleLoss:
    """Return the option of a choice that has the largest deviation, or the loss itself, both of which it dominates."""
    return max(loss.options, key=deviation) if isinstance(loss, ChoiceLoss) else loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A composition by families; Gaussian losses are one of each side, and what is next to nothing is `lost` above."""

    low: Parts
    high: Parts
    families: tuple[Parts, ...]
    lost: Parts


@lru_cache(maxsize=4)
def gathered(composition: Composition) -> Gathered:
    """Return the losses of a composition by families, Gaussian ones composed."""
    lost = 0.0
    mu_low, mu_high = total_mu(composition)
    tiny = mu_high <= _TINY_MU
    if tiny:
        lost += mu_high
    families: dict[object, list[tuple[SimpleLoss, int]]] = {}
    for loss, times in composition.parts:
        if isinstance(loss, GaussianLoss):
            continue
        if not isinstance(loss, DiscreteLoss) and variation(loss, times) <= TINY:
            lost += variation(loss, times)
        else:
            families.setdefault(_family(loss), []).append((loss, times))
    return Gathered(
        low=() if tiny else ((GaussianLoss(mu=mu_low), 1),),
        high=() if tiny else ((GaussianLoss(mu=mu_high), 1),),
        families=tuple(map(tuple, families.values())),
        lost=((ApproximateLoss(epsilon=0.0, delta=2 * lost), 1),) if lost else (),
    )


def _family(loss: SimpleLoss) -> object:
    """Return what losses have in common of which a larger one dominates a smaller one."""
    match loss:
        case ApproximateLoss(delta=delta):
            return ApproximateLoss, delta
        case SampledGaussianLoss(rate=rate, order=order):
            return SampledGaussianLoss, rate, order
        case _:
            return type(loss)


def size_of(loss: SimpleLoss) -> float:
    """Return by what the losses of one family are ordered, which noise divides.

    >>> size_of(LaplaceLoss(shift=0.5))
    0.5
    """
    return loss.mu if isinstance(loss, GaussianLoss | SampledGaussianLoss) else loss.supremum
