"""Gaussian noise on a symmetric matrix of known Frobenius sensitivity."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Literal, Self, get_args

import numpy as np

from dpaudit import Claim, smallest_noise
from dpaudit.arguments import settled
from dpaudit.checks import NoiseSize, Size, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array
from mechanisms._additive import normal_log_density

Symmetry = Literal["half", "mirror", "sqrt2"]

DEVIATIONS: dict[Symmetry, tuple[float, float]] = {
    "half": (1.0, math.sqrt(0.5)),
    "mirror": (1.0, 1.0),
    "sqrt2": (math.sqrt(2.0), 1.0),
}
"""Standard deviations on and off the diagonal, in units of `stddev`."""


@settled
class SymmetricGaussian:
    """Adds symmetric normal noise to a symmetric matrix.

    `symmetry` of the noise: with G of independent N(0, stddev^2) entries it is (G + G^T) / 2 for `half`, G's upper
    triangle mirrored for `mirror`, and (G + G^T) / sqrt 2 for `sqrt2`.
    Shape: (..., d, d); the lower triangle of an answer is never read, so it cannot leak.
    Unit: `stddev` and `l2_sensitivity`, a Frobenius norm, in the unit of the query. Outer products of vectors of
    norm R move by R^2 when a record is added and by sqrt(2) R^2 when one is replaced, not 2 R^2.
    Guarantee: for a symmetric change A, mu^2 = sum_(i<j) A_ij^2 / off^2 + sum_i A_ii^2 / diagonal^2. Its maximum
    over Frobenius norm l2_sensitivity is (l2_sensitivity / stddev)^2 for `half`, in every direction, and for
    `mirror`, on the diagonal; and half of that for `sqrt2`, in every direction.
    Edge cases: rounded real noise, as for Gaussian noise on vectors.
    Raises: ValueError: a parameter outside 1e-140 to 1e140, unknown symmetry or neighbours.
    Source: Balle and Wang (2018), Theorem 8, after rotating the noise to independent standard normals.
    """

    name: ClassVar[str] = "symmetric_gaussian"
    item_axes: ClassVar[int] = 2

    stddev: NoiseSize
    l2_sensitivity: Size
    neighbours: Neighbours
    symmetry: Symmetry = "half"

    @classmethod
    def calibrated(cls, claim: Claim, *, l2_sensitivity: float, symmetry: Symmetry = "half") -> Self:
        """Return the smallest noise for which one release meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: delta is 0, which no Gaussian noise meets.
        """
        distance = size("l2_sensitivity", l2_sensitivity)
        unit = cls(stddev=distance, l2_sensitivity=distance, neighbours=claim.neighbours, symmetry=symmetry)
        return unit.scaled(smallest_noise(unit, claim))

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations of the noise on the diagonal and off it."""
        diagonal, off = DEVIATIONS[self.symmetry]
        return diagonal * self.stddev, off * self.stddev

    def loss(self) -> GaussianLoss:
        """Return the exact loss of one release."""
        smallest = self.stddev * (math.sqrt(2.0) if self.symmetry == "sqrt2" else 1.0)
        return GaussianLoss(mu=self.l2_sensitivity / smallest)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the upper triangle of `value` plus noise, mirrored. Shape: (..., d, d) in and out.

        Raises: ValueError: the last two axes are not square.
        """
        exact = np.asarray(value, dtype=np.float64)
        if exact.ndim < 2 or exact.shape[-1] != exact.shape[-2]:
            raise ValueError(f"Expected square matrices on the last two axes, got shape {exact.shape}.")
        diagonal, off = self.deviations
        on, upper = _places(exact.shape[-1])
        deviation = np.where(on, diagonal, off)
        noisy = exact + deviation * rng.standard_normal(exact.shape)
        return np.where(upper, noisy, np.swapaxes(noisy, -1, -2))

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the joint log density of each matrix's diagonal and upper triangle. Shape: (...)."""
        residual = np.asarray(output) - np.asarray(value)
        rows, columns = np.triu_indices(residual.shape[-1])
        diagonal, off = self.deviations
        deviation = np.where(rows == columns, diagonal, off)
        return normal_log_density(residual[..., rows, columns], deviation).sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, stddev=self.stddev * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return two 2 x 2 matrices as far apart as neighbours can be, in the direction of the least noise."""
        moved = np.zeros((2, 2))
        moved[0, 0] = self.l2_sensitivity
        return moved, np.zeros((2, 2))


@lru_cache(maxsize=64)
def _places(dimension: int) -> tuple[Array, Array]:
    """Return which entries of a square matrix lie on the diagonal, and which on it or above it."""
    on = np.eye(dimension, dtype=bool)
    return on, np.triu(np.ones_like(on))


EXAMPLES = tuple(
    SymmetricGaussian(stddev=stddev, l2_sensitivity=math.sqrt(2), neighbours="replace_one", symmetry=symmetry)
    for stddev, symmetry in zip((2.0, 1.5, 1.0), get_args(Symmetry), strict=True)
)
