"""The largest information gain gamma_T of a kernel on finitely many cells, between two proved ends."""

import math
from itertools import combinations_with_replacement

import numpy as np

from dpaudit.model.mechanism import Array

_FEW = 20_000
"""So many multisets of cells are tried one by one."""

_MOST_STEPS = 20_000
_CLOSE = 1e-4
"""Steps of the relaxation, and the relative gap at which it stops."""

_ROUNDED = 1e-12
"""What rounding may take from either end, as a share, beside what the features leave of the kernel."""


def information_gain(kernel: Array, rounds: int, noise: float) -> tuple[float, float]:
    """Return both ends of the maximum over `rounds` points of ln det(I + K / noise) / 2; points may repeat.

    Shape: `kernel` (N, N), at the cells. Unit: nats; `noise` is the regulariser tau.
    Guarantee: the lower end is attained by whole counts; the upper end holds for all real ones, as the value is concave
    in them. Both are the maximum where there are few multisets of cells.
    Raises: ValueError: fewer than one round, or a noise that is not positive.

    >>> near = np.exp(-np.abs(np.arange(3.0)[:, None] - np.arange(3.0)))
    >>> lower, upper = information_gain(near, 10**6, 1.0)
    >>> round(lower, 4), bool(upper <= lower * 1.0002)
    (18.9299, True)
    """
    if rounds < 1 or not noise > 0:
        raise ValueError(f"Expected rounds={rounds} of 1 or more and noise={noise!r} above 0.")
    cells = len(kernel)
    values, vectors = np.linalg.eigh(kernel)
    features = vectors * np.sqrt(np.maximum(values, 0.0) / noise)
    features = features[:, values > values[-1] * 1e-17]
    if math.comb(cells + rounds - 1, rounds) <= _FEW:
        multisets = combinations_with_replacement(range(cells), rounds)
        best = max(_gain(features, np.bincount(points, minlength=cells)) for points in multisets)
        return best * (1 - _ROUNDED), best * (1 + _ROUNDED) + _left(kernel, features, rounds, noise)
    shares, upper = _relaxed(features, rounds)
    lower = _gain(features, _whole_counts(features, shares * rounds, rounds))
    return lower * (1 - _ROUNDED), upper * (1 + _ROUNDED) + _left(kernel, features, rounds, noise)


def gain_without_kernel(cells: int, rounds: float, noise: float) -> float:
    """Return N ln(1 + T / (N tau)) / 2, the gain where no cell says anything of another one, and so the largest."""
    return cells * math.log1p(rounds / (cells * noise)) / 2


def _gain(features: Array, counts: Array) -> float:
    """Return ln det(I + sum of counts times features) / 2."""
    _, value = np.linalg.slogdet(np.eye(features.shape[1]) + (features.T * counts) @ features)
    return float(value) / 2


def _slopes(features: Array, counts: Array) -> Array:
    """Return the derivative of the gain in each count: half the posterior variance of a cell."""
    matrix = np.eye(features.shape[1]) + (features.T * counts) @ features
    return (np.linalg.solve(matrix, features.T) * features.T).sum(axis=0) / 2


def _relaxed(features: Array, rounds: int) -> tuple[Array, float]:
    """Return shares close to the best real ones, and the least upper end met on the way.

    By concavity no shares exceed the gain at w by more than T (max g - w g). The step w <- w g / (w g) never lowers it.
    """
    shares, best = np.full(len(features), 1 / len(features)), math.inf
    for _ in range(_MOST_STEPS):
        slopes = _slopes(features, shares * rounds)
        mean = float(shares @ slopes)
        gain, room = _gain(features, shares * rounds), rounds * (float(slopes.max()) - mean)
        best = min(best, gain + room)
        if best - gain <= _CLOSE * gain:
            break
        shares = shares * slopes / mean
    return shares, best


def _whole_counts(features: Array, counts: Array, rounds: int) -> Array:
    """Return whole counts below the real ones, and the rounds left where the variance is largest, one by one."""
    rounded: Array = np.floor(counts)
    for _ in range(int(rounds - rounded.sum())):
        rounded[int(np.argmax(_slopes(features, rounded)))] += 1
    return rounded


def _left(kernel: Array, features: Array, rounds: int, noise: float) -> float:
    """Return what the part of the kernel that the features leave, or that rounding hides, adds to a gain at most."""
    left = np.abs(np.diag(kernel) / noise - (features**2).sum(axis=1))
    hidden = len(kernel) * np.finfo(np.float64).eps * float(np.diag(kernel).max()) / noise
    return rounds * (float(left.max()) + hidden) / 2
