"""A run of the G-optimal config on a problem, and what it looked at."""

from typing import TYPE_CHECKING

import numpy as np

from algorithms.g_optimal_dueling.phases import CountedVoters, play_phases
from algorithms.problems.duels import Duels
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

if TYPE_CHECKING:
    from algorithms.g_optimal_dueling.config import GOptimalDueling

ROUNDS = Condition(
    kind="public_schedule",
    about=("duels",),
    text="Every run played exactly its horizon of duels, one person each.",
)
ONE_SUM = Condition(
    kind="one_contribution",
    about=("answers",),
    text="Every answer entered one sum of one phase, and moved it by 1 at most.",
)
OWN_STREAM = Condition(kind="own_noise_stream")


def run(config: "GOptimalDueling", problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs on simulated people of `problem`.

    Arrays: `plays` (n_runs, K, K); `survivors` (n_runs, phases + 1, K), who is left after each phase; `recommended`,
    `utility_regret` and `preference_regret` (n_runs,).
    Raises: ValueError: a problem without features, or of another size than the config's.
    """
    features = features_of(config, problem)
    recorder = Recorder(streams.noise)
    voters = CountedVoters(preferences=problem.preferences)
    outcome = play_phases(config.plan(), features, voters, streams, n_runs, recorder)
    looked = {
        ROUNDS: bool((outcome.plays.sum(axis=(1, 2)) == config.horizon).all()),
        ONE_SUM: outcome.shared and bool((outcome.spent <= config.horizon).all()),
        OWN_STREAM: all(streams.noise is not other for other in (streams.actions, streams.environment, streams.public)),
    }
    return Transcript(
        n_runs=n_runs,
        arrays={
            "plays": outcome.plays,
            "survivors": outcome.survivors,
            "recommended": np.where(outcome.alive, outcome.scores, -np.inf).argmax(axis=1),
            "utility_regret": (outcome.plays * problem.utility_regret).sum(axis=(1, 2)),
            "preference_regret": (outcome.plays * problem.preference_regret).sum(axis=(1, 2)),
        },
        views={"arms": ("plays", "survivors")},
        trace=recorder.trace(),
        conditions=tuple(condition.seen(holds=held) for condition, held in looked.items()),
    )


def features_of(config: "GOptimalDueling", problem: Duels) -> Array:
    """Return the problem's features, if they fit the config."""
    if problem.features is None:
        raise ValueError(f"Expected problem {problem.name!r} to bring features; it brings none. Use dp_ebs instead.")
    if problem.features.shape != (config.arms, config.dimension):
        raise ValueError(
            f"Expected arms={config.arms} and dimension={config.dimension} to be those of problem {problem.name!r}, "
            f"which has {problem.features.shape[0]} options in {problem.features.shape[1]} dimensions."
        )
    if np.linalg.norm(problem.features, axis=1).max() > 1 + 1e-9:
        raise ValueError("Expected features no longer than 1; divide them by the length of the longest.")
    return problem.features
