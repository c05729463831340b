"""KNOWN BAD: Wishart noise on a positive semi-definite matrix, whose support gives the data away.

This file exists so that algorithms that use such noise can be declared and refuted. For noise of this kind that is
private use `symmetrised_wishart`.
"""

import math
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from dpaudit.arguments import settled
from dpaudit.checks import Count, FieldError, NoiseSize, Size, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.mechanism import Array
from mechanisms._matrices.wishart import log_constant, symmetric_matrices, wishart

_ROUNDING = 1e-9
_LARGEST = 700.0  # of c, so that e^-c is a double


@settled
class OneSidedWishart:
    """Adds W ~ Wishart(dimension + 1, scale I) to a positive semi-definite matrix: not pure, at any epsilon.

    W = X X^T with X of dimension x (dimension + 1) independent N(0, scale) entries, so W is positive semi-definite
    and outputs Z with Z - A not so betray that the answer was not A. The mean (dimension + 1) scale I is left in.
    Shape: (..., dimension, dimension).
    Unit: `scale` and `trace_sensitivity` in the unit of the query; `dimension`, the number of rows.
    Guarantee: none worth the name. A record adds a positive semi-definite matrix of trace at most
    trace_sensitivity. With c = trace_sensitivity / (2 scale), an empty answer against a full record has delta =
    1 - e^-c at *every* epsilon, since P(W >= A) = e^(-c); on the common support the loss is -c. For replacement the
    stated loss (0 with probability e^-c, else infinite) dominates every pair and is attained for all epsilon >= 0.
    Edge cases: X X^T is positive semi-definite only up to rounding; the support test allows 1e-9 of the norm.
    Raises: ValueError: a parameter out of range, c above 700, or unknown neighbours.
    Source: the density of Wishart noise with dimension + 1 degrees of freedom is proportional to e^(-tr Z / 2 scale)
        on its cone, from which all of this follows; Sarwate (2017) retracts a guarantee of the same kind.

    >>> noise = OneSidedWishart(dimension=2, scale=1.0, trace_sensitivity=1.0, neighbours="add_remove")
    >>> round(noise.loss().infinite_mass, 4)
    0.3935
    """

    name: ClassVar[str] = "one_sided_wishart"

    dimension: Count
    scale: NoiseSize
    trace_sensitivity: Size
    neighbours: Neighbours

    def __post_init__(self) -> None:
        settle(self)
        if self.trace_sensitivity / (2 * self.scale) > _LARGEST:
            raise FieldError(
                "scale",
                f"Expected scale={self.scale} to be at least a {2 * _LARGEST:g}th of trace_sensitivity="
                f"{self.trace_sensitivity}: less noise hides nothing that a double can tell.",
            )

    def loss(self) -> DiscreteLoss:
        """Return the loss of one release: exact for add_remove, dominating for replace_one."""
        return self.attained_loss() if self.neighbours == "add_remove" else self._dominating_loss()

    def attained_loss(self) -> DiscreteLoss:
        """Return the exact loss of an empty answer against a full record; a replaced record may be empty."""
        exponent = self.trace_sensitivity / (2 * self.scale)
        atoms = ((-exponent, math.exp(-exponent)),)
        return DiscreteLoss(atoms=atoms, infinite_mass=-math.expm1(-exponent), one_order=True)

    def _dominating_loss(self) -> DiscreteLoss:
        """Return a loss that dominates every replacement, in both orders."""
        exponent = self.trace_sensitivity / (2 * self.scale)
        missed = -math.expm1(-exponent)
        return DiscreteLoss(atoms=((0.0, math.exp(-exponent)),), infinite_mass=missed, reverse_infinite_mass=missed)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus Wishart noise. Shape: (..., dimension, dimension) in and out.

        Raises: ValueError: another shape.
        """
        exact = symmetric_matrices(value, self.dimension)
        return exact + wishart(exact.shape[:-2], self.dimension, self.scale, rng)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of each matrix, minus infinity outside the support. Shape: (...)."""
        noise = np.asarray(output) - np.asarray(value)
        smallest = np.linalg.eigvalsh(noise)[..., 0]
        inside = smallest >= -_ROUNDING * (1 + np.linalg.norm(noise, axis=(-2, -1)))
        trace = np.trace(noise, axis1=-2, axis2=-1)
        return np.where(inside, log_constant(self.dimension, self.scale) - trace / (2 * self.scale), -np.inf)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return an empty answer and a full record."""
        full = np.zeros((self.dimension, self.dimension))
        full[0, 0] = self.trace_sensitivity
        return np.zeros_like(full), full


EXAMPLES = (
    OneSidedWishart(dimension=2, scale=1.0, trace_sensitivity=1.0, neighbours="add_remove"),
    OneSidedWishart(dimension=1, scale=2.0, trace_sensitivity=1.0, neighbours="replace_one"),
    OneSidedWishart(dimension=3, scale=4.5, trace_sensitivity=4.5, neighbours="replace_one"),
)
