"""Few losses in place of many of one kind: classes of near sizes, counted from below and from above.

Laplace losses and black boxes of size x have delta(epsilon) = 1 - w(epsilon) u(x) up to epsilon = x, with w growing
and u falling. Of the members of a class

* above: a public coin between two sizes a <= x <= b, b with the chance (u(a) - u(x)) / (u(a) - u(b)), dominates x;
* below: x dominates an outcome that, with the chance 1 - u(x) / u(a), shows which of the two data sets it is, and else
  is that of a size a <= x; nobody sees which of both it is.

The members' chances differ. The number of coins that fall on b grows, as a whole, if all chances become one with the
same geometric mean of their complements; the number of shown outcomes falls if they become one with their geometric
mean. Both sides then are copies of one loss. Each errs by about the square of the class's relative width.
The proofs are on the page "Thousands of kinds of losses" of the documentation.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from dpaudit.engines.pairs.merging import CLASSED, Parts, gathered, size_of, widest
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import (
    ApproximateLoss,
    AverageLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

_GRID = 6.0  # events over knots squared times this is what a grid of so many knots adds to the width of a bracket
_LARGEST = 300.0  # the largest size in a class that is more than its ends
_EVENTS = 10**6  # copies up to which a coin between two sizes is worth its rounding
_NARROWEST = 1e-6  # the relative width of a class below which it counts as so wide
_ROUNDING = 1e-9  # of a coin's chance, and of all sizes in units of a class
_REACHES = (1.0, 1.4, 2.0, 2.8, 4.0, 6.0, 9.0)  # how far above its smallest a coin's larger size may lie, in widths
_ANCHORS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # how far below its smallest the outcomes may be told apart, likewise


Side: TypeAlias = tuple[SimpleLoss, float]
"""What stands for a class on one side, and its size: the root of the mean square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """Losses of near sizes of one family, from the smallest to the largest, and how often each occurs."""

    first: SimpleLoss
    last: SimpleLoss
    sizes: Floats
    times: Floats
    events: int

    def below(self) -> Side:
        """Return a loss of which all members together dominate as many copies, and its size."""
        smallest = float(self.sizes[0])
        if len(self.sizes) == 1 or isinstance(self.first, SampledGaussianLoss):
            return self.first, smallest
        size = max(smallest, self._shown()) * (1 - 1e-12)
        return resized(self.first, size), size

    def above(self) -> Side:
        """Return a loss of which as many copies dominate all members together, and the root of its mean square."""
        last, largest = self.last, float(self.sizes[-1])
        if len(self.sizes) == 1 or isinstance(last, SampledGaussianLoss) or self.events > _EVENTS:
            return last, largest
        low, high, chance, square = min(map(self._coin, _REACHES), key=lambda coin: coin[3])
        if largest > _LARGEST or not square < largest**2:
            return last, largest
        options = ((1 - chance, resized(last, low)), (chance, resized(last, high)))
        return AverageLoss(options=options), math.sqrt(square)

    def _coin(self, reach: float) -> tuple[float, float, float, float]:
        """Return two sizes, the chance of the larger one, rounded up, and the mean square of both."""
        low, largest = float(self.sizes[0]), float(self.sizes[-1])
        high = max(largest, low + reach * max(largest - low, _NARROWEST * largest))
        if high > _LARGEST:
            return low, high, 1.0, math.inf
        if isinstance(self.first, LaplaceLoss):
            chances = np.expm1((low - self.sizes) / 2) / math.expm1((low - high) / 2)
        else:
            chances = np.expm1(self.sizes - low) / math.expm1(high - low)
            chances *= (1 + math.exp(high)) / (1 + np.exp(self.sizes))
        others = np.maximum(0.0, 1 - chances - _ROUNDING)
        with np.errstate(divide="ignore"):
            mean = float(self.times @ np.log(others)) / self.events
        chance = min(1.0, -math.expm1(mean) * (1 + 1e-12))
        return low, high, chance, (1 - chance) * low**2 + chance * high**2

    def _shown(self) -> float:
        """Return the largest size that outcomes prove that show, with some chance, which data set it is.

        Of Laplace losses they do so by a release of a size at or below the smallest, of black boxes by nothing else.
        """
        smallest, width = float(self.sizes[0]), float(self.sizes[-1] - self.sizes[0])
        if not isinstance(self.first, LaplaceLoss):
            return self._proved_by(0.0, np.asarray(np.tanh(self.sizes / 2), np.float64))
        anchors = [0.0, *(smallest - reach * width for reach in _ANCHORS if smallest > reach * width)]
        return max(self._proved_by(at, np.asarray(-np.expm1((at - self.sizes) / 2), np.float64)) for at in anchors)

    def _proved_by(self, anchor: float, chances: Floats) -> float:
        """Return the size that outcomes shown with these chances, beside a release of size `anchor`, prove."""
        surely = chances * (1 - 1e-14) - 2.0**-52 * self.sizes
        if not surely[0] > 0:
            return 0.0
        mean = math.exp(float(self.times @ np.log(surely)) / self.events)
        return anchor + math.log1p(2 * mean / (1 - mean)) if mean < 1 else 0.0


@lru_cache(maxsize=16)
def few_kinds(composition: Composition, knots: int) -> tuple[Parts, Parts]:
    """Return few losses that the composition dominates, and few that dominate it; losses without a size stay.

    Fewer kinds leave more of all `knots` for each: the number of classes, a power of 2 in all as each has so many
    knots, is that at which both errors add up to least.
    """
    losses = gathered(composition)
    families = tuple(family_of(members) for members in losses.families if isinstance(members[0][0], CLASSED))
    others = [part for members in losses.families if not isinstance(members[0][0], CLASSED) for part in members]
    apart = len(losses.low) + len(others)
    square = math.fsum(loss.mu**2 for loss, _ in losses.high if isinstance(loss, GaussianLoss))
    best: tuple[float, list[tuple[Side, Side, int]]] = (math.inf, [])
    for power in range(knots.bit_length()):
        number = max(1, ((1 << power) - apart) // max(1, len(families)))
        classes = [size_class for family in families for size_class in family.divided(number)]
        replacements = [(size_class.below(), size_class.above(), size_class.events) for size_class in classes]
        less = math.fsum(times * size**2 for (_, size), _, times in replacements)
        more = math.fsum(times * size**2 for _, (_, size), times in replacements)
        kinds = len(replacements) + apart
        error = (more - less) / (square + more or 1.0) / 2 + _GRID * composition.events * (kinds / knots) ** 2
        if error < best[0]:
            best = error, replacements
        if error > best[0] or len(replacements) >= sum(len(family.members) for family in families):
            break
    low, high = dict(losses.low), dict(losses.high)
    stand_ins = [(widest(loss), loss, times) for loss, times in others]
    stand_ins += [(dominated, dominating, times) for (dominated, _), (dominating, _), times in best[1]]
    for dominated, dominating, times in stand_ins:
        low[dominated] = low.get(dominated, 0) + times
        high[dominating] = high.get(dominating, 0) + times
    return tuple(low.items()), (*high.items(), *losses.lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Losses of one family from the smallest to the largest: sizes, how often each occurs, and how many come before."""

    members: Parts
    sizes: Floats
    times: Floats
    counts: tuple[int, ...]

    def divided(self, number: int) -> list[Class]:
        """Return at most so many classes."""
        starts = _starts(self.sizes, self.times, number)
        return [
            Class(
                first=self.members[a][0],
                last=self.members[b - 1][0],
                sizes=self.sizes[a:b],
                times=self.times[a:b],
                events=self.counts[b] - self.counts[a],
            )
            for a, b in zip(starts, [*starts[1:], len(self.members)], strict=True)
        ]


def family_of(members: Parts) -> Family:
    """Return one family.

    >>> [one.events for one in family_of(((LaplaceLoss(shift=1.0), 2), (LaplaceLoss(shift=9.0), 1))).divided(9)]
    [2, 1]
    """
    ordered = tuple(sorted(members, key=lambda member: size_of(member[0])))
    return Family(
        members=ordered,
        sizes=np.array([size_of(loss) for loss, _ in ordered], dtype=np.float64),
        times=np.array([n for _, n in ordered], dtype=np.float64),
        counts=(0, *accumulate(n for _, n in ordered)),
    )


def _starts(sizes: Floats, times: Floats, number: int) -> list[int]:
    """Return where classes of sorted sizes begin.

    A class of the relative width g whose members have the squares s adds about g^1.5 s to the distance of both sides,
    which makes the best widths those of equal s^.4 g^.6.
    """
    squares = times * (sizes / sizes[-1]) ** 2
    gaps = np.diff(np.log(sizes))
    reached = np.concatenate([[0.0], np.cumsum((squares[1:] + squares[:-1]) ** 0.4 * gaps**0.6)])
    labels = np.minimum(number - 1, np.floor(reached * (number / max(float(reached[-1]), 1e-300))))
    return [0, *(int(i) for i in np.flatnonzero(np.diff(labels)) + 1)]


def resized(loss: SimpleLoss, size: float) -> SimpleLoss:
    """Return a black box or a Laplace loss of another size.

    >>> resized(LaplaceLoss(shift=1.0), 0.5)
    LaplaceLoss(shift=0.5)
    """
    return replace(loss, epsilon=size) if isinstance(loss, ApproximateLoss) else LaplaceLoss(shift=size)
