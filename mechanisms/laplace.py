"""Laplace noise on a query of known l1 sensitivity."""

import math
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim, UnsupportedError, meets
from dpaudit.arguments import settled
from dpaudit.checks import NoiseSize, Size, ratio, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import LaplaceLoss
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array
from mechanisms._additive import laplace_log_density, meeting, with_laplace_noise


@settled
class Laplace:
    """Adds independent Laplace noise to every coordinate of a vector or matrix.

    Unit: `scale` (the mean absolute noise) and `l1_sensitivity` in the unit of the query. The norm is the sum of
    absolute changes over all coordinates of one release.
    Guarantee: one release has exactly the loss of Laplace(shift, 1) against Laplace(0, 1), shift = l1_sensitivity /
    scale, for the worst pair of `neighbours`. Spreading the distance over coordinates never helps: along a chain of
    moves of one coordinate each, a test's power grows no faster than along one coordinate, where thresholds are
    optimal and the chain is attained.
    Edge cases: sampled noise is a rounded real number (float64, 53 bits), and its low bits can depend on the answer;
    the guarantee is for real arithmetic. Use discrete Laplace noise where raw outputs are published.
    Raises: ValueError: a parameter outside 1e-140 to 1e140, or unknown neighbours.
    Source: Dwork, McSherry, Nissim and Smith (2006), Proposition 1; Mironov (2012) on the low bits.

    >>> Laplace(scale=4, l1_sensitivity=1, neighbours="add_remove").loss()
    LaplaceLoss(shift=0.25)
    """

    name: ClassVar[str] = "laplace"
    item_axes: ClassVar[int] = 0

    scale: NoiseSize
    l1_sensitivity: Size
    neighbours: Neighbours

    @classmethod
    def calibrated(cls, claim: Claim, *, l1_sensitivity: float) -> Self:
        """Return the smallest noise for which one release meets `claim`, within 1e-9 and never below.

        The loss meets (epsilon, delta) exactly when shift <= epsilon - 2 ln(1 - delta); at delta = 0 this is the
        classic scale l1_sensitivity / epsilon.
        Raises: UnsupportedError: epsilon and delta are both 0, which no finite noise meets.
        """
        if isinstance(claim, MeasuredClaim):
            distance = size("l1_sensitivity", l1_sensitivity)
            return meeting(cls(scale=distance, l1_sensitivity=distance, neighbours=claim.neighbours), claim)
        shift = claim.epsilon - 2 * math.log1p(-claim.delta)
        if shift == 0:
            raise UnsupportedError(
                "No amount of noise reaches epsilon=0 and delta=0; allow one of them to be positive."
            )
        scale = size("l1_sensitivity", l1_sensitivity) / shift
        mechanism = cls(scale=scale, l1_sensitivity=l1_sensitivity, neighbours=claim.neighbours)
        while not meets(mechanism.loss(), claim.epsilon, claim.delta):
            scale *= 1 + 2.0**-50
            mechanism = replace(mechanism, scale=scale)
        return mechanism

    def loss(self) -> LaplaceLoss:
        """Return the exact loss of one release."""
        return LaplaceLoss.exactly(ratio(self.l1_sensitivity, self.scale))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus noise, in float64 and the same shape."""
        return with_laplace_noise(value, self.scale, rng)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of each coordinate of `output`; sum over a release's own axes."""
        return laplace_log_density(np.asarray(output) - np.asarray(value), self.scale)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[float, float]:
        """Return two answers of a scalar query as far apart as neighbours can be."""
        return self.l1_sensitivity, 0.0


EXAMPLES = (
    Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"),
    Laplace(scale=20.0, l1_sensitivity=3.0, neighbours="add_remove"),
)
