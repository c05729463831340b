"""Replays of the G-optimal dueling bandit on one tape: recorded answers to all phases, of which one differs."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms._dueling.voters import HOSTILE, RecordedVoters, two_answers, unlike_answers
from algorithms.g_optimal_dueling.phases import play_phases
from algorithms.g_optimal_dueling.plan import plan_of
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import RunTape

_LONGEST, _MOST = 200_000, 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedStarts(RecordedVoters):
    """Recorded answers, with a list that collects the rounds at which phases start."""

    starts: list[int]

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's wins."""
        self.starts.append(int(np.asarray(start).reshape(-1)[0]))
        return RecordedVoters.wins(self, start, first, second, plays, rng)


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
    seen: list[int] = []
    first = RecordedStarts(answers=np.arange(rounds) % 2 * 1.0, starts=seen)
    run(first, RunTape(seed=0).generator(), 1)
    places = {0, 1, rounds - 1, *(start - 1 for start in seen), *seen, *(start // 2 for start in seen)}
    people = sorted(at for at in places if 0 <= at < rounds)[:_MOST]
    usual = tuple((f"person {at + 1} answers 0 or 1", *two_answers(rounds, at)) for at in people)
    alone = tuple(
        (f"person {at + 1} answers 0 or 1, all others 0", *two_answers(rounds, at, alone=True))
        for at in (0, people[len(people) // 2])
    )
    hostile = tuple((f"person 1 answers {bad:g} or 1", *two_answers(rounds, 0, bad)) for bad in HOSTILE)
    others = (unlike_answers(rounds),)
    return (ReplayCase(name="g_optimal phases", pairs=(*usual, *alone, *hostile), run=run, others=others),)
