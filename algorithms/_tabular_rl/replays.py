"""Replays of a tabular learner on one tape: one user's path differs, all others act on the billboard."""

from typing import Any

import numpy as np

from algorithms._tabular_rl.plan import TablePlan
from algorithms._tabular_rl.run import run_table
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 64


def replays_of(plan: TablePlan, mdp: FiniteMdp, name: str) -> tuple[ReplayCase, ...]:
    """Return the replays of the episodes: counts released after each, and the plans made from them.

    The user who differs comes first, in the middle or last. Each place is a replay of its own.
    """
    length = min(plan.episodes, _LONGEST)
    return tuple(_replay(plan, mdp, name, at, length) for at in sorted({1, max(1, length // 2), length}))


def _replay(plan: TablePlan, mdp: FiniteMdp, name: str, at: int, length: int) -> ReplayCase:
    """Return the replay in which the user of episode `at` differs."""
    steps, states, actions = mdp.shape

    def run(data: Array, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        tables: list[Any] = []
        for table in run_table(plan, mdp, streams, Recorder(streams.noise), n_runs, data, at):
            tables.append(table)
            if table.number == length:
                break
        return {
            "released": np.stack([table.released for table in tables], axis=1),
            "values": np.stack([table.values for table in tables], axis=1),
            "actions": np.stack([table.actions for table in tables], axis=1),
        }

    first, second = np.zeros((2, steps, states, actions, states))
    first[:, 0, 0, 0], second[:, -1, -1, -1] = 1.0, 1.0
    pairs = ((f"the user of episode {at} stays at the first cell or at the last", first, second),)
    return ReplayCase(name=f"{name} episodes, user {at}", pairs=pairs, run=run, others=((first, first),))
