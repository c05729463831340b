"""Reference densities, written apart from the mechanisms, for laws with a closed form."""

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.checks.laws.strategies import rows_of
from dpaudit.model.mechanism import Array, Mechanism


def log_probability(mechanism: Mechanism, output: Array, value: Array) -> Array | None:
    """Return the log density of each row under the stated law; None where no reference is known."""
    law = _DENSITIES.get(mechanism.name)
    return None if law is None else law(mechanism, np.asarray(output), np.asarray(value))


def _rows(numbers: Array) -> Array:
    """Return the sum of each row."""
    total: Array = numbers.reshape(len(numbers), -1).sum(axis=1)
    return total


def _normal(noise: Array, deviation: Any) -> Array:
    """Return the log density of independent normal numbers, one sum a row."""
    return _rows(-((noise / deviation) ** 2) / 2 - np.log(np.sqrt(2 * np.pi) * deviation))


def _gaussian(mechanism: Any, output: Array, value: Array) -> Array:
    """Independent normal numbers."""
    return _normal(output - value, mechanism.stddev)


def _matrix(mechanism: Any, output: Array, value: Array) -> Array:
    """Rows of a strategy under the noise of the leaf."""
    return _normal(output - rows_of(mechanism, value), mechanism.leaf.stddev)


def _laplace(mechanism: Any, output: Array, value: Array) -> Array:
    """Independent Laplace numbers."""
    return _rows(-np.abs(output - value) / mechanism.scale - np.log(2.0 * mechanism.scale))


def _response(mechanism: Any, output: Array, value: Array) -> Array:
    """The true category, or another one with e^-epsilon times its probability."""
    total = 1 + (mechanism.categories - 1) * np.exp(-mechanism.epsilon)
    return _rows(np.where(output == value, 0.0, -mechanism.epsilon) - np.log(total))


def _exponential(mechanism: Any, output: Array, value: Array) -> Array:
    """A candidate with probability proportional to e^(epsilon utility / (2 sensitivity))."""
    weights = value * (mechanism.epsilon / (2 * mechanism.linf_sensitivity))
    picked = np.take_along_axis(weights, np.asarray(output)[:, None], axis=-1)[:, 0]
    chosen: Array = picked - np.log(np.exp(weights).sum(axis=-1))
    return chosen


def _discrete_laplace(mechanism: Any, output: Array, value: Array) -> Array:
    """Whole numbers with geometric tails."""
    ratio = np.exp(-1 / mechanism.scale)
    return _rows(-np.abs(output - value) / mechanism.scale + np.log((1 - ratio) / (1 + ratio)))


def _discrete_gaussian(mechanism: Any, output: Array, value: Array) -> Array:
    """Whole numbers with normal weights."""
    reach = int(np.ceil(40 * mechanism.stddev)) + 1
    total = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * mechanism.stddev**2)).sum()
    return _rows(-((output - value) ** 2.0) / (2 * mechanism.stddev**2) - np.log(total))


_DENSITIES: dict[str, Callable[[Any, Array, Array], Array]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "matrix": _matrix,
    "ball_laplace": _laplace,
    "randomised_response": _response,
    "exponential": _exponential,
    "discrete_laplace": _discrete_laplace,
    "discrete_gaussian": _discrete_gaussian,
}
"""The reference density of mechanisms whose law has a short closed form."""
