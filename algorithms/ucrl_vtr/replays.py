"""Replays of UCRL-VTR on one tape: one user's contribution differs, all others act on the billboard."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.ucrl_vtr.canaries import Canary, canaries
from algorithms.ucrl_vtr.cases import audit_problem
from algorithms.ucrl_vtr.plan import plan_of
from algorithms.ucrl_vtr.planning import domain_of
from algorithms.ucrl_vtr.run import run_episodes
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 16
_HOSTILE = (np.nan, np.inf, 1e150, 3.0)


def replays_of(settings: UcrlVtrSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replay of a few episodes: sums released after each, and the plans made from them.

    The user who differs comes first, in the middle or last; features and targets are the worst ones, or hostile.
    """
    full = plan_of(settings)
    plan = replace(full, episodes=min(full.episodes, _LONGEST))
    domain = domain_of(settings, problem if problem is not None else audit_problem(settings))

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        episodes = list(run_episodes(plan, domain, streams, Recorder(streams.noise), n_runs, data))
        return {
            "released": np.stack([episode.released for episode in episodes], axis=1),
            "values": np.stack([episode.planned.values for episode in episodes], axis=1),
            "actions": np.stack([episode.planned.actions for episode in episodes], axis=1),
        }

    first, second = canaries(plan, settings.dimension)
    places = sorted({1, max(1, plan.episodes // 2), plan.episodes})
    usual = tuple(
        (f"the contribution of user {at} differs", replace(first, episode=at), replace(second, episode=at))
        for at in places
    )
    hostile = tuple(
        pair
        for factor in _HOSTILE
        for pair in (
            (
                f"features times {factor:g} or as bounded",
                replace(first, features=_times(first.features, factor)),
                second,
            ),
            (f"targets times {factor:g} or as bounded", replace(second, targets=_times(first.targets, factor)), first),
            (f"targets times {-factor:g} or as bounded", replace(first, targets=_times(first.targets, -factor)), first),
        )
    )
    return (ReplayCase(name="ucrl_vtr episodes", pairs=(*usual, *hostile), run=run, others=((first, first),)),)


def _times(values: Array, factor: float) -> Array:
    """Return multiplied values; 0 times infinity is not a number."""
    with np.errstate(invalid="ignore"):
        return values * factor
