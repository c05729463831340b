"""Audits of LSVI-UCB: the real code on two first users, scored by the likelihood ratio of all matrices and vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms._episodes import nodes_holding, stacked
from algorithms.lsvi_ucb.canaries import BatchCanary, canaries
from algorithms.lsvi_ucb.noise import StepNoise
from algorithms.lsvi_ucb.plan import BatchPlan, plan_of
from algorithms.lsvi_ucb.planning import BatchDomain
from algorithms.lsvi_ucb.run import run_batches
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.problems.linear_mdp import LinearMdp, low_rank
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array

_LONGEST, _SHORT = 64, 12
"""Episodes that an audit of the switching rule plays: of everything released, or of actions."""


def cases_of(settings: LsviUcbSettings, problem: LinearMdp | None = None) -> tuple[AuditCase, ...]:
    """Return the audits of everything released, and of what later users are told; none where nothing is released."""
    plan = plan_of(settings)
    if not plan.noisy:
        return ()
    domain = BatchDomain.of(problem if problem is not None else audit_problem(settings))
    pair = canaries(plan, settings.dimension)
    return billboard_case(plan, domain, pair), actions_case(plan, domain, pair)


def audit_problem(settings: LsviUcbSettings) -> LinearMdp:
    """Return a small problem of the settings' steps and dimension for the other users to act in."""
    return low_rank(states=3, actions=2, steps=settings.steps, dimension=settings.dimension)


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


def actions_case(plan: BatchPlan, domain: BatchDomain, pair: tuple[BatchCanary, BatchCanary]) -> AuditCase:
    """Return the audit of joint privacy in its literal form: what later users are told to do, and when it changes."""
    short = replace(plan, episodes=min(plan.episodes, _SHORT)) if plan.switching else plan

    def run(data: BatchCanary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        batches = list(run_batches(short, domain, streams, Recorder(streams.noise), n_runs, data))[1:]
        told = [batch.policy.actions[:, 0, 0].argmax(axis=1) for batch in batches]
        return {"actions": np.stack(told, axis=1), "switches": np.stack([b.released for b in batches], axis=1)}

    return AuditCase(
        name="lsvi_ucb actions",
        view="actions",
        description="The first actions that users after the first batch are told to play, and when a policy changes.",
        neighbours=pair,
        relation="replace_one",
        run=run,
    )


def billboard(
    plan: BatchPlan, domain: BatchDomain, canary: BatchCanary, streams: Streams, n_runs: int
) -> dict[str, Array]:
    """Return all that is released, with what the other users put into it, which the adversary knows.

    Shape: `matrices` (n_runs, N, H, d, d), `vectors` (n_runs, N, H, d), the same for the others' share, and `released`
    (n_runs, N), whether vectors came out.
    """
    batches = list(run_batches(plan, domain, streams, Recorder(streams.noise), n_runs, canary))
    with_releases = batches if plan.switching else batches[:-1]
    return stacked(with_releases, "matrices", "vectors", "own_matrices", "own_vectors", "released")


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
                for node in nodes_holding(matrices[:, :, h]):
                    total = total + side * _summed(noise.matrix.log_density(node, np.outer(x, x)))
                density = noise.vector.log_density(vectors[:, :, h], y * x).sum(axis=-1)
                total = total + side * np.where(view["released"], density, 0.0).sum(axis=1)
        return total


def _summed(density: Array) -> Array:
    """Return one log density a run, whether the mechanism sums over its items or not."""
    return density if density.ndim == 1 else density.reshape(len(density), -1).sum(axis=1)
