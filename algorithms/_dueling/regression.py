"""Logistic regression on noisy sums, inside a ball: a convex problem with one solution for any noise.

Minimises over |w| <= radius:  sum_g [T_g ln(1 + e^(z_g w)) - o_g z_g w] + ridge |w|^2 / 2, with o_g a noisy
number of wins in T_g plays of the comparison z_g. Where the score equation of Algorithm 2 has a solution inside the
ball, this is it up to the ridge; where noise leaves it without one, this is still an estimate; no data is read again.
"""

import numpy as np

from dpaudit.model.mechanism import Array

_STEPS = 50
_BISECTIONS = 40


def constrained_logistic(vectors: Array, plays: Array, sums: Array, radius: float, ridge: float) -> Array:
    """Return the estimate of every run. Shape: vectors (G, d), plays (G,), sums (n_runs, G) to (n_runs, d).

    Newton steps, halved where they do not descend; on the sphere, the multiplier by bisection (the norm falls with it).
    Total: a value for every input, without exceptions and without drawing noise again.
    """
    penalty = np.full(len(sums), ridge)
    estimate = _newton(vectors, plays, sums, penalty, np.zeros((len(sums), vectors.shape[1])))
    outside = np.flatnonzero(np.linalg.norm(estimate, axis=1) > radius)
    if outside.size:
        estimate[outside] = _on_sphere(vectors, plays, sums[outside], radius, ridge, estimate[outside])
    return estimate


def _on_sphere(vectors: Array, plays: Array, sums: Array, radius: float, ridge: float, start: Array) -> Array:
    """Return the estimates of runs whose free minimum lies outside the ball: on its sphere."""
    gradient = np.linalg.norm((sums - plays / 2) @ vectors, axis=1) + (plays[:, None] * np.abs(vectors)).sum()
    low, high = np.full(len(sums), ridge), ridge + gradient / radius + 1.0
    estimate = start * (radius / np.maximum(np.linalg.norm(start, axis=1, keepdims=True), 1e-300))
    for _ in range(_BISECTIONS):
        middle = np.sqrt(low * high)
        estimate = _newton(vectors, plays, sums, middle, estimate)
        outside = np.linalg.norm(estimate, axis=1) > radius
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        if (high <= low * (1 + 1e-9)).all():
            break
    estimate = _newton(vectors, plays, sums, high, estimate)
    length = np.linalg.norm(estimate, axis=1, keepdims=True)
    return estimate * np.minimum(1.0, radius / np.maximum(length, 1e-300))


def _newton(vectors: Array, plays: Array, sums: Array, penalty: Array, start: Array) -> Array:
    """Return the free minimum with ridge `penalty` (n_runs,), from `start` (n_runs, d)."""
    estimate, target = start.copy(), sums @ vectors
    value = _objective(vectors, plays, target, penalty, estimate)
    identity = np.eye(vectors.shape[1])
    squares = (vectors[:, :, None] * vectors[:, None, :]).reshape(len(vectors), -1)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(estimate @ vectors.T, -500, 500)))
        gradient = (plays * chance) @ vectors - target + penalty[:, None] * estimate
        weights = plays * chance * (1 - chance)
        curvature = (weights @ squares).reshape(-1, *identity.shape) + penalty[:, None, None] * identity
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        decrease = (step * gradient).sum(axis=1)
        if (decrease <= 1e-14 * (1 + np.abs(value))).all():
            break
        size, moved, after = np.ones(len(sums)), estimate, value
        for _ in range(40):
            moved = estimate - size[:, None] * step
            after = _objective(vectors, plays, target, penalty, moved)
            worse = after > value - 0.1 * size * decrease + 1e-12 * (1 + np.abs(value))
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        estimate, value = moved, after
    return estimate


def _objective(vectors: Array, plays: Array, target: Array, penalty: Array, estimate: Array) -> Array:
    """Return the function to minimise, a run each."""
    scores = estimate @ vectors.T
    return np.logaddexp(0.0, scores) @ plays - (target * estimate).sum(axis=1) + penalty * (estimate**2).sum(axis=1) / 2
