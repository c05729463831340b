"""Runs of LSVI-UCB, all in lock-step: Algorithm 2 batch by batch, and with a switching rule that reads noisy matrices.

Users of one policy are exchangeable and their paths Markov, so a batch is drawn as counts of transitions at every
step: exact in law for everything the statistics read, and its cost does not grow with its length.
"""

from collections.abc import Iterator

import numpy as np

from algorithms._conditions import FRESH, conditions_of, noise_is_fresh
from algorithms._linear_rl import checks
from algorithms._linear_rl.judge import Judge
from algorithms.lsvi_ucb.batches import Batch, BatchLog
from algorithms.lsvi_ucb.canaries import BatchCanary
from algorithms.lsvi_ucb.learner import Learner, first_policy
from algorithms.lsvi_ucb.paths import UserPath
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.lsvi_ucb.planning import BatchDomain, BatchPolicy, domain_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.lsvi_ucb.turns import Turns
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
    # Lambda~_0,h = lambda I, w~_0,h = 0
    turns, policy = Turns(plan, learner.matrices), first_policy(plan, domain, n_runs)
    for number, length in enumerate(plan.lengths):  # fixed before any data
        present = length - sum(planted is not None and planted.batch == number for planted in (canary, path))
        final = number == len(plan.lengths) - 1
        # the users of the batch play argmax_a Q_k,h, with Q clipped to [0, H]
        counts = transitions(domain, policy, present, streams.environment)
        counts = counts if path is None else path.entered(counts, number)
        if not final or plan.switching:
            learner.add(plan.enter(counts))  # line "if k = k_(b+1) - 1": the end of batch b
        due = turns.due(learner, final=final)
        played, (policy, vectors, others) = policy, _learned(learner, turns, policy, due)
        yield Batch(
            length=length,
            policy=played,
            matrices=learner.matrices,
            vectors=vectors,
            own_matrices=learner.own_matrices,
            own_vectors=others,
            released=due,
            target_ratio=learner.target_ratio,
        )


def _learned(learner: Learner, turns: Turns, policy: BatchPolicy, due: Array) -> tuple[BatchPolicy, Array, Array]:
    """Return the policies with those of the runs that are due replaced, their vectors, and others' exact ones."""
    vectors, others = np.zeros((2, *learner.matrices.shape[:3]))
    runs = np.flatnonzero(due)
    if not len(runs):
        return policy, vectors, others
    # Q_k+1,h and V_k+1,h for h = H, ..., 1, with fresh vector noise eta_h^(b+1)
    learned, vectors[runs], others[runs] = learner.learn(runs, turns.taken[runs])
    turns.taken = turns.taken + due  # b = b + 1
    if len(runs) == len(due):
        return learned, vectors, others
    values, actions = policy.values.copy(), policy.actions.copy()
    values[runs], actions[runs] = learned.values, learned.actions
    return BatchPolicy(values=values, actions=actions), vectors, others


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
    recorder, nothing = Recorder(streams.noise), np.zeros((n_runs, 0))
    judge = Judge.of(domain.mdp, plan.ranges, n_runs)
    log = BatchLog(episodes=plan.episodes, judge=judge, matrices=nothing, vectors=nothing)
    for batch in run_batches(plan, domain, streams, recorder, n_runs):
        log.add(batch)
    outcomes = {
        checks.VALUES: judge.in_range,
        checks.TARGETS: log.clipped,
        checks.FEATURES: bool((np.linalg.norm(domain.features, axis=1) <= 1 + checks.TOLERANCE).all()),
        FRESH: noise_is_fresh(streams, recorder.trace()),
        SWITCHES if plan.switching else SCHEDULE: bool((log.switches <= plan.releases).all()),
    }
    return Transcript(
        n_runs=n_runs,
        arrays={
            "regret": np.stack(log.regrets, axis=1),
            "gap": judge.gap,
            "optimism": log.hopeful / plan.episodes,
            "switches": log.switches,
            "matrices": log.matrices,
            "vectors": log.vectors,
            "policies": log.shown,
        },
        views={"billboard": ("matrices", "vectors"), "policies": ("policies",)},
        trace=recorder.trace(),
        conditions=conditions_of(outcomes),
    )
