"""Audits of noisy counts: a first user who stays at one cell or at another, scored by the likelihood ratio."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from algorithms._episodes import actions_case, billboard_of, nodes_holding
from algorithms._tabular_rl.plan import TablePlan
from algorithms._tabular_rl.run import run_table
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.mechanism import Array
from mechanisms import Laplace

_LONGEST = 8
"""Episodes that an audit of the joint model plays."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableRatio:
    """The log likelihood ratio of all nodes that hold the first user, or of their message."""

    mechanism: Laplace
    pair: tuple[Array, Array]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape: (n_runs,)."""
        own = view["released"] - view["others"]
        total: Any = 0.0
        for node in nodes_holding(own):
            low, high = (self.mechanism.log_density(node, counts) for counts in self.pair)
            total = total + (high - low).sum(axis=tuple(range(1, node.ndim)))
        return total


def far_apart(mdp: FiniteMdp) -> tuple[Array, Array]:
    """Return the counts of two users without a common transition: one stays at the first cell, one at the last."""
    steps, states, actions = mdp.shape
    first, last = np.zeros((2, steps, states, actions, states))
    first[:, 0, 0, 0] = last[:, -1, -1, -1] = 1.0
    return first, last


def case_of(plan: TablePlan, mdp: FiniteMdp, name: str) -> AuditCase:
    """Return the audit: the first user stays at one cell or at another, through all steps."""
    pair = far_apart(mdp)
    length = 1 if plan.local else min(plan.episodes, _LONGEST)

    def run(data: Array, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        episodes = run_table(plan, mdp, streams, Recorder(streams.noise), n_runs, data)
        return billboard_of((episode.released, episode.counts) for episode in islice(episodes, length))

    return AuditCase(
        name=f"{name} {'message' if plan.local else 'billboard'}",
        view="message" if plan.local else "billboard",
        description="Noisy counts of transitions; the first user stays at the first cell or at the last.",
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=TableRatio(mechanism=plan.mechanism, pair=pair),
    )


def told_case(plan: TablePlan, mdp: FiniteMdp, name: str) -> AuditCase:
    """Return the audit of what later users are told to do."""

    def told(data: Array, streams: Streams, recorder: Recorder, n_runs: int) -> Iterator[Array]:
        episodes = run_table(plan, mdp, streams, recorder, n_runs, data)
        return (episode.actions for episode in islice(episodes, min(plan.episodes, _LONGEST)))

    return actions_case(name, far_apart(mdp), told)
