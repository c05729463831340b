"""The audit of one user's message, and replays of whole runs on one tape in which one user's message differs."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._episodes import stacked
from algorithms._linear_rl import hostile as hostile_users
from algorithms._linear_rl.values import at_cosine
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


def pair_of(settings: ReplayedLsviSettings) -> tuple[Canary, Canary]:
    """Return two users of full norm and equal targets, at the angle at which matrix and vector together move most."""
    first, second = at_cosine(plan_of(settings).mechanism.cosine, settings.dimension)
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
    small = low_rank(states=3, actions=2, steps=settings.steps, dimension=settings.dimension)
    domain = BatchDomain.of(problem or small)

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        learned = list(run_stages(plan, domain, streams, Recorder(streams.noise), n_runs, data))
        return stacked(learned, "sums", "policy.values", "policy.actions")

    pairs, (first, _) = _pairs_of(settings), pair_of(settings)
    return (ReplayCase(name="replayed_lsvi stages", pairs=pairs, run=run, others=((first, first),)),)


def _pairs_of(settings: ReplayedLsviSettings) -> tuple[tuple[str, Canary, Canary], ...]:
    """Return users of the first and last step of the first and last stage, and users out of all bounds."""
    first, second = pair_of(settings)
    usual = tuple(
        (
            f"the user asked about step {step + 1} in stage {stage + 1} differs",
            replace(first, stage=stage, step=step),
            replace(second, stage=stage, step=step),
        )
        for stage in sorted({0, settings.stages - 1})
        for step in sorted({0, settings.steps - 1})
    )
    full = replace(first, features=np.where(first.features == 0, 0.5, first.features))
    hostile = tuple(
        (f"{what} times {factor:g} or as bounded", changed, second)
        for factor in hostile_users.FACTORS
        for what, changed in (
            ("features", hostile_users.features_times(full, factor)),
            ("target", replace(first, target=factor)),
        )
    )
    return usual + hostile


def _fewest(settings: ReplayedLsviSettings) -> int:
    """Return a number of episodes at which every stage has users."""
    return int(2 * settings.steps * 2**settings.stages / settings.learning_share) + 1
