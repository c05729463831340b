"""The first users of an audit, whose releases lie furthest apart within the bounds, and the mu that they attain."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms._linear_rl.values import at_cosine
from algorithms.lsvi_ucb.noise import StepNoise
from algorithms.lsvi_ucb.plan import BatchPlan
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchCanary:
    """One user, whose features are their own business.

    Shape: features (H, d), targets (B, H): every release looks at their next state again, with values of its own.
    `batch` is the number of the batch, from 0, that they come first in.
    """

    features: Array
    targets: Array
    batch: int = 0


def canaries(plan: BatchPlan, dimension: int) -> tuple[BatchCanary, BatchCanary]:
    """Return two first users of full norm and largest targets, at the angle where all releases move furthest."""
    targets = np.tile(plan.bounds, (plan.releases, 1))
    first, second = (np.tile(features, (len(plan.noises), 1)) for features in at_cosine(worst_cosine(plan), dimension))
    return BatchCanary(features=first, targets=targets), BatchCanary(features=second, targets=targets)


def weights_of(plan: BatchPlan) -> tuple[float, float]:
    """Return (a, b): squared nodes and squared targets of a record, in units of the noise, over all releases.

    A pair at cosine c moves mu^2 = 2 (1 - c^2) a + 2 (1 - c) b.
    """
    nodes = plan.horizon.bit_length()
    a = sum(nodes * _mu(noise.matrix) ** 2 for noise in plan.noises)
    b = sum(
        plan.releases * (bound / _vector_deviation(noise)) ** 2
        for noise, bound in zip(plan.noises, plan.bounds, strict=True)
    )
    return a, b


def worst_cosine(plan: BatchPlan) -> float:
    """Return the cosine at which matrices and vectors together move furthest: -b / (2a), at least -1."""
    a, b = weights_of(plan)
    return -min(1.0, b / (2 * a)) if a > 0 else -1.0


def _mu(mechanism: Any) -> float:
    """Return 1 over the deviation of matrix noise in its worst direction; 0 where noise is not Gaussian."""
    loss = mechanism.loss()
    return float(loss.mu / mechanism.l2_sensitivity) if isinstance(loss, GaussianLoss) else 0.0


def _vector_deviation(noise: StepNoise) -> float:
    """Return the deviation of the vector noise; infinite where it is not Gaussian."""
    return float(getattr(noise.vector, "stddev", math.inf))
