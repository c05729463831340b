"""Wishart noise as uniform numbers: its density ends at an edge that no grid meets, so its laws are written out."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import chdtr, gamma, kv, ndtr

from dpaudit.model.mechanism import Array

_GRID = 20_001


def _one_sided(mechanism: Any, noise: Array) -> Array:
    """Bartlett's factor: independent chi and normal numbers of dimension + 1 degrees of freedom."""
    scaled = noise / mechanism.scale
    dimension = scaled.shape[-1]
    with np.errstate(all="ignore"):
        factor = np.linalg.cholesky(scaled + 1e-12 * np.eye(dimension))
    rows, columns = np.tril_indices(dimension, -1)
    freedom = dimension + 1 - np.arange(dimension)
    squares = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    return np.concatenate([chdtr(freedom, squares), ndtr(factor[..., rows, columns])], axis=-1)


def _symmetrised(mechanism: Any, noise: Array) -> Array:
    """Along unit vectors the noise is the difference of two chi-square numbers, times the scale."""
    scaled = noise / mechanism.scale
    dimension = scaled.shape[-1]
    diagonal = np.diagonal(scaled, axis1=-2, axis2=-1)
    rows, columns = np.triu_indices(dimension, 1)
    mixed = (diagonal[..., rows] + diagonal[..., columns]) / 2 + scaled[..., rows, columns]
    return chi_square_difference(np.concatenate([diagonal, mixed], axis=-1), dimension + 1)


def chi_square_difference(x: Array, freedom: int) -> Array:
    """Return the distribution function of the difference of two independent chi-square numbers, within 1e-7.

    The density is |x|^(m) K_m(|x| / 2) / (4^(m + 1/2) sqrt(pi) Gamma(m + 1/2)) with m = (freedom - 1) / 2.
    """
    order = (freedom - 1) / 2
    ends = np.linspace(0.0, 40.0 + 12 * np.sqrt(freedom), _GRID)
    middle = (ends[1:] + ends[:-1]) / 2
    density = middle**order * kv(order, middle / 2) / (4 ** (order + 0.5) * np.sqrt(np.pi) * gamma(order + 0.5))
    above = np.concatenate([[0.0], np.cumsum(density * np.diff(ends))])
    half: Array = np.interp(np.abs(x), ends, above * (0.5 / above[-1]))
    return np.where(x < 0, 0.5 - half, 0.5 + half)


WISHART: dict[str, tuple[Callable[[Any, Array], Array], bool]] = {
    "one_sided_wishart": (_one_sided, True),
    "symmetrised_wishart": (_symmetrised, False),
}
"""What places the noise of a kind, and whether the columns of a row are then independent."""
