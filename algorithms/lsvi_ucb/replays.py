"""Replays of LSVI-UCB on one tape: one user's contribution differs, all others act on the billboard."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._linear_rl import hostile as hostile_users
from algorithms.lsvi_ucb.canaries import BatchCanary, canaries
from algorithms.lsvi_ucb.cases import audit_problem
from algorithms.lsvi_ucb.paths import UserPath, paths
from algorithms.lsvi_ucb.plan import plan_of
from algorithms.lsvi_ucb.planning import domain_of
from algorithms.lsvi_ucb.run import run_batches
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 64
"""Episodes that a replay of the switching rule plays."""
_EVERY = 8
"""So many batches are looked at one by one."""


def replays_of(settings: LsviUcbSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replay of all batches: sums released after each, and the policies learned from them.

    The user who differs has the worst features and targets, or hostile ones, or walks another path of the problem and
    is counted as all users are. What the switching rule reads must follow from the releases as well.
    """
    plan = plan_of(settings)
    if not plan.noisy:
        return ()
    plan = replace(plan, episodes=min(plan.episodes, _LONGEST)) if plan.switching else plan
    domain = domain_of(settings, problem if problem is not None else audit_problem(settings))

    def run(data: BatchCanary | UserPath, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams, read = Streams.spawn(rng), list[Array]()

        def rule_reads(noisy: Array, exact: Array) -> Array:
            read.append(plan.rule_reads(noisy, exact))
            return read[-1]

        canary, path = (None, data) if isinstance(data, UserPath) else (data, None)
        watched = replace(plan, rule_reads=rule_reads)
        batches = list(run_batches(watched, domain, streams, Recorder(streams.noise), n_runs, canary, path))
        return {
            "what the rule reads": np.stack(read, axis=1) if read else np.zeros((n_runs, 0)),
            "matrices": np.stack([batch.matrices for batch in batches], axis=1),
            "vectors": np.stack([batch.vectors for batch in batches], axis=1),
            "values": np.stack([batch.policy.values for batch in batches], axis=1),
            "actions": np.stack([batch.policy.actions for batch in batches], axis=1),
        }

    first, second = canaries(plan, settings.dimension)
    hostile = tuple(
        pair
        for factor in hostile_users.FACTORS
        for pair in (
            (f"features times {factor:g} or as bounded", hostile_users.features_times(first, factor), second),
            (f"targets times {factor:g} or as bounded", hostile_users.targets_times(first, factor), second),
        )
    )
    batches = -(-plan.episodes // plan.look_every) if plan.switching else len(plan.schedule.starts)
    places = sorted({0, (batches - 1) // 2, max(0, batches - 2)})
    usual = tuple(
        (f"the contribution of a user in batch {at + 1} differs", replace(first, batch=at), replace(second, batch=at))
        for at in places
    )
    here, there = paths(plan, domain)
    released = max(1, batches - 1)
    every = range(released) if released <= _EVERY else places
    walked = tuple(
        (f"the path of a user in batch {at + 1} differs", replace(here, batch=at), replace(there, batch=at))
        for at in every
    )
    corner = ("features large in every entry or as bounded", hostile_users.features_in_a_corner(first), second)
    pairs = (*usual, *walked, *hostile, corner)
    return (ReplayCase(name="lsvi_ucb batches", pairs=pairs, run=run, others=((first, first),)),)
