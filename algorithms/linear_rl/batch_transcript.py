"""What ordinary runs of LSVI-UCB produced, and what they looked at."""

import numpy as np

from algorithms.linear_rl import checks
from algorithms.linear_rl.batch_plan import BatchDomain, BatchPlan
from algorithms.linear_rl.batches import run_batches
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

_TOLERANCE = 1e-9


def batch_transcript(plan: BatchPlan, domain: BatchDomain, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs.

    Shape: `regret` (n_runs, N) after every batch, or every episode under the switching rule; `gap` (n_runs,), what
    the last policy loses; `optimism` (n_runs,), the share of episodes whose values were nowhere below the optimal
    ones; `switches` (n_runs,), how often policies changed; `matrices` and `vectors` as released last.
    """
    recorder = Recorder(streams.noise)
    optimal, best = domain.mdp.optimal_values(), domain.mdp.optimum()
    looked: dict[Condition, bool] = dict.fromkeys((checks.VALUES, checks.TARGETS), True)
    looked[checks.FEATURES] = bool((np.linalg.norm(domain.features, axis=1) <= 1 + _TOLERANCE).all())
    total, hopeful, switches = (np.zeros(n_runs) for _ in range(3))
    gap = optimistic = np.zeros(n_runs)
    kept: list[Array] = []
    matrices = vectors = np.zeros((n_runs, 0))
    changed = True
    for batch in run_batches(plan, domain, streams, recorder, n_runs):
        if changed:
            gap = best - domain.mdp.policy_values(batch.policy.policies())
            optimistic = (batch.policy.values >= optimal - _TOLERANCE).all(axis=(1, 2)).astype(float)
            looked[checks.VALUES] &= checks.values_in_range(batch.policy.values, plan.ranges)
        total, hopeful = total + gap * batch.length, hopeful + optimistic * batch.length
        kept.append(total)
        switches = switches + batch.released
        changed = bool(batch.released.any())
        if changed:
            matrices, vectors = batch.matrices, batch.vectors
            looked[checks.TARGETS] &= batch.target_ratio <= 1 + _TOLERANCE
    looked[checks.SENSITIVITY] = looked[checks.FEATURES] and looked[checks.TARGETS]
    looked[checks.FRESH] = checks.noise_is_fresh(streams, recorder.trace())
    rule = checks.SWITCHES if plan.switching else checks.SCHEDULE
    looked[rule] = bool((switches <= plan.releases).all())
    return Transcript(
        n_runs=n_runs,
        arrays={
            "regret": np.stack(kept, axis=1),
            "gap": gap,
            "optimism": hopeful / plan.episodes,
            "switches": switches,
            "matrices": matrices,
            "vectors": vectors,
        },
        views={"billboard": ("matrices", "vectors")},
        trace=recorder.trace(),
        conditions=checks.conditions(looked),
    )
