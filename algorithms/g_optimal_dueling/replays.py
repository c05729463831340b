"""Replays of the G-optimal dueling bandit on one tape: recorded answers to all phases, of which one differs."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._dueling.voters import RecordedVoters
from algorithms.g_optimal_dueling.phases import play_phases
from algorithms.g_optimal_dueling.plan import plan_of
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 200_000
_HOSTILE = (np.nan, np.inf, -1e300, 7.0)


def replays_of(settings: GOptimalDuelingSettings, problem: Any) -> tuple[ReplayCase, ...]:
    """Return the replay of all phases, on the problem's features.

    The people who differ come first, at every border that a phase can have, and last.
    """
    short = replace(settings, horizon=min(settings.horizon, _LONGEST))
    plan, features = plan_of(short), np.asarray(problem.features)

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        read: list[Array] = []

        def estimate(vectors: Array, plays: Array, noisy: Array, radius: float, ridge: float) -> Array:
            read.append(np.ravel(noisy))
            return plan.estimate(vectors, plays, noisy, radius, ridge)

        streams, watched = Streams.spawn(rng), replace(plan, estimate=estimate)
        outcome = play_phases(watched, features, data, streams, n_runs, Recorder(streams.noise))
        sums = np.concatenate(read) if read else np.zeros(0)
        return {"sums": sums, "plays": outcome.plays, "survivors": outcome.survivors, "scores": outcome.scores}

    rounds = plan.horizon
    quiet = np.random.default_rng(0)  # a schedule to find the borders of phases by
    spent = play_phases(plan, features, _one(rounds, 0, 0.0), Streams.spawn(quiet), 1, Recorder(quiet)).spent
    border = int(min(spent[0], rounds - 1))
    people = sorted({0, 1, max(border // 2, 0), max(border - 1, 0), border, rounds - 1})
    usual = tuple((f"person {at + 1} answers 0 or 1", _one(rounds, at, 0.0), _one(rounds, at, 1.0)) for at in people)
    hostile = tuple((f"person 1 answers {bad:g} or 1", _one(rounds, 0, bad), _one(rounds, 0, 1.0)) for bad in _HOSTILE)
    numbers = np.arange(rounds)
    unlike = RecordedVoters(answers=(numbers % 3 == 0) * 1.0), RecordedVoters(answers=(numbers % 4 > 0) * 1.0)
    return (ReplayCase(name="g_optimal phases", pairs=(*usual, *hostile), run=run, others=(unlike,)),)


def _one(rounds: int, at: int, answer: float) -> RecordedVoters:
    """Return answers that alternate, but for person `at`."""
    answers = (np.arange(rounds) % 2).astype(np.float64)
    answers[at] = answer
    return RecordedVoters(answers=answers)
