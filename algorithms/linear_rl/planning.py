"""Optimistic values from released statistics: post-processing, on the user's device.

Runs come first; H steps are planned backwards, all runs at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from algorithms.problems.finite_mdp import FiniteMdp
from algorithms.problems.linear_mixture import LinearMixture
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """A problem laid out for planning. Shape: `kernel` (S, S * A * d), next states first."""

    mdp: FiniteMdp
    kernel: Array
    dimension: int

    @classmethod
    def of(cls, problem: LinearMixture) -> "Domain":
        """Return the layout of a problem."""
        kernel = np.ascontiguousarray(problem.features.transpose(3, 1, 2, 0).reshape(problem.features.shape[3], -1))
        return cls(mdp=problem.mdp, kernel=kernel, dimension=problem.dimension)

    def moments(self, values: Array) -> Array:
        """Return the features of `values` (n_runs, S) at every cell. Shape: (n_runs, S * A, d)."""
        moments: Array = (values @ self.kernel).reshape(len(values), -1, self.dimension)
        return moments

    def moments_at(self, cells: Array, values: Array) -> Array:
        """Return the features of `values` (n_runs, S) at one cell a run, (n_runs,). Shape: (n_runs, d)."""
        rows = self.kernel.reshape(len(self.kernel), -1, self.dimension)[:, cells]
        moments: Array = np.einsum("tnd,nt->nd", rows, values)
        return moments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regressed:
    """Solutions of all regressions of an episode. Shape: inverses (n_runs, G, d, d), weights (n_runs, G, d)."""

    inverses: Array
    weights: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Planned:
    """What an episode is played with.

    Shape: `values` (n_runs, H + 1, S), 0 after the last step; `actions` (n_runs, H, S, A), optimistic values of
    actions; `features` (n_runs, S * A, d) for each step but the last.
    """

    values: Array
    actions: Array
    features: tuple[Array, ...]
    regressed: Regressed
    radii: tuple[float, ...]

    def policies(self) -> Array:
        """Return the probability of every action, ties broken uniformly. Shape: (n_runs, H, S, A)."""
        best = (self.actions == self.values[:, :-1, :, None]).astype(float)
        shares: Array = best / (best @ np.ones(best.shape[-1]))[..., None]
        return shares


Clip = Callable[[Array, float], Array]
"""clip(values, top) -> values within [0, top]"""


def solve(statistics: Array, ridge: float, shifts: Array, floor: float) -> Regressed:
    """Return regressions from noisy sums, ridge and shift: eigenvalues below `floor` are raised to it.

    Shape: statistics (n_runs, G, d, d + 1), shifts (G,). Post-processing: it reads the released matrix only.
    """
    matrix = statistics[..., :-1]
    dimension = matrix.shape[-1]
    diagonal = (ridge + shifts)[:, None, None] * np.eye(dimension)
    symmetric = (matrix + np.swapaxes(matrix, -1, -2)) / 2 + diagonal
    inverses = floored_inverses(symmetric, floor)
    return Regressed(inverses=inverses, weights=(inverses @ statistics[..., -1:])[..., 0])


def floored_inverses(matrices: Array, floor: float) -> Array:
    """Return the inverses of symmetric matrices (..., d, d) whose eigenvalues below `floor` are raised to it.

    Where a Cholesky factor of all matrices less the floor exists, nothing is raised, and spectra need not be computed.
    """
    try:
        np.linalg.cholesky(matrices - floor * np.eye(matrices.shape[-1]))
    except np.linalg.LinAlgError:
        spectrum, axes = np.linalg.eigh(matrices)
        scaled = axes / np.maximum(spectrum, floor)[..., None, :]
        raised: Array = scaled @ np.swapaxes(axes, -1, -2)
        return raised
    return np.linalg.inv(matrices)


def clip_both(values: Array, top: float) -> Array:
    """Return values in [0, top]: optimism survives, since no true value is negative, and sensitivities hold always."""
    return np.clip(values, 0.0, top)


def bonus_of(features: Array, inverses: Array) -> Array:
    """Return sqrt(x^T inverse x). Shape: features (n_runs, n, d), inverses (n_runs, d, d), the result (n_runs, n)."""
    norms: Array = np.sqrt(np.maximum(np.einsum("rnd,rnd->rn", features @ inverses, features), 0.0))
    return norms


def linear(features: Array, weights: Array) -> Array:
    """Return x^T w for features (n_runs, n, d) and weights (n_runs, d). Shape: (n_runs, n)."""
    return (features @ weights[..., None])[..., 0]


def largest(values: Array) -> Array:
    """Return the maximum over the last axis; by columns, since that axis is short."""
    return reduce(np.maximum, np.moveaxis(values, -1, 0))


def plan_values(
    domain: Domain, regressed: Regressed, radii: tuple[float, ...], ranges: tuple[float, ...], clip: Clip = clip_both
) -> Planned:
    """Return the optimistic values of Algorithm 1, or of Algorithm 3, which plans with its first moments.

    A step's value is clipped to [0, ranges[step]]. With two kinds of regressions the first moments are at the even
    places, and their radius is "hat".
    """
    mdp = domain.mdp
    steps, states, actions = mdp.shape
    n_runs, kinds = len(regressed.weights), 1 if len(radii) == 1 else 2
    radius = radii[kinds - 1]
    values = np.zeros((n_runs, steps + 1, states))
    optimistic = np.empty((n_runs, steps, states, actions))
    features: list[Array] = []
    for h in reversed(range(steps)):
        estimate = np.broadcast_to(mdp.rewards[h], optimistic.shape[:1] + mdp.rewards[h].shape)
        if h + 1 < steps:
            x = domain.moments(values[:, h + 1])
            features.insert(0, x)
            gained = linear(x, regressed.weights[:, kinds * h])
            gained = gained + radius * bonus_of(x, regressed.inverses[:, kinds * h])
            estimate = estimate + gained.reshape(n_runs, states, actions)
        optimistic[:, h] = clip(estimate, ranges[h])
        values[:, h] = largest(optimistic[:, h])
    return Planned(values=values, actions=optimistic, features=tuple(features), regressed=regressed, radii=radii)
