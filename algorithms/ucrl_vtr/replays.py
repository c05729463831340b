"""Replays of UCRL-VTR on one tape: one user's contribution differs, all others act on the billboard."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._linear_rl import hostile as hostile_users
from algorithms.ucrl_vtr.canaries import Canary, canaries
from algorithms.ucrl_vtr.cases import audit_problem
from algorithms.ucrl_vtr.plan import MixturePlan, plan_of
from algorithms.ucrl_vtr.planning import Domain, domain_of
from algorithms.ucrl_vtr.run import run_episodes
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase, Run
from dpaudit.model.mechanism import Array

_LONGEST, _SHORT = 64, 4


def replays_of(settings: UcrlVtrSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of episodes: sums released after each, and the plans made from them.

    In many episodes the user who differs comes first, in the middle or last, with the worst features and targets; in a
    few, the records are hostile.
    """
    plan = plan_of(settings)
    domain = domain_of(settings, problem if problem is not None else audit_problem(settings))
    first, second = canaries(plan, settings.dimension)
    length = min(plan.episodes, _LONGEST)
    usual = tuple(
        (f"the contribution of user {at} differs", replace(first, episode=at), replace(second, episode=at))
        for at in sorted({1, max(1, length // 2), length})
    )
    full = replace(first, features=np.abs(first.features) + np.abs(first.features).max() / 2)
    hostile = tuple(
        pair
        for factor in hostile_users.FACTORS
        for pair in (
            (f"features times {factor:g} or as bounded", hostile_users.features_times(first, factor), second),
            (
                f"targets times {factor:g} or as bounded",
                replace(second, targets=hostile_users.times(first.targets, factor)),
                first,
            ),
            (f"targets times {-factor:g} or as bounded", hostile_users.targets_times(first, -factor), first),
            (f"every feature times {factor:g} or as bounded", hostile_users.features_times(full, factor), second),
        )
    )
    usual += tuple(
        (f"user {at} contributes nothing or as bounded", _nothing(first, at), replace(second, episode=at))
        for at in sorted({1, min(length, plan.planning_period), length})
    )
    return (
        ReplayCase(
            name="ucrl_vtr episodes",
            pairs=usual,
            run=_program(replace(plan, episodes=length), domain),
            others=((first, first),),
        ),
        ReplayCase(
            name="ucrl_vtr hostile records",
            pairs=hostile,
            run=_program(replace(plan, episodes=min(plan.episodes, _SHORT)), domain),
        ),
    )


def _program(plan: MixturePlan, domain: Domain) -> Run:
    """Return the run of all episodes, in which one user's contribution is given."""

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        episodes = list(run_episodes(plan, domain, streams, Recorder(streams.noise), n_runs, data))
        return {
            "released": np.stack([episode.released for episode in episodes], axis=1),
            "values": np.stack([episode.planned.values for episode in episodes], axis=1),
            "actions": np.stack([episode.planned.actions for episode in episodes], axis=1),
            "when plans are made": np.array([[episode.fresh for episode in episodes]]),
        }

    return run


def _nothing(canary: Canary, episode: int) -> Canary:
    """Return a user whose features are all 0."""
    return replace(canary, features=np.zeros_like(canary.features), episode=episode)
