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
_REACH = 300.0  # nats to either side whose exponentials, and products of two, are numbers
_DEVIATIONS = 38.0  # of Gaussian noise, beyond which no probability is looked at
_BELOW = 60.0  # nats that are left of what reaches farther, on the lower side
_LARGEST_MU = 1.5  # whose losses stay within _BELOW
_NOTHING = DiscreteLoss(atoms=((0.0, 1.0),), symmetric=True)


def moderate_above(inside: Inside, reach_of: Callable[[SimpleLoss], float]) -> Inside:
    """Return `inside`, or, where its losses are too large together, what shows everything.

    `reach_of` tells how far a loss reaches that is made of others.
    """
    return inside if _together(inside, reach_of) <= _REACH else ((LOST, 1),)


def moderate_below(inside: Inside, reach_of: Callable[[SimpleLoss], float]) -> Inside:
    """Return `inside`, or, where its losses are too large together, one part that it dominates: fewer copies or less.

    A loss of less noise dominates the same with more, and a composition each of its parts.
    """
    if _together(inside, reach_of) <= _REACH:
        return inside
    loss, times = max(inside, key=lambda part: (part[0].infinite_mass, _reach(part[0], reach_of) * min(part[1], 2**63)))
    reach = _reach(loss, reach_of)
    if reach <= _REACH:
        return ((loss, min(times, max(1, int(_BELOW / reach))) if reach else 1),)
    return ((_smaller(loss), 1),)


def _together(inside: Inside, reach_of: Callable[[SimpleLoss], float]) -> float:
    """Return how far the sum of all losses reaches."""
    return math.fsum(_reach(loss, reach_of) * min(times, 2**63) for loss, times in inside)


def _reach(loss: SimpleLoss, reach_of: Callable[[SimpleLoss], float]) -> float:
    """Return how far a loss reaches to either side of 0, but for tails that nobody looks at."""
    match loss:
        case LaplaceLoss(shift=shift):
            return shift
        case ApproximateLoss(epsilon=epsilon):
            return epsilon
        case DiscreteLoss(atoms=atoms):
            return max((abs(value) for value, _ in atoms), default=0.0)
        case GaussianLoss(mu=mu) | SampledGaussianLoss(mu=mu):
            return mu * (mu / 2 + _DEVIATIONS)
        case MixtureLoss(noise="laplace"):
            return max(loss.supremum, loss.reversed().supremum)
        case MixtureLoss(above=above, below=below):
            moved = above[-1][0] - below[0][0]
            return moved * (moved / 2 + _DEVIATIONS)
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
