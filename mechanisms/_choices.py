"""The probabilities of choices: of the index at hand, and by integrals over the noisy score that wins."""

from collections.abc import Callable

import numpy as np

from dpaudit.model.mechanism import Array

_NODES = 20


def picked(log_probabilities: Array, index: Array) -> Array:
    """Return each row's entry at `index`, minus infinity where there is none. Shape: (..., n) and (...) to (...)."""
    chosen = np.asarray(index)
    candidates = log_probabilities.shape[-1]
    rows = np.broadcast_to(log_probabilities, (*chosen.shape, candidates))
    inside = (chosen >= 0) & (chosen < candidates)
    held = np.take_along_axis(rows, np.where(inside, chosen, 0)[..., None], axis=-1)[..., 0]
    return np.where(inside, held, -np.inf)


def log_chances(scores: Array, log_win: Callable[[Array, int], float]) -> Array:
    """Return `log_win` of each row and candidate, computed once for equal rows. Shape: (..., n) in and out."""
    rows, where = np.unique(scores.reshape(-1, scores.shape[-1]), axis=0, return_inverse=True)
    chances = np.array([[log_win(row, k) for k in range(len(row))] for row in rows]).reshape(rows.shape)
    return chances[where.reshape(-1)].reshape(scores.shape)


def panels(edges: Array) -> tuple[Array, Array]:
    """Return 20 Gauss-Legendre points between each two `edges`, and the logarithms of their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges) / 2
    return (edges[:-1] + half)[:, None] + half[:, None] * nodes, np.log(half[:, None] * weights)
