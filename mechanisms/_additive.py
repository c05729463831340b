"""The two laws of additive noise that several mechanisms share: sampled, and as log densities."""

import math

import numpy as np

from dpaudit.model.mechanism import Array


def with_laplace_noise(value: Array, scale: float, rng: np.random.Generator) -> Array:
    """Return `value` plus independent Laplace noise, in float64 and the same shape."""
    exact = np.asarray(value, dtype=np.float64)
    return exact + rng.laplace(0.0, scale, exact.shape)


def laplace_log_density(residual: Array, scale: float) -> Array:
    """Return the log density of Laplace noise at each coordinate of `residual`."""
    log_density: Array = -np.abs(residual) / scale - math.log(2 * scale)
    return log_density


def normal_log_density(residual: Array, stddev: float | Array) -> Array:
    """Return the log density of normal noise at each coordinate; `stddev` broadcasts against `residual`."""
    log_density: Array = -0.5 * (residual / stddev) ** 2 - np.log(stddev) - 0.5 * math.log(2 * math.pi)
    return log_density
