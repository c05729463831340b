"""Audits of LSVI-UCB: the real code on two first users, and the likelihood ratio of all matrices and vectors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.linear_rl.batch_noise import StepNoise
from algorithms.linear_rl.batch_plan import BatchCanary, BatchDomain, BatchPlan, plan_of
from algorithms.linear_rl.batches import run_batches
from algorithms.problems.linear_mdp import LinearMdp, low_rank
from dpaudit import AuditCase, GaussianLoss, Recorder, Streams
from dpaudit.model.mechanism import Array

if TYPE_CHECKING:
    from algorithms.linear_rl.lsvi_ucb import LsviUcb

_LONGEST = 64
"""Episodes that an audit of the switching rule plays."""


def cases_of(config: "LsviUcb", problem: LinearMdp | None) -> tuple[AuditCase, ...]:
    """Return the audit of everything released; none where nothing is."""
    plan = plan_of(config)
    if not plan.noisy:
        return ()
    held = problem if problem is not None else audit_problem(config)
    return (billboard_case(plan, BatchDomain.of(held), canaries(plan, config.dimension)),)


def audit_problem(config: "LsviUcb") -> LinearMdp:
    """Return a small problem of the config's steps and dimension for the other users to act in."""
    return low_rank(states=3, actions=2, steps=config.steps, dimension=config.dimension)


def billboard_case(plan: BatchPlan, domain: BatchDomain, pair: tuple[BatchCanary, BatchCanary]) -> AuditCase:
    """Return the white-box audit: every matrix and vector released, scored by its likelihood ratio."""
    short = replace(plan, episodes=min(plan.episodes, _LONGEST)) if plan.switching else plan

    def run(data: BatchCanary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return billboard(short, domain, data, Streams.spawn(rng), n_runs)

    return AuditCase(
        name="lsvi_ucb billboard",
        view="billboard",
        description="All matrices and vectors released; the first user's features are one of two.",
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=BatchRatio(noises=plan.noises, pair=pair),
        gaussian=all(isinstance(n.matrix.loss(), GaussianLoss) for n in plan.noises),
    )


def billboard(
    plan: BatchPlan, domain: BatchDomain, canary: BatchCanary, streams: Streams, n_runs: int
) -> dict[str, Array]:
    """Return all that is released, with what the other users put into it, which the adversary knows.

    Shape: `matrices` (n_runs, N, H, d, d), `vectors` (n_runs, N, H, d), the same for the others' share, and `released`
    (n_runs, N), whether vectors came out.
    """
    held: dict[str, list[Array]] = {}
    for batch in run_batches(plan, domain, streams, Recorder(streams.noise), n_runs, canary):
        for name in ("matrices", "vectors", "own_matrices", "own_vectors", "released"):
            held.setdefault(name, []).append(getattr(batch, name))
    kept = slice(None) if plan.switching else slice(-1)
    return {name: np.stack(parts[kept], axis=1) for name, parts in held.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchRatio:
    """The log likelihood ratio of the nodes that hold the first user, and of all vectors."""

    noises: tuple[StepNoise, ...]
    pair: tuple[BatchCanary, BatchCanary]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape: (n_runs,)."""
        matrices = view["matrices"] - view["own_matrices"]
        vectors = view["vectors"] - view["own_vectors"]
        turns = np.maximum(np.cumsum(view["released"], axis=1) - 1, 0)
        total: Any = 0.0
        for h, noise in enumerate(self.noises):
            for side, canary in ((-1.0, self.pair[0]), (1.0, self.pair[1])):
                x, y = canary.features[h], canary.targets[turns, h][..., None]
                for node in _first_nodes(matrices[:, :, h]):
                    total = total + side * _summed(noise.matrix.log_density(node, np.outer(x, x)))
                density = noise.vector.log_density(vectors[:, :, h], y * x).sum(axis=-1)
                total = total + side * np.where(view["released"], density, 0.0).sum(axis=1)
        result: Array = total
        return result


def _first_nodes(prefixes: Array) -> list[Array]:
    """Return the nodes that hold the first leaf: prefixes 1, 2, 4, ..., each a node. Shape: (n_runs, d, d) each."""
    length = prefixes.shape[1]
    return [prefixes[:, 2**level - 1] for level in range(length.bit_length())]


def _summed(density: Array) -> Array:
    """Return one log density a run, whether the mechanism sums over its items or not."""
    return density if density.ndim == 1 else density.reshape(len(density), -1).sum(axis=1)


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


def predicted_mu(plan: BatchPlan, cosine: float | None = None) -> float:
    """Return the mu at which the likelihood ratio separates two first users at `cosine`, the worst by default."""
    a, b = weights_of(plan)
    c = worst_cosine(plan) if cosine is None else cosine
    return math.sqrt(2 * (1 - c**2) * a + 2 * (1 - c) * b)


def _mu(mechanism: Any) -> float:
    """Return 1 over the deviation of matrix noise in its worst direction; 0 where noise is not Gaussian."""
    loss = mechanism.loss()
    return float(loss.mu / mechanism.l2_sensitivity) if isinstance(loss, GaussianLoss) else 0.0


def _vector_deviation(noise: StepNoise) -> float:
    """Return the deviation of the vector noise; infinite where it is not Gaussian."""
    return float(getattr(noise.vector, "stddev", math.inf))
