"""Gaussian noise on a query of known l2 sensitivity."""

from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim, smallest_noise
from dpaudit.arguments import settled
from dpaudit.checks import NoiseSize, Size, ratio, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array
from mechanisms._additive import normal_log_density


@settled
class Gaussian:
    """Adds independent normal noise to every coordinate of a vector or matrix.

    Unit: `stddev` and `l2_sensitivity` in the unit of the query. The norm is taken over all coordinates of
    one release (the Frobenius norm of a matrix).
    Guarantee: one release has exactly the loss of N(mu, 1) against N(0, 1), mu = l2_sensitivity / stddev, for
    the worst pair of `neighbours`; rotating the query changes nothing.
    Edge cases: sampled noise is a rounded real number (float64, 53 bits), and its low bits can depend on the answer;
    the guarantee is for real arithmetic. Use discrete noise where raw outputs are published.
    Raises: ValueError: a parameter outside 1e-140 to 1e140, or unknown neighbours.
    Source: Balle and Wang (2018), Theorem 8; Mironov (2012) on the low bits.

    >>> Gaussian(stddev=2, l2_sensitivity=1, neighbours="replace_one").loss()
    GaussianLoss(mu=0.5)
    """

    name: ClassVar[str] = "gaussian"
    item_axes: ClassVar[int] = 0

    stddev: NoiseSize
    l2_sensitivity: Size
    neighbours: Neighbours

    @classmethod
    def calibrated(cls, claim: Claim, *, l2_sensitivity: float) -> Self:
        """Return the smallest noise for which one release meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: delta is 0, which no Gaussian noise meets.
        Source: Balle and Wang (2018), Algorithm 1, solved by bisection on a bound that rounds up.
        """
        distance = size("l2_sensitivity", l2_sensitivity)
        unit = cls(stddev=distance, l2_sensitivity=distance, neighbours=claim.neighbours)
        return unit.scaled(smallest_noise(unit, claim))

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation over sensitivity; it has no unit."""
        return self.stddev / self.l2_sensitivity

    def loss(self) -> GaussianLoss:
        """Return the exact loss of one release."""
        return GaussianLoss.exactly(ratio(self.l2_sensitivity, self.stddev))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus noise, in float64 and the same shape."""
        exact = np.asarray(value, dtype=np.float64)
        return exact + self.stddev * rng.standard_normal(exact.shape)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of each coordinate of `output`; sum over a release's own axes."""
        return normal_log_density(np.asarray(output) - np.asarray(value), self.stddev)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, stddev=self.stddev * factor)

    def worst_pair(self) -> tuple[float, float]:
        """Return two answers of a scalar query as far apart as neighbours can be."""
        return self.l2_sensitivity, 0.0


EXAMPLES = (
    Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"),
    Gaussian(stddev=30.0, l2_sensitivity=2.0, neighbours="add_remove"),
)
