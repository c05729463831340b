"""The run of the G-optimal dueling bandit on a problem: the transcript, and the conditions that were checked."""

from dataclasses import replace

import numpy as np

from algorithms._conditions import conditions_of
from algorithms._dueling.checks import checked_plays, regrets
from algorithms._dueling.voters import SimulatedVoters, Voters
from algorithms.g_optimal_dueling.phases import play_phases
from algorithms.g_optimal_dueling.plan import plan_of
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from algorithms.problems.duels import Duels
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

ONE_SUM = Condition(
    kind="one_contribution",
    about=("answers",),
    text="No comparison was won more often than played, and no phase ran past the horizon.",
)

_NO_PRIVACY = 1e12
"""An epsilon at which noise is far below one answer."""


def run(settings: GOptimalDuelingSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs on simulated people of `problem`.

    Arrays: `plays` (n_runs, K, K); `survivors` (n_runs, phases + 1, K), who is left after each phase; `recommended`,
    `utility_regret` and `preference_regret` (n_runs,).
    Raises: ValueError: a problem without features, or of another size than the settings'.
    """
    return run_with(SimulatedVoters.of(problem), settings, problem, streams, n_runs)


def run_without_noise(settings: GOptimalDuelingSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one answer, with widths for it: no privacy."""
    return run(replace(settings, epsilon=_NO_PRIVACY), problem, streams, n_runs)


def run_blind(settings: GOptimalDuelingSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose people toss coins: releases hold noise and no answer.

    Counts of 0 in place of coins would say that the second option of every comparison won, and that is the better one
    on problems that list options so.
    """
    return run_with(SimulatedVoters.alike(problem.arms, 0.5), settings, problem, streams, n_runs)


def run_with(
    voters: Voters, settings: GOptimalDuelingSettings, problem: Duels, streams: Streams, n_runs: int
) -> Transcript:
    """Return what `run` returns, for people who answer in any other way.

    Raises: ValueError: as for `run`.
    """
    features = features_of(settings, problem)
    recorder = Recorder(streams.noise)
    # Algorithm 2, whose lines stand in `phases`
    outcome = play_phases(plan_of(settings), features, voters, streams, n_runs, recorder)
    in_one_sum = outcome.shared and bool((outcome.spent <= settings.horizon).all())
    observed = {ONE_SUM: in_one_sum} | checked_plays(outcome.plays, settings.horizon, streams)
    return Transcript(
        n_runs=n_runs,
        arrays={
            "plays": outcome.plays,
            "survivors": outcome.survivors,
            "recommended": np.where(outcome.alive, outcome.scores, -np.inf).argmax(axis=1),
            **regrets(outcome.plays, problem),
        },
        views={"arms": ("plays", "survivors")},
        trace=recorder.trace(),
        conditions=conditions_of(observed),
    )


def features_of(settings: GOptimalDuelingSettings, problem: Duels) -> Array:
    """Return the problem's features, if they fit the settings."""
    if problem.features is None:
        raise ValueError(f"Expected problem {problem.name!r} to bring features; it brings none. Use dp_ebs instead.")
    if problem.features.shape != (settings.arms, settings.dimension):
        raise ValueError(
            f"Expected arms={settings.arms} and dimension={settings.dimension} to be those of problem "
            f"{problem.name!r}, which has {problem.features.shape[0]} options in {problem.features.shape[1]} "
            "dimensions."
        )
    if np.linalg.norm(problem.features, axis=1).max() > 1 + 1e-9:
        raise ValueError("Expected features no longer than 1; divide them by the length of the longest.")
    return problem.features
