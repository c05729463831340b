"""Strategy matrices of linear streams: which combinations of a stream's elements a mechanism releases with noise.

Every row may be released once the elements that it holds have come; columns belong to elements.
"""

from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpaudit.model.mechanism import Array

Strategy = Literal["square_root", "toeplitz", "full_tree", "explicit"]


def square_root_coefficients(horizon: int) -> tuple[float, ...]:
    """Return C(2i, i) / 4^i for i below `horizon`: the square root of the matrix of prefix sums is Toeplitz with these.

    Source: Fichtenberger, Henzinger and Upadhyay (2023), Fact 3.

    >>> square_root_coefficients(4)
    (1.0, 0.5, 0.375, 0.3125)
    """
    coefficients = [1.0]
    for i in range(1, horizon):
        coefficients.append(coefficients[-1] * (2 * i - 1) / (2 * i))
    return tuple(coefficients)


def toeplitz(coefficients: tuple[float, ...], horizon: int) -> Array:
    """Return the lower triangular Toeplitz matrix (horizon, horizon) with these coefficients down its first column."""
    column = np.zeros(horizon)
    column[: min(horizon, len(coefficients))] = coefficients[:horizon]
    lags = np.subtract.outer(np.arange(horizon), np.arange(horizon))
    return np.where(lags >= 0, column[np.maximum(lags, 0)], 0.0)


def convolved(values: Array, coefficients: tuple[float, ...]) -> Array:
    """Return the Toeplitz matrix with these coefficients times `values`. Shape: (..., time) in and out."""
    if not values.size:
        return values
    room = next_fast_len(values.shape[-1] + len(coefficients) - 1, real=True)
    products = irfft(rfft(values, room) * rfft(np.asarray(coefficients, dtype=np.float64), room), room)
    return np.asarray(products[..., : values.shape[-1]])


def inverse(coefficients: tuple[float, ...], horizon: int) -> Array:
    """Return the coefficients of the inverse Toeplitz matrix; the first coefficient must not be 0."""
    column = np.zeros(horizon)
    column[: min(horizon, len(coefficients))] = coefficients[:horizon]
    inverted = np.zeros(horizon)
    inverted[0] = 1 / column[0]
    for i in range(1, horizon):
        inverted[i] = -inverted[0] * (column[1 : i + 1] @ inverted[i - 1 :: -1])
    return inverted


@lru_cache(maxsize=16)
def tree_nodes(horizon: int) -> tuple[tuple[int, int], ...]:
    """Return (first, beyond the last) element, from 0, of every aligned block of 2^level elements, in order of release.

    Right children are nodes too; a block that reaches beyond the horizon is none.

    >>> tree_nodes(3)
    ((0, 1), (1, 2), (0, 2), (2, 3))
    """
    return tuple(
        (end - (1 << level), end)
        for end in range(1, horizon + 1)
        for level in range(horizon.bit_length())
        if end % (1 << level) == 0
    )


def tree_sums(values: Array, horizon: int) -> Array:
    """Return the sum of each node of the full tree. Shape: (length, ...) in, (nodes, ...) out, time first."""
    starts, stops = np.array(tree_nodes(horizon)).T
    sums = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
    return sums[stops] - sums[starts]


def strategy_matrix(strategy: Strategy, horizon: int, entries: tuple[float, ...]) -> Array:
    """Return the whole matrix, rows by elements.

    Memory: rows times horizon numbers.
    """
    if strategy == "full_tree":
        return tree_sums(np.eye(horizon), horizon)
    if strategy == "explicit":
        return np.reshape(np.asarray(entries, np.float64), (horizon, horizon))
    return toeplitz(entries or square_root_coefficients(horizon), horizon)
