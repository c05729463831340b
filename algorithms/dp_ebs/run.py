"""The run of DP-EBS on a problem: the engine that fits, the transcript, and the conditions that were checked."""

from dataclasses import replace

import numpy as np

from algorithms._conditions import conditions_of
from algorithms._dueling.checks import checked_plays, regrets
from algorithms._dueling.voters import SimulatedVoters, Voters
from algorithms.dp_ebs import checks
from algorithms.dp_ebs.declaration import CLOCK, counter_label
from algorithms.dp_ebs.noise.calibrated import tree_of
from algorithms.dp_ebs.noise.clocks import RemovalClock, WinClock, observable_pairs
from algorithms.dp_ebs.noise.shuffled import VOTE
from algorithms.dp_ebs.plan import Plan, plan_of
from algorithms.dp_ebs.rounds.batches import play_batches
from algorithms.dp_ebs.rounds.champion import play_champion
from algorithms.dp_ebs.rounds.event_driven import play_one
from algorithms.dp_ebs.rounds.lockstep import Outcome, play
from algorithms.dp_ebs.settings import BROKEN, DpEbsSettings
from algorithms.problems.duels import Duels
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

_FEW = 32
"""Up to so many runs go one by one, which is faster than lock-step."""

_NO_PRIVACY = {"central": 1e12, "local": 500.0, "shuffle": 500.0}
"""Epsilons at which noise is far below one answer; a person who answers at 500 nats tells the truth."""


def run(settings: DpEbsSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs on simulated people of `problem`.

    Arrays: `plays` (n_runs, K, K), how often each duel took place; `eliminated_at` (n_runs, K), after how many
    rounds an option went, horizon + 1 for never; `utility_regret`, `preference_regret` and `recommended`,
    (n_runs,) each.
    A few runs go one by one from removal to removal, many in lock-step; the two are equal in law.
    Raises: ValueError: a problem with another number of options than the settings'.
    """
    return run_with(SimulatedVoters.of(problem), settings, problem, streams, n_runs)


def run_without_noise(settings: DpEbsSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one answer, with widths for it: no privacy."""
    return run(replace(settings, epsilon=_NO_PRIVACY[settings.model]), problem, streams, n_runs)


def run_blind(settings: DpEbsSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose releases hold noise alone, of a champion also fair coins: nothing is learned."""
    nobody = SimulatedVoters.alike(problem.arms, 0.5 if settings.variant == "champion" else 0.0)
    return run_with(nobody, settings, problem, streams, n_runs)


def run_with(voters: Voters, settings: DpEbsSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return what `run` returns, for people who answer in any other way.

    Raises: ValueError: as for `run`.
    """
    if problem.arms != settings.arms:
        raise ValueError(
            f"Expected arms={settings.arms} to be the number of options of problem {problem.name!r}, which has "
            f"{problem.arms}. Set arms = {problem.arms}."
        )
    recorder = Recorder(streams.noise)
    if settings.variant != "tree":
        batched = settings.variant == "batched"  # neither variant is in the paper
        in_parts = play_batches if batched else play_champion
        outcome, complete = in_parts(settings, voters, streams, n_runs, recorder)
        observed = {checks.BATCH if batched else checks.STAGE: complete}
    else:
        outcome, observed = play_rounds(settings, plan_of(settings), voters, streams, n_runs, recorder)
    return Transcript(
        n_runs=n_runs,
        arrays={
            "plays": outcome.plays,
            "eliminated_at": outcome.eliminated_at,
            **regrets(outcome.plays, problem),
            "recommended": _recommended(outcome),
        },
        views={"arms": ("plays", "eliminated_at")},
        trace=recorder.trace(),
        conditions=conditions_of(observed | checked_plays(outcome.plays, settings.horizon, streams)),
    )


def play_rounds(
    settings: DpEbsSettings, plan: Plan, voters: Voters, streams: Streams, n_runs: int, recorder: Recorder
) -> tuple[Outcome, dict[Condition, bool]]:
    """Return what the runs did, by the engine that fits their number, and whether the clocks were public."""
    observed: dict[Condition, bool] = {}
    if n_runs > _FEW or plan.reading in BROKEN:
        sample = checks.Sample(arms=plan.arms)
        # Algorithm 1, lines 4 to 15, which stand in `rounds.lockstep`
        outcome = play(plan, voters, streams, n_runs, watch=sample if n_runs <= _FEW else None)
        noises = sample.noises()
        if plan.reading in BROKEN:
            observed[checks.CLOCK] = False
    else:
        paths = [[plan.tree.path(streams.noise) for _ in range(plan.arms)] if plan.tree else [] for _ in range(n_runs)]
        # Algorithm 1 once more, from removal to removal (`rounds.event_driven`); the law is the same
        outcomes = [play_one(plan, voters, streams, trees, index) for index, trees in enumerate(paths)]
        outcome = Outcome(
            plays=np.concatenate([single.plays for single in outcomes]),
            eliminated_at=np.concatenate([single.eliminated_at for single in outcomes]),
        )
        noises = [path.first_noise() for path in paths[0]] if paths and paths[0] else []
        observed[checks.CLOCK] = all(
            checks.clocks_are_public(single, [path.clock for path in trees], plan)
            for single, trees in zip(outcomes, paths, strict=True)
        )
    _write(settings, plan, recorder, noises)
    return outcome, observed


def _write(settings: DpEbsSettings, plan: Plan, recorder: Recorder, noises: list[Array]) -> None:
    """Write the trace: one line a counter, in each role that the declaration gives it, and what the clock reveals."""
    if plan.response is not None:
        recorder.record(VOTE, plan.response, np.zeros(1), np.zeros(1))
        return
    tree = tree_of(settings)
    for arm in range(plan.arms):
        noise = noises[arm] if arm < len(noises) else np.zeros(0)
        recorder.record(counter_label(arm), tree, np.zeros(len(noise)), noise)
    if plan.reading == "R3":
        first = replace(tree, signs=(1,))
        for arm in range(plan.arms):
            recorder.record(counter_label(arm), first, np.zeros(0), np.zeros(0))
    if plan.reading == "R0":
        recorder.record(CLOCK, WinClock(), np.zeros(0), np.zeros(0))
    if plan.reading == "R4":
        reads = observable_pairs(settings.horizon, settings.arms)
        recorder.record(CLOCK, RemovalClock(reads=reads), np.zeros(0), np.zeros(0))


def _recommended(outcome: Outcome) -> Array:
    """Return the option that went last or never; the one that played most on the left where several are left."""
    order = outcome.eliminated_at * 1.0
    most = outcome.plays.sum(axis=2)
    return (order + most / (2 * most.sum(axis=1, keepdims=True) + 1)).argmax(axis=1)
