"""Replays of UCRL-VTR on one tape: one user's contribution differs, all others act on the billboard."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._episodes import stacked
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
    long, short = (replace(plan, episodes=min(plan.episodes, episodes)) for episodes in (_LONGEST, _SHORT))
    pairs, hostile = _usual_pairs(long, first, second), _hostile_pairs(first, second)
    return (
        ReplayCase(name="ucrl_vtr episodes", pairs=pairs, run=_program(long, domain), others=((first, first),)),
        ReplayCase(name="ucrl_vtr hostile records", pairs=hostile, run=_program(short, domain)),
    )


def _usual_pairs(plan: MixturePlan, first: Canary, second: Canary) -> tuple[tuple[str, Canary, Canary], ...]:
    """Return users of the first, the middle and the last episode, and users who contribute nothing."""
    length = plan.episodes
    usual = tuple(
        (f"the contribution of user {at} differs", replace(first, episode=at), replace(second, episode=at))
        for at in sorted({1, max(1, length // 2), length})
    )
    nothing = replace(first, features=np.zeros_like(first.features))
    absent = tuple(
        (f"user {at} contributes nothing or as bounded", replace(nothing, episode=at), replace(second, episode=at))
        for at in sorted({1, min(length, plan.planning_period), length})
    )
    return usual + absent


def _hostile_pairs(first: Canary, second: Canary) -> tuple[tuple[str, Canary, Canary], ...]:
    """Return users whose features or targets are out of all bounds, or no numbers."""
    full = replace(first, features=np.abs(first.features) + np.abs(first.features).max() / 2)
    of_first = replace(second, targets=first.targets)
    return tuple(
        (f"{what} times {factor:g} or as bounded", times(user, factor), other)
        for size in hostile_users.FACTORS
        for what, times, factor, user, other in (
            ("features", hostile_users.features_times, size, first, second),
            ("targets", hostile_users.targets_times, size, of_first, first),
            ("targets", hostile_users.targets_times, -size, first, first),
            ("every feature", hostile_users.features_times, size, full, second),
        )
    )


def _program(plan: MixturePlan, domain: Domain) -> Run:
    """Return the run of all episodes, in which one user's contribution is given."""

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        episodes = list(run_episodes(plan, domain, streams, Recorder(streams.noise), n_runs, data))
        return {
            **stacked(episodes, "released", "planned.values", "planned.actions"),
            "when plans are made": np.array([[episode.fresh for episode in episodes]]),
        }

    return run
