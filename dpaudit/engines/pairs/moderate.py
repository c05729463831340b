"""Losses inside a sample or a choice that are too large for floating point, replaced on the safe side."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

Inside: TypeAlias = tuple[tuple[SimpleLoss, int], ...]
_REACH, _ALONE = 300.0, 600.0  # nats to either side: products of two exponentials, or one by itself, are numbers
_BELOW = 60.0  # nats that are left of what reaches farther, on the lower side
_LARGEST_MU = 1.5  # whose losses stay within _BELOW
_NOTHING = DiscreteLoss(atoms=((0.0, 1.0),), symmetric=True)


def moderate_above(inside: Inside, tail: float, reach_of: Callable[[SimpleLoss], float]) -> Inside:
    """Return `inside`, or, where its losses are too large together, what shows everything.

    `tail` is the probability that is left out of each noise; `reach_of` tells how far a loss reaches that is made of
    others.
    """
    return inside if _fits(inside, tail, reach_of) else ((LOST, 1),)


def moderate_below(inside: Inside, tail: float, reach_of: Callable[[SimpleLoss], float]) -> Inside:
    """Return `inside`, or, where its losses are too large together, one part that it dominates: fewer copies or less.

    A loss of less noise dominates the same with more, and a composition each of its parts.
    """
    if _fits(inside, tail, reach_of):
        return inside
    loss, times = max(
        inside, key=lambda part: (part[0].infinite_mass, _reach(part[0], tail, reach_of) * min(part[1], 2**63))
    )
    reach = _reach(loss, tail, reach_of)
    if reach <= _REACH:
        return ((loss, min(times, max(1, int(_BELOW / reach))) if reach else 1),)
    return ((_smaller(loss), 1),)


def _fits(inside: Inside, tail: float, reach_of: Callable[[SimpleLoss], float]) -> bool:
    """Return whether the sum of all losses reaches no further than floating point does."""
    reach = math.fsum(_reach(loss, tail, reach_of) * min(times, 2**63) for loss, times in inside)
    return reach <= (_ALONE if sum(times for _, times in inside) == 1 else _REACH)


def _reach(loss: SimpleLoss, tail: float, reach_of: Callable[[SimpleLoss], float]) -> float:
    """Return how far a loss reaches to either side of 0, but for tails that nobody looks at."""
    deviations = math.sqrt(2 * math.log(1 / max(tail, 1e-300))) + 1
    match loss:
        case LaplaceLoss(shift=shift):
            return shift
        case ApproximateLoss(epsilon=epsilon):
            return epsilon
        case DiscreteLoss(atoms=atoms):
            return max((abs(value) for value, _ in atoms), default=0.0)
        case GaussianLoss(mu=mu) | SampledGaussianLoss(mu=mu):
            return mu * (mu / 2 + deviations)
        case MixtureLoss(noise="laplace"):
            return max(loss.supremum, loss.reversed().supremum)
        case MixtureLoss(above=above, below=below):
            moved = above[-1][0] - below[0][0]
            return moved * (moved / 2 + deviations)
        case _:
            return reach_of(loss)


def _smaller(loss: SimpleLoss) -> SimpleLoss:
    """Return a loss that `loss` dominates and whose exponentials are numbers; for other kinds the loss of nothing."""
    match loss:
        case LaplaceLoss():
            return LaplaceLoss(shift=_BELOW)
        case ApproximateLoss(delta=delta):
            return ApproximateLoss(epsilon=_BELOW, delta=delta)
        case GaussianLoss():
            return GaussianLoss(mu=_LARGEST_MU)
        case SampledGaussianLoss():
            return replace(loss, mu=_LARGEST_MU)
        case _:
            return _NOTHING
