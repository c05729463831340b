"""The conditions that every run of a dueling bandit checks, and the regret that it reports."""

from algorithms._conditions import noise_has_own_stream
from algorithms.problems.duels import Duels
from dpaudit import Condition, Streams
from dpaudit.model.mechanism import Array

ROUNDS = Condition(
    kind="public_schedule",
    about=("duels",),
    text="Every run played exactly its horizon of duels, one person each.",
)
OWN_STREAM = Condition(kind="own_noise_stream")


def checked_plays(plays: Array, horizon: int, streams: Streams) -> dict[Condition, bool]:
    """Return whether each run played its horizon, and whether noise had its own stream. Shape: plays (n_runs, K, K)."""
    return {
        ROUNDS: bool((plays.sum(axis=(1, 2)) == horizon).all()),
        OWN_STREAM: noise_has_own_stream(streams),
    }


def regrets(plays: Array, problem: Duels) -> dict[str, Array]:
    """Return the regret of each run in utility and in preference, (n_runs,) each. Shape: plays (n_runs, K, K).

    Source: Saha and Asi (2024), Eq. (2), for the utility.
    """
    return {
        "utility_regret": (plays * problem.utility_regret).sum(axis=(1, 2)),
        "preference_regret": (plays * problem.preference_regret).sum(axis=(1, 2)),
    }
