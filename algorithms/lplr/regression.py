"""The server's estimates after a phase: the principal component of each bin (Algorithm 4) and widths (Algorithm 5)."""

import math
from dataclasses import dataclass

import numpy as np

from algorithms.lplr.bins import Bins, Walk
from algorithms.lplr.plan import Plan
from dpaudit.model.mechanism import Array

_CONSTANTS = {"activity": (43, 48), "count": (15, 48), "mean": (118, 24), "bias": (300, 48)}
"""The printed constants kappa_1, kappa_1', kappa_2, kappa_3 as factor and argument: f ln(a d / (beta fail_prob))."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """The estimates of each bin, at every atom of it.

    Shape: `share` of users (R, A, K); `direction` (R, A, K, d); `slope`, the coefficient along it, and `energy`, the
    top eigenvalue s, (R, A, K), both in the unit of the vectors; `active` (R, A, K).
    """

    share: Array
    direction: Array
    slope: Array
    energy: Array
    active: Array


def kappa(plan: Plan, name: str) -> float:
    """Return one of the printed constants, by what it bounds.

    Source: Lemmas 4.3 and 4.4.
    """
    factor, inside = _CONSTANTS[name]
    resolution = plan.resolution
    return factor * math.log(inside * plan.dimension / (resolution.beta * resolution.fail_prob)) / plan.strength


def activity_threshold(plan: Plan, users: int) -> float:
    """Return the share of users above which a printed bin is active; above 1 no bin ever is.

    Source: Algorithm 4, line 2.
    """
    return kappa(plan, "activity") * plan.resolution.gamma**2 * (plan.dimension + 1) ** 3 / math.sqrt(users)


def principal_component(
    plan: Plan, walk: Walk, bins: Bins, layer: int, users: int, count: Array, vector: Array, matrix: Array
) -> Fit:
    """Return the fit of every bin from its noisy sums, in scaled units; count (R, A, K), vector one axis more.

    The count cancels: the slope is u . vector over the top eigenvalue of the projected matrix. An eigenvalue of 0 or
    less makes a bin inactive, where the printed algorithm divides by it.
    """
    projected = _projected(matrix, walk.path)  # Algorithm 4, lines 5 and 6
    values, vectors = np.linalg.eigh(projected)  # line 7
    top = values[..., -1]
    direction = _oriented(vectors[..., -1], walk.path)
    share = count / users
    gamma = plan.resolution.gamma
    width = gamma ** -bins.key.astype(np.float64)
    safe = np.where(top > 0, top, 1.0)
    # line 8: psi n cancels between s and u . lambda
    slope = plan.bound(layer) / width * (direction * vector).sum(axis=-1) / safe
    counted = np.where(share > 0, share, 1.0)
    energy = width**2 * safe / (counted * users)
    active = bins.inside & (top > 0) & (share > 0)
    if plan.ci == "theory":
        active = active & (share > activity_threshold(plan, users))  # lines 2 and 3
    else:
        active = active & (share > plan.quantile * plan.scale(_count_label(plan)) / math.sqrt(users))
        active = active & (top > plan.quantile * _matrix_deviation(plan, users))
        energy = np.clip(energy, width**2 / (gamma**2 * 2 * plan.dimension), width**2)
        slope = np.clip(slope, -1.0, 1.0)
    return Fit(share=share, direction=direction, slope=slope, energy=energy, active=active)


def widened(plan: Plan, walk: Walk, bins: Bins, fit: Fit, layer: int, users: int, mean: Array | None) -> Array:
    """Return how much each bin adds to the half width of its atoms; `mean` is the noisy sum of entries, or None.

    Shape: mean (R, A, K), in units of gamma^-key / sqrt(s); without one (first layer) every entry is 0.
    Source: Algorithm 5, with the root of the number of users that Corollary 8.3 proves; docs/papers/ldp_linear.md for
    the calibrated widths.
    """
    along = np.abs((fit.direction * walk.vectors).sum(axis=-1))
    root = np.sqrt(fit.energy)
    width = plan.resolution.gamma ** -bins.key.astype(np.float64)
    share = np.where(fit.active, fit.share, 1.0)
    seen = np.zeros_like(along) if mean is None else mean * width / root / (share * users)
    if plan.ci == "theory":
        mean_error = kappa(plan, "mean") * plan.resolution.gamma * plan.dimension**1.5 / (share * math.sqrt(users))
        bias = kappa(plan, "bias") * plan.resolution.gamma**2 * (plan.dimension + 1) ** 4 / (share * math.sqrt(users))
        # Algorithm 5, lines 13 and 14
        return bias + (seen + mean_error) * along / root
    noise = plan.quantile * plan.scale("width") / math.sqrt(users) * width / root / share
    average = np.zeros_like(along) if mean is None else np.maximum(0.0, seen) + noise
    bound = plan.bound(layer) * width
    vector_part = np.sqrt(users * (bound * plan.scale(_vector_label(plan))) ** 2 + users * share * bound**2)
    matrix_part = width**2 * _matrix_deviation(plan, users)
    radius = plan.quantile * (vector_part + matrix_part) / (fit.energy * share * users)
    return along * radius + average * along / root


def _matrix_deviation(plan: Plan, users: int) -> float:
    """Return the size of a phase's noise on a scaled matrix: the deviation of an entry times the root of d."""
    return plan.scale(_matrix_label(plan)) * math.sqrt(users * plan.dimension)


def _count_label(plan: Plan) -> str:
    """Return the leaf that noises counts."""
    return plan.leaves.update[0][0]


def _vector_label(plan: Plan) -> str:
    """Return the leaf that noises vectors."""
    return plan.leaves.update[min(1, len(plan.leaves.update) - 1)][0]


def _matrix_label(plan: Plan) -> str:
    """Return the leaf that noises matrices."""
    return plan.leaves.update[-1][0]


def _projected(matrix: Array, path: Array) -> Array:
    """Return P M P for P the projection away from the path's directions, symmetric to the last bit."""
    away = np.eye(matrix.shape[-1]) - path @ np.swapaxes(path, -1, -2)
    projected = away @ matrix @ away
    return (projected + np.swapaxes(projected, -1, -2)) / 2


def _oriented(direction: Array, path: Array) -> Array:
    """Return unit vectors orthogonal to the path again after rounding, with their largest entry positive."""
    orthogonal = direction - (path @ (np.swapaxes(path, -1, -2) @ direction[..., None]))[..., 0]
    norms = np.linalg.norm(orthogonal, axis=-1, keepdims=True)
    unit = np.where(norms > 1e-6, orthogonal / np.maximum(norms, 1e-6), 0.0)
    largest = np.take_along_axis(unit, np.abs(unit).argmax(axis=-1)[..., None], axis=-1)
    return np.where(largest < 0, -unit, unit)
