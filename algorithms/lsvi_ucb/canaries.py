"""The users of an audit, whose releases lie furthest apart within the bounds, and the mu that they attain.

A canary's features are their own; a path is that of a user who is counted as all others are.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.lsvi_ucb.noise import StepNoise
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.lsvi_ucb.planning import BatchDomain
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
    first, second = np.zeros((2, len(plan.noises), dimension))
    cosine = worst_cosine(plan) if dimension > 1 else -1.0
    first[:, 0], second[:, 0] = 1.0, cosine
    if dimension > 1:
        second[:, 1] = math.sqrt(1 - cosine**2)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UserPath:
    """The transitions of one user of one batch, which counts from 0. Shape: counts (H, S, A, S), one 1 a step."""

    counts: Array
    batch: int = 0

    def entered(self, counts: Array, number: int) -> Array:
        """Return the transitions of batch `number` with this user's, if the user is in it. Shape: (n_runs, ...)."""
        return counts + self.counts if number == self.batch else counts


def paths(plan: BatchPlan, domain: BatchDomain) -> tuple[UserPath, UserPath]:
    """Return two users whose cells lie as far apart at every step as the problem's features allow.

    Distance is that of matrices and of vectors with the largest targets, each over its sensitivity.
    """
    steps, states, actions = domain.mdp.shape
    cells = np.array([_farthest(plan, domain, h) for h in range(steps)])
    found: list[UserPath] = []
    for side in (0, 1):
        counts = np.zeros((steps, states, actions, states))
        at, chosen = np.divmod(cells[:, side], actions)
        counts[np.arange(steps), at, chosen, np.append(at[1:], at[-1])] = 1.0
        found.append(UserPath(counts=counts))
    return found[0], found[1]


def _farthest(plan: BatchPlan, domain: BatchDomain, step: int) -> tuple[int, int]:
    """Return the two cells of a step whose contributions lie furthest apart."""
    x, bound = domain.features, plan.bounds[step]
    targets = np.minimum(domain.mdp.rewards[step].ravel() + bound - 1, bound)
    vectors = targets[:, None] * x / (2 * bound)
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1) / np.sqrt(2)
    both = np.concatenate([vectors, products], axis=1)
    apart = np.linalg.norm(both[:, None] - both[None], axis=2)
    one, other = np.unravel_index(int(apart.argmax()), apart.shape)
    return int(one), int(other)
