"""Audits and replays of the cell table: recorded users of two contexts and one action, of whom the first differs."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.capri.users import RecordedUsers, two_records, unlike_records, usual_pairs
from algorithms.cell_table.plan import Plan, plan_of
from algorithms.cell_table.run import run_epochs
from algorithms.cell_table.settings import CellTableSettings
from dpaudit import AuditCase, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_SHAPE = (2, 1)
_LONGEST = 100_000


def cases_of(settings: CellTableSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audits of the tables of the first, the middle and the last epoch that releases one.

    `problem` does not matter, as no pair is further apart: the first user of the epoch has context 0 and a reward of -1
    or +1 times its bound, so that the sum of a cell moves by 2, which is the whole sensitivity. One action is left, so
    that nothing is random but the noise.
    """
    plan = plan_of(settings)
    last = sum(epoch.complete for epoch in plan.epochs) - 1
    return tuple(epoch_case(plan, index) for index in sorted({0, max(0, last // 2), max(0, last)}))


def epoch_case(plan: Plan, index: int) -> AuditCase:
    """Return the audit of the table of one epoch, which counts from 0; the epochs before it are played."""
    short = replace(plan, epochs=plan.epochs[: index + 1])

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return run_epochs(short, _SHAPE, data, Streams.spawn(rng), n_runs).view("transcript")

    epoch, bound = short.epochs[-1], plan.reward_bound
    which, user = ("first epoch", "first user") if index == 0 else (plan.label(epoch), "its first user")
    return AuditCase(
        name="cell_table transcript" if index == 0 else f"cell_table transcript, {plan.label(epoch)}",
        view="transcript",
        description=f"The {which}'s noisy table; the {user}'s reward is -1 or +1 times its bound."
        if index == 0
        else f"The noisy table of {which}; the reward of {user} is -1 or +1 times its bound.",
        neighbours=two_records(epoch.stop, epoch.start, -bound, bound),
        relation="replace_one",
        run=run,
        score=lambda view: view["release"][:, index, 0, 1],  # the likelihood ratio up to scale
        gaussian=True,
    )


def replays_of(settings: CellTableSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of whole runs on one tape: rewards and contexts of one user differ, hostile ones included.

    What the elimination reads must follow from the releases as well.
    """
    plan = plan_of(replace(settings, horizon=min(settings.horizon, _LONGEST)))

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        read: list[Array] = []

        def eliminate(pooled: Array, active: Array, widths: Array) -> Array:
            read.append(np.column_stack([pooled.reshape(len(pooled), -1), widths]))
            return plan.eliminate(pooled, active, widths)

        watched = replace(plan, eliminate=eliminate)
        published = run_epochs(watched, _SHAPE, data, Streams.spawn(rng), n_runs).view("transcript")
        return {**published, "pooled tables and half widths": np.stack(read, axis=1)}

    rounds, bound = plan.epochs[-1].stop, plan.reward_bound
    hostile = tuple(
        (f"the first reward is {reward:g} or {other:g}", *two_records(rounds, 0, reward, other))
        for reward in (np.nan, np.inf, 1e300, -1e300)
        for other in (-bound, bound)
    )
    pairs = (*usual_pairs(rounds, plan.epochs[0].stop, bound), *hostile)
    return (ReplayCase(name="cell_table", pairs=pairs, run=run, others=(unlike_records(rounds, bound),)),)
