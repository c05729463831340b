"""Replays of a tabular learner on one tape: the first user's path differs, all others act on the billboard."""

from typing import Any

import numpy as np

from algorithms._tabular_rl.plan import TablePlan
from algorithms._tabular_rl.run import run_table
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 16


def replays_of(plan: TablePlan, mdp: FiniteMdp, name: str) -> tuple[ReplayCase, ...]:
    """Return the replay of a few episodes: counts released after each, and the plans made from them."""
    steps, states, actions = mdp.shape

    def run(data: Array, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        tables: list[Any] = []
        for table in run_table(plan, mdp, streams, Recorder(streams.noise), n_runs, data):
            tables.append(table)
            if table.number == min(plan.episodes, _LONGEST):
                break
        return {
            "released": np.stack([table.released for table in tables], axis=1),
            "values": np.stack([table.values for table in tables], axis=1),
            "actions": np.stack([table.actions for table in tables], axis=1),
        }

    first, second = np.zeros((2, steps, states, actions, states))
    first[:, 0, 0, 0], second[:, -1, -1, -1] = 1.0, 1.0
    pairs = (("the first user stays at the first cell or at the last", first, second),)
    return (ReplayCase(name=f"{name} episodes", pairs=pairs, run=run, others=((first, first),)),)
