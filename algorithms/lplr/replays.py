"""Replays of LPLR on one tape: a device's messages at every stage, hostile records, and the server's sums."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms.lplr.cases import answers_of
from algorithms.lplr.message import Record, sent
from algorithms.lplr.oracle import Answers, fit_oracle
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.lplr.stages import Stage, spread, stages_of
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_USERS = (1_000, 1_000_000)
_UNSURE = (4_000, 12_000)
"""With so many people over epsilon squared the widths are near 1, so that an entry is nearly as large as it can be."""

_FACTORS = (np.nan, np.inf, 1e150, 3.0)
_REWARDS = (np.nan, np.inf, -1e300, 5.0)


def replays_of(settings: LplrSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of all messages, also after histories that published widths far above 1, and of the server."""
    plan = plan_of(settings)
    stages = stages_of(plan)
    wide = tuple(
        replace(stage, bins=tuple(replace(target, half_width=50.0) for target in stage.bins))
        for stage in stages
        if stage.labels == ("width",)
    )
    users = (*_USERS, *(max(_USERS[0] // 10, round(number / settings.epsilon**2)) for number in _UNSURE))
    crowded = tuple(_of_two_actions(stage) for stage in stages if plan.actions > 1)
    return (
        *(_replay(plan, stage) for stage in (*stages, *crowded, *wide)),
        *(_server(plan, number) for number in dict.fromkeys(users)),
    )


def _of_two_actions(stage: Stage) -> Stage:
    """Return a stage where the bins of another action are stored as well: a record fills none of those."""
    others = tuple(replace(target, action=1) for target in stage.bins)
    return replace(stage, name=f"{stage.name}, two actions", bins=(*stage.bins, *others))


def _replay(plan: Plan, stage: Stage) -> ReplayCase:
    """Return the replay of one stage: its own pair, and its first record made hostile."""

    def run(record: Record, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return sent(plan, Recorder(Streams.spawn(rng).noise), answers_of(plan, stage, record), n_runs)

    first, second = stage.records
    hostile = (
        *((f"features times {factor:g} or as bounded", _times(first, factor), second) for factor in _FACTORS),
        *((f"reward {reward:g} or as bounded", replace(first, reward=reward), first) for reward in _REWARDS),
        ("another action", replace(first, action=1), second),
    )
    signs = tuple(
        (f"rewards {own:+g} and {other:+g}", replace(first, reward=own), replace(second, reward=other))
        for own in (-1.0, 1.0)
        for other in (-1.0, 1.0)
    )
    pairs = ((stage.description, first, second), *signs, *hostile)
    attaining = (stage.description,) if stage.name in ("count", "matrix") else ()
    return ReplayCase(name=f"lplr {stage.name}", pairs=pairs, run=run, attaining=attaining)


def _server(plan: Plan, users: int) -> ReplayCase:
    """Return the replay of the server's sums over all phases; one person of one phase answers or acts differently.

    There is one context, so that every atom is a bin of its own and its entry of a sum is one number. With few people
    the noise makes published slopes steep, with many it does not.
    """
    features = np.array([[spread(plan, norm)] for norm in np.linspace(1.0, 0.9, plan.actions)])
    phases, other = 2 * plan.dimension, Person(action=plan.actions - 1, positive=False)

    def run(data: Person, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        recorder = Recorder(Streams.spawn(rng).noise)
        heard = (_heard(plan, users, data if data.phase == number else None, n_runs) for number in range(phases))
        estimate = fit_oracle(plan, features, heard, users, recorder, n_runs)
        return {"value": estimate.value, "half_width": estimate.half_width, "prediction": estimate.prediction}

    pairs = tuple(
        (f"in phase {phase + 1} one person {says}", replace(person, phase=phase), replace(changed, phase=phase))
        for phase in range(phases)
        for says, person, changed in (
            ("answers -1 or 1", Person(positive=False), Person()),
            ("plays another action", Person(), Person(action=plan.actions - 1)),
            ("plays another action and answers -1", Person(positive=False), other),
        )
    )
    return ReplayCase(name=f"lplr server, {users:,} users", pairs=pairs, run=run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person of the server's replay: their phase, from 0 or -1 for none, their action, their answer."""

    phase: int = -1
    action: int = 0
    positive: bool = True


def _heard(plan: Plan, users: int, person: Person | None, n_runs: int) -> Answers:
    """Return a phase in which everybody but `person` plays the first action and likes it."""
    counts, positive = np.zeros((2, n_runs, plan.actions, 1), dtype=np.int64)
    counts[:, 0], positive[:, 0] = users - 1, users - 1
    at = person or Person()
    counts[:, at.action] += 1
    positive[:, at.action] += at.positive
    return Answers(counts=counts, positive=positive)


def _times(record: Record, factor: float) -> Record:
    """Return a record whose features are multiplied; 0 times infinity is not a number."""
    with np.errstate(invalid="ignore"):
        return replace(record, features=tuple(float(factor * value) for value in record.features))
