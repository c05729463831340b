"""A run of a config on a problem: which engine, what is kept, and what the run looked at."""

from typing import TYPE_CHECKING

import numpy as np

from algorithms.dp_ebs import checks
from algorithms.dp_ebs.batches import play_batches
from algorithms.dp_ebs.clock import RemovalClock, WinClock, observable_pairs
from algorithms.dp_ebs.declared import CLOCK, VOTE, counter_label, second_label
from algorithms.dp_ebs.event_driven import play_one
from algorithms.dp_ebs.lockstep import Outcome, play
from algorithms.dp_ebs.plan import Plan
from algorithms.dp_ebs.voters import SimulatedVoters, Voters
from algorithms.problems.duels import Duels
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

if TYPE_CHECKING:
    from algorithms.dp_ebs.config import DpEbs

_FEW = 32


def run(config: "DpEbs", problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs on simulated people of `problem`.

    Arrays: `plays` (n_runs, K, K), how often each duel took place; `eliminated_at` (n_runs, K), after how many
    rounds an option went, horizon + 1 for never; `utility_regret`, `preference_regret` and `recommended`,
    (n_runs,) each.
    A few runs go one by one from removal to removal, many in lock-step; the two are equal in law.
    Raises: ValueError: a problem with another number of options than the config's.
    """
    if problem.arms != config.arms:
        raise ValueError(
            f"Expected arms={config.arms} to be the number of options of problem {problem.name!r}, which has "
            f"{problem.arms}. Set arms = {problem.arms}."
        )
    voters = SimulatedVoters(problem=problem)
    recorder = Recorder(streams.noise)
    if config.variant == "batched":
        outcome, looked = play_batches(config, voters, streams, n_runs, recorder)
    else:
        outcome, looked = play_rounds(config, config.plan(), voters, streams, n_runs, recorder)
    looked[checks.ROUNDS] = bool((outcome.plays.sum(axis=(1, 2)) == config.horizon).all())
    return Transcript(
        n_runs=n_runs,
        arrays={
            "plays": outcome.plays,
            "eliminated_at": outcome.eliminated_at,
            "utility_regret": (outcome.plays * problem.utility_regret).sum(axis=(1, 2)),
            "preference_regret": (outcome.plays * problem.preference_regret).sum(axis=(1, 2)),
            "recommended": _recommended(outcome),
        },
        views={"arms": ("plays", "eliminated_at")},
        trace=recorder.trace(),
        conditions=checks.conditions(looked),
    )


def play_rounds(
    config: "DpEbs", plan: Plan, voters: Voters, streams: Streams, n_runs: int, recorder: Recorder
) -> tuple[Outcome, dict[Condition, bool]]:
    """Return what the runs did, by the engine that suits their number, and what was looked at."""
    looked = {checks.OWN_STREAM: checks.streams_differ(streams)}
    if n_runs > _FEW or plan.reading in ("R0", "R3", "R4"):
        sample = checks.Sample(arms=plan.arms)
        outcome = play(plan, voters, streams, n_runs, watch=sample if n_runs <= _FEW else None)
        noises = sample.noises()
        if plan.reading in ("R0", "R4"):
            looked[checks.CLOCK] = False
    else:
        paths = [[plan.tree.path(streams.noise) for _ in range(plan.arms)] if plan.tree else [] for _ in range(n_runs)]
        outcomes = [play_one(plan, voters, streams, held) for held in paths]
        outcome = Outcome(
            plays=np.concatenate([held.plays for held in outcomes]),
            eliminated_at=np.concatenate([held.eliminated_at for held in outcomes]),
        )
        noises = [path.first_noise() for path in paths[0]] if paths and paths[0] else []
        looked[checks.CLOCK] = True
    _write(config, plan, recorder, noises)
    return outcome, looked


def _write(config: "DpEbs", plan: Plan, recorder: Recorder, noises: list[Array]) -> None:
    """Write the trace: one line a counter, in each role that the declaration gives it, and what the clock tells."""
    if plan.response is not None:
        recorder.record(VOTE, plan.response, np.zeros(1), np.zeros(1))
        return
    tree = config.tree()
    for arm in range(plan.arms):
        noise = noises[arm] if arm < len(noises) else np.zeros(0)
        recorder.record(counter_label(arm), tree, np.zeros(len(noise)), noise)
    if plan.reading == "R3":
        from dataclasses import replace

        first = replace(tree, signs=(1,))
        for arm in range(plan.arms):
            recorder.record(second_label(arm), first, np.zeros(0), np.zeros(0))
    if plan.reading == "R0":
        recorder.record(CLOCK, WinClock(), np.zeros(0), np.zeros(0))
    if plan.reading == "R4":
        reads = observable_pairs(config.horizon, config.arms)
        recorder.record(CLOCK, RemovalClock(reads=reads), np.zeros(0), np.zeros(0))


def _recommended(outcome: Outcome) -> Array:
    """Return the option that went last or never; the one that played most on the left where several are left."""
    order = outcome.eliminated_at * 1.0
    most = outcome.plays.sum(axis=2)
    chosen: Array = (order + most / (2 * most.sum(axis=1, keepdims=True) + 1)).argmax(axis=1)
    return chosen
