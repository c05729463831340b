"""The audit of one user's message, and replays of whole runs on one tape in which one user's message differs."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._scores import DensityRatio
from algorithms.lsvi_ucb.planning import BatchDomain
from algorithms.problems.linear_mdp import LinearMdp, low_rank
from algorithms.replayed_lsvi.plan import label_of, plan_of
from algorithms.replayed_lsvi.run import Canary, contribution, run_stages
from algorithms.replayed_lsvi.settings import ReplayedLsviSettings
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 5_000
_FACTORS = (np.nan, np.inf, 1e150, 3.0)


def pair_of(settings: ReplayedLsviSettings) -> tuple[Canary, Canary]:
    """Return two users of full norm and equal targets, at the angle at which matrix and vector together move most."""
    cosine = plan_of(settings).mechanism.cosine
    first, second = np.zeros((2, settings.dimension))
    first[0], second[0], second[1] = 1.0, cosine, np.sqrt(1 - cosine**2)
    return Canary(features=first, target=1.0), Canary(features=second, target=1.0)


def cases_of(settings: ReplayedLsviSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audit of one user's own message; `problem` does not matter to it."""
    mechanism, pair = plan_of(settings).mechanism, pair_of(settings)
    first, second = (contribution(user.features, np.asarray(user.target)) for user in pair)

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        shape = (n_runs, settings.dimension)
        exact = contribution(np.broadcast_to(data.features, shape), np.full(n_runs, data.target))
        return {"message": Recorder(Streams.spawn(rng).noise).release(label_of(0), mechanism, exact)}

    return (
        AuditCase(
            name="replayed_lsvi message",
            view="message",
            description="One user's own message; their features are one of two.",
            neighbours=pair,
            relation="replace_one",
            run=run,
            score=DensityRatio(mechanism=mechanism, shown="message", first=first, second=second),
            gaussian=True,
        ),
    )


def replays_of(settings: ReplayedLsviSettings, problem: LinearMdp | None = None) -> tuple[ReplayCase, ...]:
    """Return the replay of all stages: sums released for each step, and the policies learned from them."""
    plan = plan_of(replace(settings, episodes=max(min(settings.episodes, _LONGEST), _fewest(settings))))
    given = problem or low_rank(states=3, actions=2, steps=settings.steps, dimension=settings.dimension)
    domain = BatchDomain.of(given)

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        learned = list(run_stages(plan, domain, streams, Recorder(streams.noise), n_runs, data))
        return {
            "sums": np.stack([stage.sums for stage in learned], axis=1),
            "values": np.stack([stage.policy.values for stage in learned], axis=1),
            "actions": np.stack([stage.policy.actions for stage in learned], axis=1),
        }

    first, second = pair_of(settings)
    places = sorted({(stage, step) for stage in (0, len(plan.stages) - 1) for step in (0, settings.steps - 1)})
    usual = tuple(
        (
            f"the user asked about step {step + 1} in stage {stage + 1} differs",
            replace(first, stage=stage, step=step),
            replace(second, stage=stage, step=step),
        )
        for stage, step in places
    )
    hostile = tuple(
        (f"{what} times {factor:g} or as bounded", changed, second)
        for factor in _FACTORS
        for what, changed in (
            ("features", replace(first, features=factor * np.where(first.features == 0, 0.5, first.features))),
            ("target", replace(first, target=factor)),
        )
    )
    return (ReplayCase(name="replayed_lsvi stages", pairs=(*usual, *hostile), run=run, others=((first, first),)),)


def _fewest(settings: ReplayedLsviSettings) -> int:
    """Return a number of episodes at which every stage has users."""
    return int(2 * settings.steps * 2**settings.stages / settings.learning_share) + 1
