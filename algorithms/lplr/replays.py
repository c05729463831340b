"""Replays of a device of LPLR on one tape: every stage's records, and hostile ones in their place."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.lplr.cases import answers_of
from algorithms.lplr.message import Record, sent
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.lplr.stages import Stage, stages_of
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_FACTORS = (np.nan, np.inf, 1e150, 3.0)
_REWARDS = (np.nan, np.inf, -1e300, 5.0)


def replays_of(settings: LplrSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of all messages, after histories that published widths far above 1 as well."""
    plan = plan_of(settings)
    stages = stages_of(plan)
    wide = tuple(
        replace(stage, bins=tuple(replace(target, half_width=50.0) for target in stage.bins))
        for stage in stages
        if stage.labels == ("width",)
    )
    return tuple(_replay(plan, stage) for stage in (*stages, *wide))


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
    return ReplayCase(name=f"lplr {stage.name}", pairs=((stage.description, first, second), *hostile), run=run)


def _times(record: Record, factor: float) -> Record:
    """Return a record whose features are multiplied; 0 times infinity is not a number."""
    with np.errstate(invalid="ignore"):
        return replace(record, features=tuple(float(factor * value) for value in record.features))
