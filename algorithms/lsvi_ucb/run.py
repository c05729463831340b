"""Runs of LSVI-UCB, all in lock-step: Algorithm 2 batch by batch, and with a switching rule that reads noisy matrices.

Users of one policy are exchangeable and their paths Markov, so a batch is drawn as counts of transitions at every
step: exact in law for everything the statistics read, and its cost does not grow with its length.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from algorithms._conditions import FRESH, conditions_of, noise_is_fresh
from algorithms._linear_rl import checks
from algorithms._linear_rl.values import values_in_range
from algorithms.lsvi_ucb.canaries import BatchCanary
from algorithms.lsvi_ucb.learner import Learner, first_policy
from algorithms.lsvi_ucb.paths import UserPath
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.lsvi_ucb.planning import BatchDomain, BatchPolicy, domain_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.lsvi_ucb.switching import regularised
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

SCHEDULE = Condition(
    kind="public_schedule",
    about=("policies",),
    text="Policies changed at ends of batches, and not more often than declared.",
)
SWITCHES = Condition(
    kind="public_schedule",
    about=("switches of policy",),
    text="Policies changed not more often than declared.",
)


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


def transitions(domain: BatchDomain, policy: BatchPolicy, users: int | Array, rng: np.random.Generator) -> Array:
    """Return how often every (state, action, next state) was met at each step. Shape: (n_runs, H, S, A, S).

    `users` is one number, or one for each run.
    """
    steps, states, actions = domain.mdp.shape
    shares = policy.policies()
    n_runs = len(shares)
    counts = np.zeros((n_runs, steps, states, actions, states))
    arrived = rng.multinomial(np.broadcast_to(users, n_runs), domain.mdp.initial)
    for h in range(steps):
        chosen = rng.multinomial(arrived, shares[:, h])
        counts[:, h] = rng.multinomial(chosen, domain.mdp.transitions[h])
        arrived = counts[:, h].sum(axis=(1, 2)).astype(np.int64)
    return counts


def run_batches(
    plan: BatchPlan,
    domain: BatchDomain,
    streams: Streams,
    recorder: Recorder,
    n_runs: int,
    canary: BatchCanary | None = None,
    path: UserPath | None = None,
) -> Iterator[Batch]:
    """Yield every batch in order: those of the static schedule, or the episodes between two looks of the rule.

    One user's part may be given: by features and targets of their own, `canary`, or by the transitions of `path`.
    """
    learner = Learner(plan, domain, recorder, n_runs, canary)
    policy = first_policy(plan, domain, n_runs)  # Lambda~_0,h = lambda I, w~_0,h = 0
    # k_i = i ceil(K / B) + 1, fixed before any data; the switching rule may act after every look
    starts = tuple(range(0, plan.episodes, plan.look_every)) if plan.switching else plan.schedule.starts
    stops = (*starts[1:], plan.episodes)
    turns = np.zeros(n_runs, dtype=np.int64)
    shift = plan.shift if plan.noisy else 0.0
    last = regularised(np.zeros_like(learner.matrices), plan.ridge, shift)
    shape = learner.matrices.shape[:3]
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        present = stop - start - sum(one is not None and one.batch == number for one in (canary, path))
        final = number == len(starts) - 1
        # the users of the batch play argmax_a Q_k,h, with Q clipped to [0, H]
        counts = transitions(domain, policy, present, streams.environment)
        counts = counts if path is None else path.entered(counts, number)
        played, vectors, others = policy, np.zeros(shape), np.zeros(shape)
        due = np.zeros(n_runs, dtype=bool)
        if not final or plan.switching:
            learner.add(plan.enter(counts))  # line "if k = k_(b+1) - 1": the end of batch b
        if plan.switching and not final:  # not in the paper: post-processing of the noisy matrices
            now = regularised(plan.rule_reads(learner.matrices, learner.exact), plan.ridge, shift)
            due = (plan.grown(last, now) > plan.threshold).any(axis=1) & (turns < plan.releases)
            last = np.where(due[:, None, None, None], now, last)
        elif not final:
            due[:] = True
        if due.any():
            runs = np.flatnonzero(due)
            # Q_k+1,h and V_k+1,h for h = H, ..., 1, with fresh vector noise eta_h^(b+1)
            learned, vectors[runs], others[runs] = learner.learn(runs, turns[runs])
            policy = _updated(policy, runs, learned)
            turns = turns + due  # b = b + 1
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
    values, actions = policy.values.copy(), policy.actions.copy()
    values[runs], actions[runs] = learned.values, learned.actions
    return BatchPolicy(values=values, actions=actions)


def run_plan(
    settings: LsviUcbSettings, plan: BatchPlan, problem: LinearMdp, streams: Streams, n_runs: int
) -> Transcript:
    """Return `n_runs` independent runs of `plan` on `problem`; see `transcript_of` for the arrays."""
    return transcript_of(plan, domain_of(settings, problem), streams, n_runs)


def transcript_of(plan: BatchPlan, domain: BatchDomain, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs.

    Shape: `regret` (n_runs, N) after every batch, or every episode under the switching rule; `gap` (n_runs,), what
    the last policy loses; `optimism` (n_runs,), the share of episodes whose values were nowhere below the optimal
    ones; `switches` (n_runs,), how often policies changed; `matrices` and `vectors` as released last; `policies`
    (n_runs, H, S, A), the mean over users of the values of actions that they were shown.
    """
    recorder = Recorder(streams.noise)
    optimal, best = domain.mdp.optimal_values(), domain.mdp.optimum()
    outcomes: dict[Condition, bool] = dict.fromkeys((checks.VALUES, checks.TARGETS), True)
    outcomes[checks.FEATURES] = bool((np.linalg.norm(domain.features, axis=1) <= 1 + checks.TOLERANCE).all())
    total, hopeful, switches = (np.zeros(n_runs) for _ in range(3))
    gap = optimistic = np.zeros(n_runs)
    regrets: list[Array] = []
    matrices = vectors = np.zeros((n_runs, 0))
    changed, shown = True, np.zeros((n_runs, *domain.mdp.shape))
    for batch in run_batches(plan, domain, streams, recorder, n_runs):
        if changed:
            gap = best - domain.mdp.policy_values(batch.policy.policies())
            optimistic = (batch.policy.values >= optimal - checks.TOLERANCE).all(axis=(1, 2)).astype(float)
            outcomes[checks.VALUES] &= values_in_range(batch.policy.values, plan.ranges)
        total, hopeful = total + gap * batch.length, hopeful + optimistic * batch.length
        regrets.append(total)
        shown += batch.policy.actions * (batch.length / plan.episodes)
        switches = switches + batch.released
        changed = bool(batch.released.any())
        if changed:
            matrices, vectors = batch.matrices, batch.vectors
            outcomes[checks.TARGETS] &= batch.target_ratio <= 1 + checks.TOLERANCE
    outcomes[FRESH] = noise_is_fresh(streams, recorder.trace())
    rule = SWITCHES if plan.switching else SCHEDULE
    outcomes[rule] = bool((switches <= plan.releases).all())
    return Transcript(
        n_runs=n_runs,
        arrays={
            "regret": np.stack(regrets, axis=1),
            "gap": gap,
            "optimism": hopeful / plan.episodes,
            "switches": switches,
            "matrices": matrices,
            "vectors": vectors,
            "policies": shown,
        },
        views={"billboard": ("matrices", "vectors"), "policies": ("policies",)},
        trace=recorder.trace(),
        conditions=conditions_of(outcomes),
    )
