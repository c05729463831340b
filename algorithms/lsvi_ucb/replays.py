"""Replays of LSVI-UCB on one tape: one user's contribution differs, all others act on the billboard."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._episodes import stacked
from algorithms._linear_rl import hostile as hostile_users
from algorithms.lsvi_ucb.canaries import BatchCanary, canaries
from algorithms.lsvi_ucb.cases import audit_problem
from algorithms.lsvi_ucb.paths import UserPath, paths
from algorithms.lsvi_ucb.plan import BatchPlan, plan_of
from algorithms.lsvi_ucb.planning import BatchDomain, domain_of
from algorithms.lsvi_ucb.run import run_batches
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase, Run
from dpaudit.model.mechanism import Array

Pairs = tuple[tuple[str, Any, Any], ...]
"""What differs, and both users."""

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
    first, second = canaries(plan, settings.dimension)
    pairs = (*_usual_pairs(plan, domain, first, second), *_hostile_pairs(first, second))
    return (ReplayCase(name="lsvi_ucb batches", pairs=pairs, run=_program(plan, domain), others=((first, first),)),)


def _usual_pairs(plan: BatchPlan, domain: BatchDomain, first: BatchCanary, second: BatchCanary) -> Pairs:
    """Return users of the first, the middle and the last batch that is released; paths, of every one of few batches."""
    batches = len(plan.lengths)
    places = sorted({0, (batches - 1) // 2, max(0, batches - 2)})
    released = max(1, batches - 1)
    here, there = paths(plan, domain)
    return tuple(
        (f"the {what} of a user in batch {at + 1} differs", replace(user, batch=at), replace(neighbour, batch=at))
        for what, user, neighbour, looked_at in (
            ("contribution", first, second, places),
            ("path", here, there, range(released) if released <= _EVERY else places),
        )
        for at in looked_at
    )


def _hostile_pairs(first: BatchCanary, second: BatchCanary) -> Pairs:
    """Return users whose features or targets are out of all bounds, or no numbers."""
    hostile = tuple(
        (f"{what} times {factor:g} or as bounded", times(first, factor), second)
        for factor in hostile_users.FACTORS
        for what, times in (("features", hostile_users.features_times), ("targets", hostile_users.targets_times))
    )
    return (
        *hostile,
        ("features large in every entry or as bounded", hostile_users.features_in_a_corner(first), second),
    )


def _program(plan: BatchPlan, domain: BatchDomain) -> Run:
    """Return the run of all batches with one user given, and what the switching rule read in it."""

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
            **stacked(batches, "matrices", "vectors", "policy.values", "policy.actions"),
        }

    return run
