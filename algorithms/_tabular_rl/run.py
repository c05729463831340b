"""Runs on noisy counts of transitions, all in lock-step: the sums, the optimistic policies, and the transcript."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms._episodes import EpisodeLog
from algorithms._tabular_rl.plan import TablePlan
from algorithms._traced_tree import TracedTree
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

_ONE_CELL = Condition(
    kind="one_contribution",
    about=("steps of a user",),
    text="Every user added one to exactly one cell of each step's table.",
)

CountSums = Callable[[Array], Array]
"""sums(counts of one episode) -> noisy sums of all so far"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """One episode of all runs. Shape: values (n_runs, H + 1, S), actions (n_runs, H, S, A), counts like `released`."""

    number: int
    fresh: bool
    values: Array
    actions: Array
    counts: Array
    released: Array


def tree_sums(plan: TablePlan, recorder: Recorder) -> CountSums:
    """Return the joint model's sums: a tree for each step, traced along the first user's nodes. Runs and steps lead."""
    trees = [
        TracedTree(label=label, mechanism=plan.mechanism, recorder=recorder, horizon=plan.episodes)
        for label in plan.labels
    ]

    def step(counts: Array) -> Array:
        return np.stack([tree(counts[:, h]) for h, tree in enumerate(trees)], axis=1)

    return step


def message_sums(plan: TablePlan, recorder: Recorder) -> CountSums:
    """Return the local model's sums: every user's table with their own noise; the trace holds the first user's."""
    total: list[Any] = [0.0]

    def step(counts: Array) -> Array:
        first = isinstance(total[0], float)
        sent = [
            recorder.release(label, plan.mechanism, counts[:, h])
            if first
            else recorder.release_of_others(label, plan.mechanism, counts[:, h])
            for h, label in enumerate(plan.labels)
        ]
        total[0] = total[0] + np.stack(sent, axis=1)
        return total[0]

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
    plan: TablePlan,
    mdp: FiniteMdp,
    streams: Streams,
    recorder: Recorder,
    n_runs: int,
    canary: Array | None = None,
    at: int = 1,
) -> Iterator[Table]:
    """Yield every episode; `canary` (H, S, A, S) replaces what the user of episode `at`, from 1, contributes."""
    shape = (n_runs, *mdp.shape, mdp.shape[1])
    sums = (message_sums if plan.local else tree_sums)(plan, recorder)
    released, runs = np.zeros(shape), np.arange(n_runs)
    values, q = optimistic(plan, mdp, released, 1)
    for number in range(1, plan.episodes + 1):
        fresh = (number - 1) % plan.planning_period == 0
        if fresh and number > 1:
            values, q = optimistic(plan, mdp, released, number)  # optimistic Q and V from the noisy counts so far
        counts = np.zeros(shape)
        state = mdp.start(n_runs, streams.environment)
        for h in range(mdp.shape[0]):
            best = q[runs, h, state]
            # the user plays argmax_a Q_h(s_h, a) and adds one to n_h(s_h, a_h, s_h+1)
            ties = np.where(best == best.max(axis=1, keepdims=True), streams.actions.random(best.shape), -1.0)
            chosen = ties.argmax(axis=1)
            after = mdp.move(h, state, chosen, streams.environment)
            counts[runs, h, state, chosen, after] = 1.0
            state = after
        if canary is not None and number == at:
            counts = np.broadcast_to(canary, shape).copy()
        # the private counters take the episode in (joint), or its noisy message (local)
        released = sums(plan.enter(counts))
        yield Table(number=number, fresh=fresh, values=values, actions=q, counts=counts, released=released)


def transcript_of(plan: TablePlan, mdp: FiniteMdp, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs.

    Shape: `regret` (n_runs, K) after every episode; `gap` (n_runs,), what the last policy loses; `released`, the noisy
    counts at the end, and `message`, the first user's; `policies` (n_runs, H, S, A), the mean over users of the values
    of actions that they were shown.
    """
    recorder = Recorder(streams.noise)
    best, gap, single = mdp.optimum(), np.zeros(n_runs), True
    log = EpisodeLog(episodes=plan.episodes)
    for episode in run_table(plan, mdp, streams, recorder, n_runs):
        if episode.fresh:
            ties = (episode.actions == episode.values[:, :-1, :, None]).astype(float)
            gap = best - mdp.policy_values(ties / ties.sum(axis=-1, keepdims=True))
        single &= bool((episode.counts.sum(axis=(2, 3, 4)) == 1).all())
        log.add(episode.number, gap, episode.actions, episode.released)
    return log.transcript({"gap": gap}, recorder.trace(), (_ONE_CELL.seen(holds=single),), local=plan.local)
