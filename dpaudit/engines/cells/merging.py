"""Few losses in place of many: Gaussian ones become one, and a family with many members is put into classes."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpaudit.engines.cells.discretised_loss import deviation
from dpaudit.engines.gaussian import total_mu
from dpaudit.engines.limits import TINY, variation
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
MOST_KINDS = 512
"""Losses of one family that are told apart, fewer when each occurs often."""
CLASSED = (ApproximateLoss, GaussianLoss, LaplaceLoss, SampledGaussianLoss)
"""Families of which many members become few."""
_TINY_MU = 1e-120
_LEAST_KINDS = 48
MOST_JOINED = 2500
"""Losses of one family that are told apart where they occur equally often."""


@lru_cache(maxsize=16)
def merged(composition: Composition, classes: int = MOST_KINDS) -> tuple[Parts, Parts]:
    """Return few losses that the composition dominates, and few that dominate it.

    Gaussian losses become one. Where a family has many members they are put into at most `classes` classes, of which
    every member counts as the smallest or as the largest. A choice dominates each of its options. Losses of next to no
    total variation are left out below, and above count as a chance, twice that, of losing everything.
    """
    held = gathered(composition)
    low, high = dict(held.low), dict(held.high)
    joined = len(composition.parts) > MOST_JOINED
    for members in held.families:
        for smallest, largest, times in _classes(list(members), classes, joined=joined):
            least = widest(smallest)
            low[least] = low.get(least, 0) + times
            high[largest] = high.get(largest, 0) + times
    return tuple(low.items()), (*high.items(), *held.lost)


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


def _classes(
    members: list[tuple[SimpleLoss, int]], most: int, *, joined: bool
) -> list[tuple[SimpleLoss, SimpleLoss, int]]:
    """Return classes of similar losses: the smallest, the largest, and how many.

    Few losses that occur equally often stay apart unless `joined`, and sampled ones always do.
    A sampled Gaussian loss of a larger mu dominates: noise added to its output makes that of a smaller one.
    """
    events = sum(times for _, times in members)
    kinds = most if joined else max(_LEAST_KINDS, most // (events // len(members) + 1).bit_length())
    few = not joined and len(members) <= MOST_JOINED and len({times for _, times in members}) <= 4
    known = (LaplaceLoss, ApproximateLoss, SampledGaussianLoss) if joined else (LaplaceLoss, ApproximateLoss)
    if few or len(members) <= kinds or not isinstance(members[0][0], known):
        return [(loss, loss, times) for loss, times in members]
    return [(held[0][0], held[-1][0], sum(n for _, n in held)) for held in classes_of(members, kinds)]


def classes_of(members: list[tuple[SimpleLoss, int]], kinds: int) -> list[list[tuple[SimpleLoss, int]]]:
    """Return the losses of one family in at most `kinds` classes of near sizes, each from the smallest to the largest.

    >>> len(classes_of([(LaplaceLoss(shift=1.0 + i), 1) for i in range(100)], 10))
    10
    """
    ordered = sorted(members, key=lambda member: size_of(member[0]))
    starts = _starts([size_of(loss) for loss, _ in ordered], [times for _, times in ordered], kinds)
    return [ordered[a:b] for a, b in zip(starts, [*starts[1:], len(ordered)], strict=True)]


def _starts(sizes: list[float], times: list[int], kinds: int) -> list[int]:
    """Return where classes of sorted losses begin.

    Classes are so wide that each adds about the same to the distance of both sides: a class of the relative width g
    whose members have the squares s adds about g s, which makes the best widths those of equal sqrt(g s).
    """
    squares = np.array(times, dtype=np.float64) * (np.array(sizes) / sizes[-1]) ** 2
    gaps = np.diff(np.log(np.array(sizes)))
    reached = np.concatenate([[0.0], np.cumsum(np.sqrt(gaps * (squares[1:] + squares[:-1])))])
    labels = np.minimum(kinds - 1, np.floor(reached * (kinds / max(reached[-1], 1e-300))))
    return [0, *(int(i) for i in np.flatnonzero(np.diff(labels)) + 1)]
