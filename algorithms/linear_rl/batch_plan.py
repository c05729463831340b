"""What LSVI-UCB settles before any data is seen: schedule, noise, ranges, shift, radius, and its steps."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.linear_rl.batch_noise import StepNoise, noises_of, releases_of, schedule_of, target_bounds, tree_horizon
from algorithms.linear_rl.confidence import matrix_spread, vector_spread
from algorithms.linear_rl.mixture_noise import value_ranges
from algorithms.linear_rl.planning import Clip, bonus_of, clip_both, floored_inverses, largest, linear
from algorithms.linear_rl.printed_batches import BatchScales, Schedule, batch_scales, tight_scales
from algorithms.problems.finite_mdp import FiniteMdp
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit import Recorder
from dpaudit.model.mechanism import Array
from mechanisms import TreeAggregation

if TYPE_CHECKING:
    from algorithms.linear_rl.lsvi_ucb import LsviUcb

Sums = Callable[[Array], Array]
"""sums(element) -> the noisy sum of all elements so far"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchDomain:
    """A linear process laid out for planning. Shape: `features` (S * A, d)."""

    mdp: FiniteMdp
    features: Array

    @classmethod
    def of(cls, problem: LinearMdp) -> "BatchDomain":
        """Return the layout of a problem."""
        return cls(mdp=problem.mdp, features=problem.features.reshape(-1, problem.dimension))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchCanary:
    """The first user, whose features are their own business.

    Shape: features (H, d), targets (B, H): every release looks at their next state again, with values of its own.
    """

    features: Array
    targets: Array


@dataclass(slots=True, kw_only=True)
class MatrixTree:
    """The noisy prefix sums of one step's Gram matrices, fed element by element.

    The trace follows the first user: the nodes that end at elements 1, 2, 4, and so on.
    """

    noise: StepNoise
    recorder: Recorder
    horizon: int
    _counter: Any = None
    _sum: Any = 0.0

    def __call__(self, element: Array) -> Array:
        """Return the noisy sum of all elements so far. Shape: (n_runs, d, d) in and out."""
        if self._counter is None:
            tree = TreeAggregation(horizon=self.horizon, leaf=self.noise.matrix)
            self._counter = tree.counter(element.shape, self.recorder.rng)
        released: Array = self._counter.step(element)
        self._sum = self._sum + element
        if self._counter.length & (self._counter.length - 1) == 0:
            self.recorder.record(self.noise.matrix_label, self.noise.matrix, self._sum, released)
        return released


def open_tree(noise: StepNoise, recorder: Recorder, horizon: int) -> Sums:
    """Return the trees of the joint model."""
    return MatrixTree(noise=noise, recorder=recorder, horizon=horizon)


def draw_vectors(noise: StepNoise, recorder: Recorder, shape: tuple[int, ...], times: int) -> Array:
    """Return the noise of all of one step's target vectors, drawn ahead. Shape: (times, *shape)."""
    draws = [recorder.release(noise.vector_label, noise.vector, np.zeros(shape)) for _ in range(times)]
    return np.stack(draws) if draws else np.zeros((0, *shape))


def noisy_only(noisy: Array, exact: Array) -> Array:
    """Return what the switching rule looks at: the noisy matrices, which everybody sees, never the exact ones."""
    return noisy


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """A calibrated LSVI-UCB. Its steps are fields, so that a test can replace one by a broken copy."""

    episodes: int
    schedule: Schedule
    switching: bool
    releases: int
    horizon: int
    noises: tuple[StepNoise, ...]
    bounds: tuple[float, ...]
    ranges: tuple[float, ...]
    ridge: float
    shift: float
    radius: float
    open: Callable[[StepNoise, Recorder, int], Sums] = open_tree
    draw: Callable[[StepNoise, Recorder, tuple[int, ...], int], Array] = draw_vectors
    clip: Clip = clip_both
    rule_reads: Callable[[Array, Array], Array] = noisy_only

    @property
    def noisy(self) -> bool:
        """Whether anything is released with noise."""
        return bool(self.noises)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchPolicy:
    """Optimistic values. Shape: actions (n_runs, H, S, A), values of states (n_runs, H + 1, S)."""

    values: Array
    actions: Array

    def policies(self) -> Array:
        """Return the probability of every action, ties broken uniformly. Shape: (n_runs, H, S, A)."""
        best = (self.actions == self.values[:, :-1, :, None]).astype(float)
        shares: Array = best / (best @ np.ones(best.shape[-1]))[..., None]
        return shares


def inverses_of(matrices: Array, ridge: float, shift: float) -> Array:
    """Return inverses of noisy Gram matrices with ridge and shift, eigenvalues below the ridge raised to it.

    Post-processing: it reads the released matrices only. Shape: (..., d, d) in and out.
    """
    symmetric = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    return floored_inverses(symmetric + (ridge + shift) * np.eye(symmetric.shape[-1]), ridge)


def plan_batch(
    plan: BatchPlan, domain: BatchDomain, inverses: Array, vectors: Callable[[int, Array], Array]
) -> BatchPolicy:
    """Return the optimistic values of Algorithm 2, backwards over steps.

    `vectors(h, values)` answers with step h's released target vector (n_runs, d), for the values (n_runs, S) after it:
    the whole history is looked at again with new values, which is why every release needs noise of its own.
    """
    steps, states, actions = domain.mdp.shape
    n_runs = len(inverses)
    values = np.zeros((n_runs, steps + 1, states))
    optimistic = np.empty((n_runs, steps, states, actions))
    cells = np.broadcast_to(domain.features, (n_runs, *domain.features.shape))
    for h in reversed(range(steps)):
        weights = (inverses[:, h] @ vectors(h, values[:, h + 1])[..., None])[..., 0]
        estimate = linear(cells, weights) + plan.radius * bonus_of(cells, inverses[:, h])
        optimistic[:, h] = plan.clip(estimate.reshape(n_runs, states, actions), plan.ranges[h])
        values[:, h] = largest(optimistic[:, h])
    return BatchPolicy(values=values, actions=optimistic)


def plan_of(config: "LsviUcb", *, noisy: bool = True) -> BatchPlan:
    """Return the calibrated plan, or the one without noise, where shift is 0 and the radius that of no noise."""
    noises = noises_of(config) if noisy and releases_of(config) else ()
    scales = _scales(config, noises)
    return BatchPlan(
        episodes=config.episodes,
        schedule=schedule_of(config),
        switching=config.schedule == "switching",
        releases=releases_of(config),
        horizon=tree_horizon(config),
        noises=noises,
        bounds=target_bounds(config),
        ranges=value_ranges(config.steps, config.clipping),
        ridge=float(config.dimension),
        shift=config.shift_scale * (scales.deviation + scales.extra),
        radius=config.bonus_scale * scales.radius,
    )


def _scales(config: "LsviUcb", noises: tuple[StepNoise, ...]) -> BatchScales:
    """Return shift and radius: the printed ones with printed noise, else by the noise's own operator norm."""
    matrix = matrix_spread(noises[0].matrix) if noises else 0.0
    vector = vector_spread(noises[0].vector) if noises else 0.0
    shape = {"episodes": config.episodes, "steps": config.steps, "d": config.dimension}
    if config.calibration == "paper" and noises:
        planned = schedule_of(config).planned
        return batch_scales(matrix, vector, B=planned, fail_prob=config.fail_prob, **shape)
    nodes = max(tree_horizon(config).bit_length(), 1)
    return tight_scales(matrix, vector, nodes=nodes, fail_prob=config.fail_prob, **shape)


def logdets(matrices: Array, plan: BatchPlan) -> Array:
    """Return log determinants of Gram matrices with ridge and shift, floored. Shape: (..., d, d) to (...)."""
    symmetric = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    spectrum = np.linalg.eigvalsh(symmetric + (plan.ridge + plan.shift) * np.eye(symmetric.shape[-1]))
    total: Array = np.log(np.maximum(spectrum, plan.ridge)).sum(axis=-1)
    return total


DOUBLING = math.log(2.0)
"""A determinant that has doubled asks for a new policy."""
