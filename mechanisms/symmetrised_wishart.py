"""The difference of two Wishart matrices, on a symmetric matrix of known nuclear-norm sensitivity."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim, UnsupportedError
from dpaudit.arguments import settled
from dpaudit.checks import Count, NoiseSize, Size, ratio, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss, LaplaceLoss
from dpaudit.model.mechanism import Array
from mechanisms._matrices.wishart import log_constant, symmetric_matrices, wishart
from mechanisms.laplace import Laplace

_NODES = 12
_LARGEST = 700.0  # the largest epsilon whose exponential is a double


@settled
class SymmetrisedWishart:
    """Adds W - W', both Wishart(dimension + 1, scale I) and independent, to a symmetric matrix: pure.

    Shape: (..., dimension, dimension).
    Unit: `scale` and `nuclear_sensitivity` in the unit of the query; the nuclear norm is the sum of absolute
    eigenvalues (1 for a unit outer product, 2 at most for the difference of two); `dimension`, the number of rows.
    Guarantee: the log density moves by at most nuclear norm / (2 scale). Along the straight path between two answers
    every short step is therefore pure, and a chain of n randomised responses of epsilon / n tends to the Laplace
    loss of shift nuclear_sensitivity / (2 scale), which dominates; it is exact in dimension 1, where the noise is
    Laplace of scale 2 scale. In higher dimensions the largest loss is attained with probability
    2^(-dimension (dimension + 1) / 2), on outputs above both answers.
    Edge cases: rounded real noise. The density is known for dimensions 1 and 2, and beyond for noise of one sign.
    Raises: ValueError: a parameter out of range or unknown neighbours.
    Source: the density of Wishart noise with dimension + 1 degrees of freedom is proportional to e^(-tr Z / 2 scale)
        on its cone; splitting a change into its positive and negative part gives the bound.
    """

    name: ClassVar[str] = "symmetrised_wishart"
    item_axes: ClassVar[int] = 2

    dimension: Count
    scale: NoiseSize
    nuclear_sensitivity: Size
    neighbours: Neighbours

    @classmethod
    def calibrated(cls, claim: Claim, *, dimension: int, nuclear_sensitivity: float) -> Self:
        """Return the smallest noise for which one release provably meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        twice = Laplace.calibrated(claim, l1_sensitivity=size("nuclear_sensitivity", nuclear_sensitivity)).scale
        return cls(
            dimension=dimension,
            scale=twice / 2,
            nuclear_sensitivity=nuclear_sensitivity,
            neighbours=claim.neighbours,
        )

    def loss(self) -> LaplaceLoss:
        """Return a loss that dominates every pair; exact in dimension 1."""
        return LaplaceLoss.exactly(ratio(self.nuclear_sensitivity, self.scale) / 2)

    def attained_loss(self) -> LaplaceLoss | DiscreteLoss:
        """Return the loss of seeing only whether the output lies above both answers of the worst pair, or below.

        Edge cases: nothing is said to be attained in dimension 2 or more where the proved epsilon is above 700.
        """
        if self.dimension == 1:
            return self.loss()
        shift = self.nuclear_sensitivity / (2 * self.scale)
        if shift > _LARGEST:
            return DiscreteLoss(atoms=((0.0, 1.0),))
        above = 2.0 ** (-self.dimension * (self.dimension + 1) / 2)
        below = above * math.exp(-shift)
        return DiscreteLoss(atoms=((shift, above), (0.0, 1 - above - below), (-shift, below)), symmetric=True)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the upper triangle of `value`, mirrored, plus noise. Shape: (..., dimension, dimension).

        Raises: ValueError: another shape.
        """
        exact = symmetric_matrices(value, self.dimension)
        first, second = (wishart(exact.shape[:-2], self.dimension, self.scale, rng) for _ in range(2))
        return exact + first - second

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the joint log density of each matrix's upper triangle. Shape: (...).

        Raises: UnsupportedError: in dimension 3 or more, for noise with eigenvalues of both signs.
        """
        eigenvalues = np.linalg.eigvalsh(np.asarray(output) - np.asarray(value))
        rate = 1 / (2 * self.scale)
        flat = 2 * log_constant(self.dimension, self.scale) - log_constant(self.dimension, self.scale / 2)
        log_density: Array = np.asarray(flat - rate * np.abs(eigenvalues.sum(axis=-1)))
        mixed = (eigenvalues[..., 0] < 0) & (eigenvalues[..., -1] > 0)
        if self.dimension == 1 or not np.any(mixed):
            return log_density
        if self.dimension > 2:
            raise UnsupportedError(
                f"The density of symmetrised Wishart noise in dimension={self.dimension} has no formula here where "
                "eigenvalues have both signs; audit in dimension 1 or 2, or by events."
            )
        log_density[mixed] = 2 * log_constant(2, self.scale) + _log_mixed(eigenvalues[mixed], rate)
        return log_density

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return two answers that differ by a matrix of rank one."""
        full = np.zeros((self.dimension, self.dimension))
        full[0, 0] = self.nuclear_sensitivity
        return full, np.zeros_like(full)


def _log_mixed(eigenvalues: Array, rate: float) -> Array:
    """Return the log of the integral of e^(-rate tr(V + Z) - rate tr V) over V >= 0, V + Z >= 0 in dimension 2.

    The cone of 2 x 2 matrices is {t >= |x|} over the plane, dV = 2 dt dx: at each t the integrand is the area of the
    lens between two discs. With t shifted so that they touch at s = 0, the integral is e^(-rate (largest - smallest))
    times that of lens(s) e^(-2 rate s); s = w^2 smooths the lens, and Gauss-Legendre panels shrink towards 0.
    """
    half_sum, distance = eigenvalues.sum(axis=-1) / 2, (eigenvalues[..., 1] - eigenvalues[..., 0]) / 2
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = math.sqrt(20 / rate) * np.concatenate([[0.0], 4.0 ** np.arange(-5.0, 1.0)])
    total = np.zeros_like(distance)
    for low, high in pairwise(edges):
        for node, weight in zip(nodes, weights, strict=True):
            root = low + (high - low) * (node + 1) / 2
            lens = _lens((root**2 + distance - half_sum) / 2, (root**2 + distance + half_sum) / 2, distance)
            total += weight * (high - low) * root * np.exp(-2 * rate * root**2) * lens
    return -2 * rate * distance + np.log(total)


def _lens(first: Array, second: Array, distance: Array) -> Array:
    """Return the area common to two discs of the given radii whose centres are `distance` apart."""
    cosine_first = (distance**2 + first**2 - second**2) / (2 * distance * first)
    cosine_second = (distance**2 + second**2 - first**2) / (2 * distance * second)
    perimeter = first + second + distance
    heron = perimeter * (first + second - distance) * (perimeter - 2 * first) * (perimeter - 2 * second)
    return (
        first**2 * np.arccos(np.clip(cosine_first, -1, 1))
        + second**2 * np.arccos(np.clip(cosine_second, -1, 1))
        - 0.5 * np.sqrt(np.maximum(heron, 0))
    )


EXAMPLES = (
    SymmetrisedWishart(dimension=1, scale=1.0, nuclear_sensitivity=2.0, neighbours="replace_one"),
    SymmetrisedWishart(dimension=2, scale=1.0, nuclear_sensitivity=2.0, neighbours="replace_one"),
    SymmetrisedWishart(dimension=2, scale=1.5, nuclear_sensitivity=2.0, neighbours="add_remove"),
)
