"""Least squares on noisy statistics, all runs at once: floored inverses, predictions and bonuses."""

import numpy as np

from dpaudit.model.mechanism import Array


def symmetric(matrices: Array) -> Array:
    """Return the symmetric part of matrices. Shape: (..., d, d) in and out."""
    return (matrices + np.swapaxes(matrices, -1, -2)) / 2


def floored_inverses(matrices: Array, floor: float) -> Array:
    """Return the inverses of symmetric matrices (..., d, d) whose eigenvalues below `floor` are raised to it.

    Where a Cholesky factor of all matrices less the floor exists, nothing is raised, and spectra need not be computed.
    """
    try:
        np.linalg.cholesky(matrices - floor * np.eye(matrices.shape[-1]))
    except np.linalg.LinAlgError:
        spectrum, axes = np.linalg.eigh(matrices)
        scaled = axes / np.maximum(spectrum, floor)[..., None, :]
        return scaled @ np.swapaxes(axes, -1, -2)
    return np.linalg.inv(matrices)


def bonus_of(features: Array, inverses: Array) -> Array:
    """Return sqrt(x^T inverse x). Shape: features (n_runs, n, d), inverses (n_runs, d, d), the result (n_runs, n)."""
    return np.sqrt(np.maximum(np.einsum("rnd,rnd->rn", features @ inverses, features), 0.0))


def linear(features: Array, weights: Array) -> Array:
    """Return x^T w for features (n_runs, n, d) and weights (n_runs, d). Shape: (n_runs, n)."""
    return (features @ weights[..., None])[..., 0]
