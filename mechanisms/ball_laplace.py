"""Laplace noise on a vector of bounded Euclidean norm, whose worst direction is spread over all coordinates."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim, meets
from dpaudit.arguments import settled
from dpaudit.checks import (
    Count,
    NoiseSize,
    SizeOrZero,
    count,
    meant,
    ratio,
    size,
)
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ComposedLoss, LaplaceLoss
from dpaudit.model.mechanism import Array
from mechanisms._additive import laplace_log_density, with_laplace_noise
from mechanisms.laplace import Laplace


@settled
class BallLaplace:
    """Adds independent Laplace noise to every coordinate of a vector that moves by a bounded Euclidean distance.

    Shape: (..., dimension).
    Unit: `scale` and `l2_sensitivity` in the unit of the query; `dimension`, the number of coordinates.
    Guarantee: a move of Euclidean length l2_sensitivity is one of at most sqrt(dimension) l2_sensitivity in the sum
    of absolute changes, so Laplace noise on one number moved that far dominates. The largest loss is that of the move
    spread evenly over the coordinates, which is also what `attained_loss` composes; moves along fewer coordinates
    lose less at most and can lose more at a given delta, which is why the two differ from dimension 2 on.
    Edge cases: sensitivity 0 states that no record moves the query; rounded real noise, as for Laplace noise.
    Raises: ValueError: a parameter out of range or unknown neighbours.
    Source: Dwork, McSherry, Nissim and Smith (2006), Proposition 1, with the inequality of Cauchy and Schwarz.

    >>> BallLaplace(dimension=4, scale=4, l2_sensitivity=1, neighbours="add_remove").loss()
    LaplaceLoss(shift=0.5)
    """

    name: ClassVar[str] = "ball_laplace"
    item_axes: ClassVar[int] = 0

    dimension: Count
    scale: NoiseSize
    l2_sensitivity: SizeOrZero
    neighbours: Neighbours

    @classmethod
    def calibrated(cls, claim: Claim, *, dimension: int, l2_sensitivity: float) -> Self:
        """Return the smallest noise for which one release provably meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        distance = math.sqrt(count("dimension", dimension)) * size("l2_sensitivity", l2_sensitivity)
        noise = cls(
            dimension=dimension,
            scale=Laplace.calibrated(claim, l1_sensitivity=distance).scale,
            l2_sensitivity=l2_sensitivity,
            neighbours=claim.neighbours,
        )
        while not meets(noise.loss(), claim.epsilon, claim.delta):  # the root was rounded
            noise = noise.scaled(1 + 2.0**-51)
        return noise

    def loss(self) -> LaplaceLoss:
        """Return a loss that dominates every pair; exact in dimension 1, and rounded up where the root is no ratio."""
        shift, root = ratio(self.l2_sensitivity, self.scale), math.isqrt(self.dimension)
        if root * root == self.dimension:
            return LaplaceLoss.exactly(root * shift)
        return LaplaceLoss(shift=_decimal_beside(_root_above(self.dimension) * shift, math.inf))

    def attained_loss(self) -> LaplaceLoss | ComposedLoss:
        """Return the loss of the move that is spread evenly over the coordinates, rounded down."""
        if self.dimension == 1:
            return self.loss()
        shift = ratio(self.l2_sensitivity, self.scale)
        each = LaplaceLoss(shift=_decimal_beside(shift / _root_above(self.dimension), 0.0))
        return ComposedLoss(parts=((each, self.dimension),))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus noise, in float64 and the same shape.

        Raises: ValueError: the last axis has another dimension.
        """
        exact = np.asarray(value, dtype=np.float64)
        if exact.shape[-1:] != (self.dimension,):
            raise ValueError(f"Expected vectors of dimension={self.dimension} on the last axis, got {exact.shape}.")
        return with_laplace_noise(exact, self.scale, rng)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of each coordinate of `output`; sum over a release's own axes."""
        return laplace_log_density(np.asarray(output) - np.asarray(value), self.scale)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return two answers that differ by the same amount in every coordinate."""
        spread = np.full(self.dimension, self.l2_sensitivity / math.sqrt(self.dimension))
        return spread, np.zeros(self.dimension)


def _root_above(number: int) -> Fraction:
    """Return the square root of a whole number, exact for squares and else rounded up by less than 2^-120."""
    root = math.isqrt(number)
    return Fraction(root) if root * root == number else Fraction(math.isqrt(number << 240) + 1, 1 << 120)


def _decimal_beside(exact: Fraction, towards: float) -> float:
    """Return a float next to `exact` whose shortest decimal lies on the side of `towards`, or is `exact`."""
    beside = float(exact)
    while (meant(beside) < exact) if towards > beside else (meant(beside) > exact):
        beside = math.nextafter(beside, towards)
    return beside


EXAMPLES = (
    BallLaplace(dimension=1, scale=1.0, l2_sensitivity=1.0, neighbours="replace_one"),
    BallLaplace(dimension=2, scale=1.0, l2_sensitivity=2.0, neighbours="replace_one"),
    BallLaplace(dimension=4, scale=1.5, l2_sensitivity=2.0, neighbours="replace_one"),
    BallLaplace(dimension=5, scale=2.0, l2_sensitivity=3.0, neighbours="add_remove"),
)
