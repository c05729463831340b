"""Kernels on finite sets of points, and the feature factor that stands for them."""

import math

import numpy as np

from dpaudit.model.mechanism import Array

KERNELS = ("squared_exponential", "matern", "linear", "features")
"""The kernels by name; `features` takes the problem's own explicit features."""

SMOOTHNESSES = (0.5, 1.5, 2.5)
"""The Matern smoothnesses that have a closed form."""


def require_smoothness(smoothness: float) -> None:
    """Refuse a Matern kernel without a closed form.

    Raises: ValueError: another smoothness.
    """
    if smoothness not in SMOOTHNESSES:
        raise ValueError(f"Expected smoothness={smoothness!r} to be one of: {', '.join(map(str, SMOOTHNESSES))}.")


def stationary(kernel: str, points: Array, length_scale: float, smoothness: float) -> Array:
    """Return the squared exponential or the Matern kernel, by its name, for all pairs of `points`."""
    if kernel == "matern":
        return matern(points, length_scale, smoothness)
    return squared_exponential(points, length_scale)


def squared_exponential(points: Array, length_scale: float) -> Array:
    """Return exp(-|p - q|^2 / (2 length_scale^2)) for all pairs of `points`.

    Shape: (N, d) to (N, N).
    """
    return np.exp(-0.5 * (_distances(points) / length_scale) ** 2)


def matern(points: Array, length_scale: float, smoothness: float) -> Array:
    """Return the Matern kernel of half-integer `smoothness` for all pairs of `points`.

    Shape: (N, d) to (N, N).
    Source: Rasmussen and Williams (2006), Eqs. (4.14) and (4.17).
    """
    scaled = math.sqrt(2 * smoothness) * _distances(points) / length_scale
    polynomial = {0.5: 1.0, 1.5: 1 + scaled, 2.5: 1 + scaled + scaled**2 / 3}[smoothness]
    return polynomial * np.exp(-scaled)


def linear_features(contexts: Array, actions: Array) -> Array:
    """Return the outer product of a context and an action for every pair, scaled so that the longest is 1.

    Shape: (C, p) and (X, q) to (C * X, p * q).
    """
    products = np.einsum("cp,xq->cxpq", contexts, actions).reshape(len(contexts) * len(actions), -1)
    longest = float(np.linalg.norm(products, axis=1).max())
    return products / longest if longest else products


def factor(kernel: Array) -> Array:
    """Return F with F F^T = `kernel` up to 1e-12 times its largest eigenvalue; one column per rank.

    Shape: (N, N) to (N, D).
    """
    values, vectors = np.linalg.eigh(kernel)
    positive = values > 1e-12 * values[-1]
    return vectors[:, positive] * np.sqrt(values[positive])


def pairs(contexts: Array, actions: Array) -> Array:
    """Return the points (context, action) of the product grid, contexts in the outer loop.

    Shape: (C, p) and (X, q) to (C * X, p + q).
    """
    return np.hstack([np.repeat(contexts, len(actions), axis=0), np.tile(actions, (len(contexts), 1))])


def _distances(points: Array) -> Array:
    """Return the Euclidean distances of all pairs."""
    return np.linalg.norm(points[:, None, :] - points[None, :, :], axis=-1)
