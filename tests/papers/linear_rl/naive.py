"""Algorithms 1, 2 and 3 for one run, as loops straight from their listings: an oracle."""

# ruff: noqa: N806  # the paper's letters

import numpy as np

from dpaudit.model.mechanism import Array


def values(
    features: Array, rewards: Array, statistics: Array, ridge: float, shift: float, radius: float, top: float
) -> Array:
    """Optimistic values of Algorithm 1 from noisy sums (H - 1, d, d + 1) of one run; loops over states and actions."""
    d, S, A, _ = features.shape
    H = len(rewards)
    V = np.zeros((H + 1, S))
    for h in range(H - 1, -1, -1):
        for s in range(S):
            best = -np.inf
            for a in range(A):
                q = rewards[h, s, a]
                if h < H - 1:
                    x = np.array([sum(features[i, s, a, t] * V[h + 1, t] for t in range(S)) for i in range(d)])
                    gram = ridge * np.eye(d) + statistics[h][:, :d] + shift * np.eye(d)
                    spectrum, axes = np.linalg.eigh(gram)
                    inverse = axes @ np.diag(1 / np.maximum(spectrum, ridge)) @ axes.T
                    q += x @ inverse @ statistics[h][:, d] + radius * np.sqrt(max(0.0, x @ inverse @ x))
                best = max(best, min(max(q, 0.0), top))
            V[h, s] = best
    return V


def batch_values(
    features: Array,
    rewards: Array,
    matrices: Array,
    vectors: Array,
    ridge: float,
    shift: float,
    radius: float,
    top: float,
) -> Array:
    """Optimistic values of Algorithm 2 from released matrices (H, d, d) and vectors (H, d) of one run."""
    S, A, d = features.shape
    H = len(rewards)
    V = np.zeros((H + 1, S))
    for h in range(H - 1, -1, -1):
        spectrum, axes = np.linalg.eigh(matrices[h] + (ridge + shift) * np.eye(d))
        inverse = axes @ np.diag(1 / np.maximum(spectrum, ridge)) @ axes.T
        for s in range(S):
            q = [
                features[s, a] @ inverse @ vectors[h] + radius * np.sqrt(features[s, a] @ inverse @ features[s, a])
                for a in range(A)
            ]
            V[h, s] = max(min(max(value, 0.0), top) for value in q)
    return V
