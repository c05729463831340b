"""The leaks of the two literal readings, whose clocks depend on the data, as mechanisms to declare.

They exist to be refuted. Neither has noise that could be made larger: more of it changes nothing.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from dpaudit.arguments import settled
from dpaudit.checks import Count
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.mechanism import Array

_SURE = DiscreteLoss(atoms=(), infinite_mass=1.0, reverse_infinite_mass=1.0)
"""The loss of telling two neighbours apart for certain."""

_SELDOM = DiscreteLoss(atoms=((0.0, 1.0),), infinite_mass=math.ulp(0.0), reverse_infinite_mass=math.ulp(0.0))
"""The loss of outputs that are told apart for certain, of an unknown probability that is not 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WinClock:
    """KNOWN BAD: whether a counter that is called on wins only has been called.

    Before its first win the counter shows exactly 0, without noise; after it, a number with continuous noise.
    Guarantee: none. A first answer of 0 and one of 1 are told apart for certain, which is exact.
    """

    name: ClassVar[str] = "win_clock"

    neighbours: Neighbours = "replace_one"

    def loss(self) -> DiscreteLoss:
        """Return the loss of a certain answer."""
        return _SURE

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` as it is."""
        return np.asarray(value, dtype=np.float64)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return 0 where the output is the value, else minus infinity."""
        return np.where(np.asarray(output) == np.asarray(value), 0.0, -np.inf)

    def scaled(self, factor: float) -> Self:
        """Return the same: there is no noise to scale."""
        return self


@settled
class RemovalClock:
    """KNOWN BAD: the pattern of noise by which a tree betrays whether its clock is even or odd.

    After a removal in separate elements the clock depends on how many wins were taken back, and one answer makes
    it even or odd. From an even clock to the next, the noise changes by one fresh node; from an odd one, by the
    difference of two or more. `reads` counts disjoint pairs of later reads whose differences have independent noise:
    one Laplace draw each under one neighbour, the difference of two under the other.
    Shape: values 0 (even) or 1 (odd), outputs (..., reads), in units of a node's noise.
    Guarantee: none. The ratio of the two densities, (1 + |x|) / 2, has no bound, so no epsilon holds at delta = 0.
    All of this is after a removal, which noise brings about with a positive probability that nobody has bounded from
    below. So `attained_loss` says only that no epsilon holds at delta = 0: its mass is the smallest positive number,
    below which no other stated delta lies.
    """

    name: ClassVar[str] = "removal_clock"

    reads: Count
    neighbours: Neighbours = "replace_one"

    def loss(self) -> DiscreteLoss:
        """Return a loss that dominates everything: nothing is promised."""
        return _SURE

    def attained_loss(self) -> DiscreteLoss:
        """Return a loss without any bound, of a probability that is only known to be positive."""
        return _SELDOM

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the noise of the differences."""
        odd = np.asarray(value)[..., None] == 1
        shape = (*np.shape(value), self.reads)
        single, second = rng.laplace(size=shape), rng.laplace(size=shape)
        return np.where(odd, single - second, single)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of each run's differences, summed over the reads."""
        size = np.abs(np.asarray(output))
        odd = np.asarray(value)[..., None] == 1
        log_density: Array = np.where(odd, np.log1p(size) - math.log(4), -math.log(2)) - size
        return log_density.sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same: the pattern does not depend on the scale."""
        return self


def observable_pairs(horizon: int, arms: int) -> int:
    """Return how many such pairs one counter shows, at least: one for every four of its reads after a removal.

    With three options or more, two of them share the rounds that are left when the third goes; a quarter of the
    horizon is a careful count of one survivor's further reads.
    """
    return max(1, horizon // 16)
