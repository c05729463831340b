"""LSVI-UCB, all runs in lock-step: Algorithm 2 batch by batch, and with a switching rule that reads noisy matrices.

Users of one policy are exchangeable and their paths Markov, so a batch is drawn as counts of transitions at every
step: exact in law for everything the statistics read, and its cost does not grow with its length.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms.linear_rl.batch_plan import (
    DOUBLING,
    BatchCanary,
    BatchDomain,
    BatchPlan,
    BatchPolicy,
    inverses_of,
    logdets,
    plan_batch,
)
from dpaudit import Recorder, Streams
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Episodes under one policy a run, and what was released after them (nothing after the last).

    Shape: `policy` by run; `matrices` (n_runs, H, d, d) noisy sums, `vectors` (n_runs, H, d); `own_matrices` and
    `own_vectors` what all users but the canary put into them; `released` (n_runs,) whether vectors came out.
    """

    length: int
    policy: BatchPolicy
    matrices: Array
    vectors: Array
    own_matrices: Array
    own_vectors: Array
    released: Array
    target_ratio: float


def transitions(domain: BatchDomain, policy: BatchPolicy, users: int, rng: np.random.Generator) -> Array:
    """Return how often every (state, action, next state) was met at each step. Shape: (n_runs, H, S, A, S)."""
    steps, states, actions = domain.mdp.shape
    shares = policy.policies()
    n_runs = len(shares)
    counts = np.zeros((n_runs, steps, states, actions, states))
    arrived = rng.multinomial(users, domain.mdp.initial, size=n_runs)
    for h in range(steps):
        chosen = rng.multinomial(arrived, shares[:, h])
        counts[:, h] = rng.multinomial(chosen, domain.mdp.transitions[h])
        arrived = counts[:, h].sum(axis=(1, 2)).astype(np.int64)
    return counts


class Learner:
    """The statistics of all runs: counts so far, noisy matrices, and the noise of the vectors, drawn ahead."""

    def __init__(
        self, plan: BatchPlan, domain: BatchDomain, recorder: Recorder, n_runs: int, canary: BatchCanary | None
    ) -> None:
        steps, states, actions = domain.mdp.shape
        self.plan, self.domain, self.canary = plan, domain, canary
        d = domain.features.shape[1]
        self.counts = np.zeros((n_runs, steps, states, actions, states))
        self.products = domain.features[:, :, None] * domain.features[:, None, :]
        self.sums = [plan.open(noise, recorder, plan.horizon) for noise in plan.noises]
        self.noise = [plan.draw(noise, recorder, (n_runs, d), plan.releases) for noise in plan.noises]
        self.matrices = np.zeros((n_runs, steps, d, d))
        self.own_matrices = np.zeros((n_runs, steps, d, d))
        self.exact = np.zeros((n_runs, steps, d, d))
        self.target_ratio = 0.0
        self.entered = False

    def add(self, counts: Array) -> None:
        """Take in one leaf of the trees: the transitions of a batch, and with the first one the canary's."""
        self.counts += counts
        cells = counts.sum(axis=4).reshape(*counts.shape[:2], -1)
        element = np.tensordot(cells, self.products, axes=(2, 0))
        self.own_matrices = self.own_matrices + element
        if self.canary is not None and not self.entered:
            element = element + self._canary_matrices()
        self.entered = True
        self.exact = self.exact + element
        if self.plan.noisy:
            self.matrices = np.stack([add(element[:, h]) for h, add in enumerate(self.sums)], axis=1)
        else:
            self.matrices = self.matrices + element

    def learn(self, runs: Array, turns: Array) -> tuple[BatchPolicy, Array, Array]:
        """Return the next policy of `runs`, each at its own turn, with their vectors: noisy, and others' exact ones."""
        plan, domain = self.plan, self.domain
        vectors = np.zeros((len(runs), *self.matrices.shape[1:3]))
        others = np.zeros_like(vectors)

        def released(h: int, values: Array) -> Array:
            targets = domain.mdp.rewards[h][None, :, :, None] + values[:, None, None, :]
            self.target_ratio = max(self.target_ratio, float(targets.max()) / plan.bounds[h])
            clipped = np.clip(targets, 0.0, plan.bounds[h])
            weights = np.einsum(
                "nsat,nsat->nsa", self.counts[runs, h], np.broadcast_to(clipped, self.counts[runs, h].shape)
            )
            others[:, h] = weights.reshape(len(runs), -1) @ domain.features
            vectors[:, h] = others[:, h]
            if self.canary is not None:
                y = np.clip(self.canary.targets[turns, h], 0.0, plan.bounds[h])
                vectors[:, h] += y[:, None] * _bounded(self.canary.features[h])
            if plan.noisy:
                vectors[:, h] += self.noise[h][turns, runs]
            return vectors[:, h]

        inverses = inverses_of(self.matrices[runs], plan.ridge, plan.shift if plan.noisy else 0.0)
        policy = plan_batch(plan, domain, inverses, released)
        return policy, vectors, others

    def _canary_matrices(self) -> Array:
        """Return the canary's outer products, of features within their bound. Shape: (H, d, d)."""
        assert self.canary is not None  # noqa: S101  # callers look first
        x = np.stack([_bounded(features) for features in self.canary.features])
        outer: Array = x[:, :, None] * x[:, None, :]
        return outer


def _bounded(features: Array) -> Array:
    """Return features of norm at most 1. Shape: (d,)."""
    return features / max(float(np.linalg.norm(features)), 1.0)


def first_policy(plan: BatchPlan, domain: BatchDomain, n_runs: int) -> BatchPolicy:
    """Return the policy before any data: ridge alone, weights 0."""
    d = domain.features.shape[1]
    inverses = np.broadcast_to(np.eye(d) / plan.ridge, (n_runs, domain.mdp.shape[0], d, d))
    return plan_batch(plan, domain, inverses, lambda h, values: np.zeros((n_runs, d)))


def run_batches(
    plan: BatchPlan,
    domain: BatchDomain,
    streams: Streams,
    recorder: Recorder,
    n_runs: int,
    canary: BatchCanary | None = None,
) -> Iterator[Batch]:
    """Yield every batch in order: those of the static schedule, or single episodes under the switching rule."""
    learner = Learner(plan, domain, recorder, n_runs, canary)
    policy = first_policy(plan, domain, n_runs)
    starts = tuple(range(plan.episodes)) if plan.switching else plan.schedule.starts
    stops = (*starts[1:], plan.episodes)
    turns = np.zeros(n_runs, dtype=np.int64)
    last = logdets(np.zeros_like(learner.matrices), replace(plan, shift=0.0))
    shape = learner.matrices.shape[:3]
    for place, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        present = stop - start - (1 if canary is not None and start == 0 else 0)
        final = place == len(starts) - 1
        counts = transitions(domain, policy, present, streams.environment)
        played, vectors, others = policy, np.zeros(shape), np.zeros(shape)
        due = np.zeros(n_runs, dtype=bool)
        if not final or plan.switching:
            learner.add(counts)
        if plan.switching and not final:
            now = logdets(
                plan.rule_reads(learner.matrices, learner.exact), plan if plan.noisy else replace(plan, shift=0.0)
            )
            due = (now > last + DOUBLING).any(axis=1) & (turns < plan.releases)
            last = np.where(due[:, None], now, last)
        elif not final:
            due[:] = True
        if due.any():
            runs = np.flatnonzero(due)
            learned, vectors[runs], others[runs] = learner.learn(runs, turns[runs])
            policy = _updated(policy, runs, learned)
            turns = turns + due
        yield Batch(
            length=stop - start,
            policy=played,
            matrices=learner.matrices,
            vectors=vectors,
            own_matrices=learner.own_matrices,
            own_vectors=others,
            released=due,
            target_ratio=learner.target_ratio,
        )


def _updated(policy: BatchPolicy, runs: Array, learned: BatchPolicy) -> BatchPolicy:
    """Return the policies with those of `runs` replaced."""
    if len(runs) == len(policy.values):
        return learned
    held: dict[str, Any] = {"values": policy.values.copy(), "actions": policy.actions.copy()}
    held["values"][runs], held["actions"][runs] = learned.values, learned.actions
    return BatchPolicy(**held)
