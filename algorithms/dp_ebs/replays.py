"""Replays of DP-EBS on one tape: recorded answers, of which one differs, through every engine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms._dueling.voters import RecordedVoters
from algorithms.dp_ebs.batches import play_batches
from algorithms.dp_ebs.event_driven import play_one
from algorithms.dp_ebs.lockstep import Outcome, play
from algorithms.dp_ebs.plan import Plan, plan_of
from algorithms.dp_ebs.settings import BROKEN, DpEbsSettings
from algorithms.dp_ebs.widths import batches_of
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_SHORT, _LONGEST = 300, 200_000
_HOSTILE = (np.nan, np.inf, -1e300, 7.0)

Engine = Callable[[RecordedVoters, Streams, int], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplayedOutcome(Outcome):
    """What runs in lock-step did, and all the bounds that their removals read, one after another."""

    bounds: Array


def replays_of(settings: DpEbsSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of all engines that the settings use. `problem` does not matter.

    The rounds are few and the intervals short, so that options are removed while the tape runs.
    """
    if settings.variant == "batched":
        return (_batched(settings),)
    short = replace(settings, horizon=min(settings.horizon, _SHORT), width="tight", width_factor=0.02)
    plan = plan_of(short)
    engines: dict[str, Engine] = {"in lock-step": lambda data, streams, n_runs: _lockstep(plan, data, streams, n_runs)}
    if settings.removal not in (*BROKEN, "R3"):
        engines["by events"] = lambda data, streams, n_runs: _one_by_one(plan, data, streams, n_runs)
    return tuple(_replay(f"dp_ebs {name}", engine, plan.horizon, (0, 1, 7, 60)) for name, engine in engines.items())


def _batched(settings: DpEbsSettings) -> ReplayCase:
    """Return the replay of the batches, the people of each of which come in order."""
    short = replace(settings, horizon=min(settings.horizon, _LONGEST))
    batches = batches_of(epsilon=short.epsilon, horizon=short.horizon, arms=short.arms)
    border = batches[0].plays * short.arms

    def engine(data: RecordedVoters, streams: Streams, n_runs: int) -> Outcome:
        return play_batches(short, data, streams, n_runs, Recorder(streams.noise))[0]

    return _replay(
        "dp_ebs batches", engine, short.horizon, (0, border // 3, 2 * border // 5, border - 1, border, border + 1)
    )


def _lockstep(plan: Plan, data: RecordedVoters, streams: Streams, n_runs: int) -> Outcome:
    """Return what runs did in lock-step; the bounds that removals read are part of it."""
    read: list[Array] = []

    def eliminate(number: int, upper: Array, lower: Array, left: Array) -> Array:
        read.append(np.concatenate([upper.ravel(), lower.ravel()]))
        return plan.eliminate(number, upper, lower, left)

    outcome = play(replace(plan, eliminate=eliminate), data, streams, n_runs)
    return ReplayedOutcome(plays=outcome.plays, eliminated_at=outcome.eliminated_at, bounds=np.concatenate(read))


def _one_by_one(plan: Plan, data: RecordedVoters, streams: Streams, n_runs: int) -> Outcome:
    """Return what runs did, from removal to removal."""
    outcomes: list[Outcome] = []
    for index in range(n_runs):
        paths = [plan.tree.path(streams.noise) for _ in range(plan.arms)] if plan.tree else []
        outcomes.append(play_one(plan, data, streams, paths, index))
    return Outcome(
        plays=np.concatenate([outcome.plays for outcome in outcomes]),
        eliminated_at=np.concatenate([outcome.eliminated_at for outcome in outcomes]),
    )


def _replay(name: str, engine: Engine, rounds: int, places: tuple[int, ...]) -> ReplayCase:
    """Return the replay of one engine; the answers at `places` differ, one at a time."""

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        outcome = engine(data, Streams.spawn(rng), n_runs)
        bounds = outcome.bounds if isinstance(outcome, ReplayedOutcome) else np.zeros(0)
        return {"plays": outcome.plays, "eliminated_at": outcome.eliminated_at, "bounds": bounds}

    people = tuple(at for at in places if at < rounds)
    usual = tuple((f"person {at + 1} answers 0 or 1", _one(rounds, at, 0.0), _one(rounds, at, 1.0)) for at in people)
    hostile = tuple(
        (
            f"person 1 answers {answer:g} or 1",
            _one(rounds, 0, answer),
            _one(rounds, 0, 1.0),
        )
        for answer in _HOSTILE
    )
    numbers = np.arange(rounds)
    unlike = RecordedVoters(answers=(numbers % 3 == 0) * 1.0), RecordedVoters(answers=(numbers % 4 > 0) * 1.0)
    return ReplayCase(name=name, pairs=(*usual, *hostile), run=run, others=(unlike,))


def _one(rounds: int, at: int, answer: float) -> RecordedVoters:
    """Return answers that alternate, but for person `at`."""
    answers = (np.arange(rounds) % 2).astype(np.float64)
    answers[at] = answer
    return RecordedVoters(answers=answers)
