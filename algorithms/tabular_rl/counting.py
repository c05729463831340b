"""Noisy counts of transitions, all runs in lock-step: who adds noise, how policies follow, and what is seen."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import Recorder, Streams
from dpaudit.model.mechanism import Array
from mechanisms import Laplace, TreeAggregation

CountSums = Callable[[Array], Array]
"""sums(counts of one episode) -> noisy sums of all so far"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """A calibrated tabular learner: `labels` and one Laplace mechanism for each step's table of counts."""

    labels: tuple[str, ...]
    mechanism: Laplace
    episodes: int
    local: bool
    noise_in_sum: int
    bonus_scale: float
    fail_prob: float
    planning_period: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """One episode of all runs. Shape: values (n_runs, H + 1, S), actions (n_runs, H, S, A), counts like `released`."""

    number: int
    fresh: bool
    values: Array
    actions: Array
    counts: Array
    released: Array


def tree_sums(plan: TablePlan, recorder: Recorder, shape: tuple[int, ...]) -> CountSums:
    """Return the joint model's sums: a tree for each step, traced along the first user's nodes. Runs and steps lead."""
    tree = TreeAggregation(horizon=plan.episodes, leaf=plan.mechanism)
    counters = [tree.counter((shape[0], *shape[2:]), recorder.rng) for _ in plan.labels]
    totals: list[Any] = [0.0] * len(counters)

    def step(counts: Array) -> Array:
        answers = []
        for h, counter in enumerate(counters):
            answers.append(counter.step(counts[:, h]))
            totals[h] = totals[h] + counts[:, h]
            if counter.length & (counter.length - 1) == 0:
                recorder.record(plan.labels[h], plan.mechanism, totals[h], answers[-1])
        return np.stack(answers, axis=1)

    return step


def message_sums(plan: TablePlan, recorder: Recorder, shape: tuple[int, ...]) -> CountSums:
    """Return the local model's sums: every user's table with their own noise; the trace holds the first user's."""
    total: list[Any] = [0.0]

    def step(counts: Array) -> Array:
        first = isinstance(total[0], float)
        sent = [
            recorder.release(label, plan.mechanism, counts[:, h])
            if first
            else plan.mechanism.release(counts[:, h], recorder.rng)
            for h, label in enumerate(plan.labels)
        ]
        total[0] = total[0] + np.stack(sent, axis=1)
        released: Array = total[0]
        return released

    return step


def optimistic(plan: TablePlan, mdp: FiniteMdp, released: Array, episode: int) -> tuple[Array, Array]:
    """Return optimistic values and values of actions from noisy counts.

    A count is off by `slack` at most, up to the failure probability; the bonus pays for sampling and for noise.
    """
    steps, states, actions = mdp.shape
    log = math.log(4 * steps * states**2 * actions * plan.episodes / plan.fail_prob)
    slack = plan.mechanism.scale * math.sqrt(8 * (episode if plan.local else plan.noise_in_sum)) * math.sqrt(log)
    counts = np.maximum(released, 0.0)
    visits = np.maximum(counts.sum(axis=-1), 1.0)
    lower = np.maximum(visits - math.sqrt(states) * slack, 1.0)
    laws = counts / visits[..., None]
    values = np.zeros((len(released), steps + 1, states))
    q = np.empty((len(released), steps, states, actions))
    for h in reversed(range(steps)):
        left = float(steps - h)
        bonus = plan.bonus_scale * (left * np.sqrt(2 * log / lower[:, h]) + left * states * slack / lower[:, h])
        mean = np.einsum("nsat,nt->nsa", laws[:, h], values[:, h + 1])
        q[:, h] = np.clip(mdp.rewards[h] + mean + bonus, 0.0, left)
        values[:, h] = q[:, h].max(axis=-1)
    return values, q


def run_table(
    plan: TablePlan, mdp: FiniteMdp, streams: Streams, recorder: Recorder, n_runs: int, canary: Array | None = None
) -> Iterator[Table]:
    """Yield every episode; `canary` (H, S, A, S) replaces what the first user contributes."""
    steps, states, actions = mdp.shape
    shape = (n_runs, steps, states, actions, states)
    sums = (message_sums if plan.local else tree_sums)(plan, recorder, shape)
    released, runs = np.zeros(shape), np.arange(n_runs)
    values, q = optimistic(plan, mdp, released, 1)
    for number in range(1, plan.episodes + 1):
        fresh = (number - 1) % plan.planning_period == 0
        if fresh and number > 1:
            values, q = optimistic(plan, mdp, released, number)
        counts = np.zeros(shape)
        state = mdp.start(n_runs, streams.environment)
        for h in range(steps):
            best = q[runs, h, state]
            ties = np.where(best == best.max(axis=1, keepdims=True), streams.actions.random(best.shape), -1.0)
            chosen = ties.argmax(axis=1)
            after = mdp.move(h, state, chosen, streams.environment)
            counts[runs, h, state, chosen, after] = 1.0
            state = after
        if canary is not None and number == 1:
            counts = np.broadcast_to(canary, shape).copy()
        released = sums(counts)
        yield Table(number=number, fresh=fresh, values=values, actions=q, counts=counts, released=released)
