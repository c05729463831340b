"""Audits of UCRL-VTR: the real code on two neighbouring first users, scored by the likelihood ratio of its releases.

The target is the first user: they are in the most nodes. Their features are their own, so the neighbours are the two
contributions that lie furthest apart within the bounds; all others act on the billboard, as they would.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._episodes import actions_case, billboard_of, nodes_holding
from algorithms.problems.linear_mixture import LinearMixture, random_mixture
from algorithms.ucrl_vtr.canaries import Canary, canaries
from algorithms.ucrl_vtr.plan import MixturePlan, plan_of, products
from algorithms.ucrl_vtr.planning import Domain
from algorithms.ucrl_vtr.regressions import Regression
from algorithms.ucrl_vtr.run import run_episodes
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from algorithms.ucrl_vtr.sums import message_of, parts_of
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.mechanism import Array

LONGEST = 16
"""Episodes that an audit plays: enough for five levels of nodes. The noise stays that of the whole horizon."""


def cases_of(settings: UcrlVtrSettings, problem: LinearMixture | None = None) -> tuple[AuditCase, ...]:
    """Return the audits that fit the model of the settings."""
    plan = plan_of(settings)
    pair = canaries(plan, settings.dimension)
    if settings.model == "local":
        return (message_case(plan, pair),)
    domain = Domain.of(problem if problem is not None else audit_problem(settings))
    return billboard_case(plan, domain, pair), told_case(plan, domain, pair)


def audit_problem(settings: UcrlVtrSettings) -> LinearMixture:
    """Return a small problem of the settings' steps and dimension for the other users to act in."""
    return random_mixture(states=3, actions=2, steps=settings.steps, dimension=settings.dimension)


def billboard_case(plan: MixturePlan, domain: Domain, pair: tuple[Canary, Canary]) -> AuditCase:
    """Return the white-box audit: every released sum, scored by its likelihood ratio."""
    length = min(plan.episodes, LONGEST)
    short = replace(plan, episodes=length)

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return billboard(short, domain, data, Streams.spawn(rng), n_runs)

    return AuditCase(
        name="ucrl_vtr billboard",
        view="billboard",
        description=(
            f"All statistics released in {length} of {plan.episodes:,} episodes, in which the first user is in "
            f"{length.bit_length()} of {plan.episodes.bit_length()} nodes a step; their contribution is one of two."
        ),
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=lambda view: ratio(plan.regressions, pair, nodes_of(view, pair[0].episode)).sum(axis=1),
        gaussian=is_gaussian(plan.regressions),
    )


def told_case(plan: MixturePlan, domain: Domain, pair: tuple[Canary, Canary]) -> AuditCase:
    """Return the audit of what later users are told to do."""
    short = replace(plan, episodes=min(plan.episodes, LONGEST))

    def told(data: Canary, streams: Streams, recorder: Recorder, n_runs: int) -> Iterator[Array]:
        played = run_episodes(short, domain, streams, recorder, n_runs, data)
        return (episode.planned.actions for episode in played)

    return actions_case("ucrl_vtr", pair, told)


def message_case(plan: MixturePlan, pair: tuple[Canary, Canary]) -> AuditCase:
    """Return the local audit: one user's own message, a run being a user."""

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        recorder = Recorder(Streams.spawn(rng).noise)
        shape = (n_runs, *data.features.shape)
        features, targets = np.broadcast_to(data.features, shape), np.broadcast_to(data.targets, shape[:2])
        entered = plan.enter(plan.regressions, features, targets)
        sent = [
            message_of(regression, recorder, entered[:, index]) for index, regression in enumerate(plan.regressions)
        ]
        return {"message": np.stack(sent, axis=1)}

    return AuditCase(
        name="ucrl_vtr message",
        view="message",
        description="One user's own message; their contribution is one of two.",
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=lambda view: ratio(plan.regressions, pair, view["message"]),
        gaussian=is_gaussian(plan.regressions),
    )


def billboard(plan: MixturePlan, domain: Domain, canary: Canary, streams: Streams, n_runs: int) -> dict[str, Array]:
    """Return all released sums, and what the other users put into them, which the adversary knows.

    Shape: both (n_runs, K, G, d, d + 1), the second a sum over all episodes so far but the target's.
    """
    episodes = run_episodes(plan, domain, streams, Recorder(streams.noise), n_runs, canary)
    return billboard_of(((episode.released, episode.contribution) for episode in episodes), canary.episode)


def is_gaussian(regressions: tuple[Regression, ...]) -> bool:
    """Return whether all noise is Gaussian."""
    return all(regression.squared_mu() > 0 for regression in regressions)


def nodes_of(view: Mapping[str, Array], episode: int) -> Array:
    """Return the nodes that hold `episode`, as the target and noise alone left them.

    Shape: (n_runs, m, G, d, d + 1).
    """
    return np.stack(nodes_holding(view["released"] - view["others"], episode), axis=1)


def ratio(regressions: tuple[Regression, ...], pair: tuple[Canary, Canary], outputs: Array) -> Array:
    """Return the log likelihood ratio of outputs (..., G, d, d + 1) over all regressions. Shape: (...)."""
    first, second = (products(canary.features, canary.targets) for canary in pair)
    total: Any = 0.0
    for index, regression in enumerate(regressions):
        for side, value in ((-1.0, first[index]), (1.0, second[index])):
            for (_, mechanism, output), (_, _, mean) in zip(
                parts_of(regression, outputs[..., index, :, :]), parts_of(regression, value), strict=True
            ):
                density = mechanism.log_density(output, mean)
                surplus = density.ndim - (outputs.ndim - 3)
                total = total + side * (density.sum(axis=tuple(range(-surplus, 0))) if surplus else density)
    return total
