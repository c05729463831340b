"""Wishart matrices with one degree of freedom more than their dimension, whose density is flat up to the trace."""

import math

import numpy as np

from dpaudit.model.mechanism import Array


def symmetric_matrices(value: Array, dimension: int) -> Array:
    """Return `value` as float matrices, their lower triangles replaced by the upper ones. Shape: (..., d, d).

    Raises: ValueError: another shape.
    """
    exact = np.asarray(value, dtype=np.float64)
    if exact.shape[-2:] != (dimension, dimension):
        raise ValueError(f"Expected matrices of dimension={dimension} on the last two axes, got shape {exact.shape}.")
    return np.triu(exact) + np.swapaxes(np.triu(exact, 1), -1, -2)


def wishart(leading: tuple[int, ...], dimension: int, scale: float, rng: np.random.Generator) -> Array:
    """Return independent Wishart(dimension + 1, scale I) matrices. Shape: (*leading, dimension, dimension)."""
    factor = math.sqrt(scale) * rng.standard_normal((*leading, dimension, dimension + 1))
    return factor @ np.swapaxes(factor, -1, -2)


def log_constant(dimension: int, scale: float) -> float:
    """Return the log of K in the density K e^(-tr Z / (2 scale)) of Wishart(dimension + 1, scale I) at Z >= 0."""
    degrees = dimension + 1
    log_gamma = 0.25 * dimension * (dimension - 1) * math.log(math.pi) + math.fsum(
        math.lgamma((degrees - index) / 2) for index in range(dimension)
    )
    return -0.5 * degrees * dimension * math.log(2 * scale) - log_gamma
