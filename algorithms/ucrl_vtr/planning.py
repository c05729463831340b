"""Optimistic values from released statistics: post-processing, on the user's device.

Runs come first; H steps are planned backwards, all runs at once.
"""

from dataclasses import dataclass

import numpy as np

from algorithms._linear_rl.least_squares import bonus_of, floored_inverses, linear, symmetric
from algorithms._linear_rl.settings import LinearRlSettings, require_fit
from algorithms._linear_rl.values import Clip, clip_both, greedy_policies, largest
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
        return (values @ self.kernel).reshape(len(values), -1, self.dimension)

    def moments_at(self, cells: Array, values: Array) -> Array:
        """Return the features of `values` (n_runs, S) at one cell a run, (n_runs,). Shape: (n_runs, d)."""
        rows = self.kernel.reshape(len(self.kernel), -1, self.dimension)[:, cells]
        return np.einsum("tnd,nt->nd", rows, values)


def domain_of(settings: LinearRlSettings, problem: LinearMixture) -> Domain:
    """Return the problem laid out for planning.

    Raises: ValueError: a problem of another kind, or of other steps or dimension than the settings'.
    """
    require_fit(problem, LinearMixture, "a linear mixture, such as random_mixture", settings)
    return Domain.of(problem)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regressed:
    """The solutions of all regressions of an episode. Shape: inverses (n_runs, G, d, d), weights (n_runs, G, d)."""

    inverses: Array
    weights: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Planned:
    """The optimistic values, features and regressions that an episode is played with.

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
        return greedy_policies(self.values, self.actions)


def solve(statistics: Array, ridge: float, shifts: Array, floor: float) -> Regressed:
    """Return regressions from noisy sums, ridge and shift: eigenvalues below `floor` are raised to it.

    Shape: statistics (n_runs, G, d, d + 1), shifts (G,). Post-processing: it reads the released matrix only.
    """
    matrix = statistics[..., :-1]
    dimension = matrix.shape[-1]
    diagonal = (ridge + shifts)[:, None, None] * np.eye(dimension)
    inverses = floored_inverses(symmetric(matrix) + diagonal, floor)
    return Regressed(inverses=inverses, weights=(inverses @ statistics[..., -1:])[..., 0])


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
