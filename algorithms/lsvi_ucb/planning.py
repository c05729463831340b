"""Optimistic values of Algorithm 2 from released statistics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._linear_rl.least_squares import bonus_of, floored_inverses, linear, symmetric
from algorithms._linear_rl.settings import Shaped, require_fit
from algorithms._linear_rl.values import Clip, clip_both, greedy_policies, largest
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.problems.finite_mdp import FiniteMdp
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchDomain:
    """A linear process laid out for planning. Shape: `features` (S * A, d)."""

    mdp: FiniteMdp
    features: Array

    @classmethod
    def of(cls, problem: LinearMdp) -> "BatchDomain":
        """Return the layout of a problem."""
        return cls(mdp=problem.mdp, features=problem.features.reshape(-1, problem.dimension))


def domain_of(settings: Shaped, problem: LinearMdp) -> BatchDomain:
    """Return the problem laid out for planning.

    Raises: ValueError: a problem of another kind, or of other steps or dimension than the settings'.
    """
    require_fit(problem, LinearMdp, "a linear process, such as low_rank", settings)
    return BatchDomain.of(problem)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchPolicy:
    """Optimistic values. Shape: actions (n_runs, H, S, A), values of states (n_runs, H + 1, S)."""

    values: Array
    actions: Array

    def policies(self) -> Array:
        """Return the probability of every action, ties broken uniformly. Shape: (n_runs, H, S, A)."""
        return greedy_policies(self.values, self.actions)


def inverses_of(matrices: Array, ridge: float, shift: float) -> Array:
    """Return inverses of noisy Gram matrices with ridge and shift, eigenvalues below the ridge raised to it.

    Post-processing: it reads the released matrices only. Shape: (..., d, d) in and out.
    """
    return floored_inverses(symmetric(matrices) + (ridge + shift) * np.eye(matrices.shape[-1]), ridge)


Solved = Callable[[int, Array], tuple[Array, Array]]
"""solved(h, values after step h) -> the inverse matrices (n_runs, d, d) and the weights (n_runs, d) of step h."""


def plan_backwards(
    domain: BatchDomain, n_runs: int, solved: Solved, radius: float, ranges: tuple[float, ...], clip: Clip = clip_both
) -> BatchPolicy:
    """Return the optimistic values of Algorithm 2, backwards over steps; step h's are clipped to [0, ranges[h]]."""
    steps, states, actions = domain.mdp.shape
    values = np.zeros((n_runs, steps + 1, states))
    optimistic = np.empty((n_runs, steps, states, actions))
    cells = np.broadcast_to(domain.features, (n_runs, *domain.features.shape))
    for h in reversed(range(steps)):
        inverses, weights = solved(h, values[:, h + 1])
        estimate = linear(cells, weights) + radius * bonus_of(cells, inverses)
        optimistic[:, h] = clip(estimate.reshape(n_runs, states, actions), ranges[h])
        values[:, h] = largest(optimistic[:, h])
    return BatchPolicy(values=values, actions=optimistic)


def plan_batch(
    plan: BatchPlan, domain: BatchDomain, inverses: Array, vectors: Callable[[int, Array], Array]
) -> BatchPolicy:
    """Return the optimistic values that follow from released statistics; all steps' `inverses` are there at once.

    `vectors(h, values)` answers with step h's released target vector (n_runs, d), for the values (n_runs, S) after it:
    the whole history is looked at again with new values, which is why every release needs noise of its own.
    """

    def solved(h: int, values: Array) -> tuple[Array, Array]:
        return inverses[:, h], (inverses[:, h] @ vectors(h, values)[..., None])[..., 0]

    return plan_backwards(domain, len(inverses), solved, plan.radius, plan.ranges, plan.clip)
