"""Replays of a tabular learner on one tape: one user's path differs, all others act on the billboard."""

from typing import Any

import numpy as np

from algorithms._episodes import stacked
from algorithms._tabular_rl.cases import far_apart
from algorithms._tabular_rl.plan import TablePlan
from algorithms._tabular_rl.run import run_table
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST, _PLACES = 64, 24


def replays_of(plan: TablePlan, mdp: FiniteMdp, name: str) -> tuple[ReplayCase, ...]:
    """Return the replay of the episodes: counts released after each, and the plans made from them.

    Every user is once the one who differs, in few episodes; in many, the first, the middle and the last one and some
    between.
    """
    length = min(plan.episodes, _LONGEST)

    def run(data: tuple[int, Array], rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        at, contribution = data
        streams = Streams.spawn(rng)
        tables: list[Any] = []
        for table in run_table(plan, mdp, streams, Recorder(streams.noise), n_runs, contribution, at):
            tables.append(table)
            if table.number == length:
                break
        return {
            **stacked(tables, "released", "values", "actions"),
            "when plans are made": np.array([[table.fresh for table in tables]]),
        }

    first, second = far_apart(mdp)
    places = sorted({round(at) for at in np.linspace(1, length, min(length, _PLACES))})
    pairs = tuple(
        (f"the user of episode {at} stays at the first cell or at the last", (at, first), (at, second)) for at in places
    )
    same = (((1, first), (1, first)),)
    attaining = tuple(says for says, *_ in pairs)
    return (ReplayCase(name=f"{name} episodes", pairs=pairs, run=run, others=same, attaining=attaining),)
