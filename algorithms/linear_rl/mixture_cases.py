"""Audits of UCRL-VTR: the real code run on neighbouring first users, and the likelihood ratio of what it released.

The target is the first user: they are in the most nodes. Their features are their own, so the neighbours are the two
contributions that lie furthest apart within the bounds; all others act on the billboard, as they would.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.linear_rl.episodes import run_episodes
from algorithms.linear_rl.plan import MixturePlan, products
from algorithms.linear_rl.planning import Domain
from algorithms.linear_rl.regressions import Regression
from algorithms.linear_rl.sums import message_of, parts_of
from algorithms.linear_rl.users import Canary
from algorithms.problems.linear_mixture import LinearMixture, random_mixture
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.mechanism import Array
from mechanisms import JointGaussian, SymmetricGaussian

if TYPE_CHECKING:
    from algorithms.linear_rl.ucrl_vtr import UcrlVtr

LONGEST = 16
"""Episodes that an audit plays: enough for five levels of nodes. The noise stays that of the whole horizon."""


def cases_of(config: "UcrlVtr", problem: LinearMixture | None) -> tuple[AuditCase, ...]:
    """Return the audits that fit the model of `config`."""
    plan = config.plan()
    pair = canaries(plan, config.dimension)
    if config.model == "local":
        return (message_case(plan, pair),)
    domain = Domain.of(problem if problem is not None else audit_problem(config))
    return billboard_case(plan, domain, pair), actions_case(plan, domain, pair)


def audit_problem(config: "UcrlVtr") -> LinearMixture:
    """Return a small problem of the config's steps and dimension for the other users to act in."""
    return random_mixture(states=3, actions=2, steps=config.steps, dimension=config.dimension)


def billboard_case(
    plan: MixturePlan, domain: Domain, pair: tuple[Canary, Canary], mechanisms: tuple[Regression, ...] | None = None
) -> AuditCase:
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
        score=BillboardRatio(regressions=mechanisms or plan.regressions, pair=pair),
        gaussian=is_gaussian(plan.regressions),
    )


def actions_case(plan: MixturePlan, domain: Domain, pair: tuple[Canary, Canary]) -> AuditCase:
    """Return the audit of joint privacy in its literal form: what users after the first are told to do."""
    length = min(plan.episodes, LONGEST)
    short = replace(plan, episodes=length)

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        played = run_episodes(short, domain, streams, Recorder(streams.noise), n_runs, data)
        policies = [episode.planned.actions[:, 0, 0].argmax(axis=1) for episode in played]
        return {"actions": np.stack(policies, axis=1)[:, 1:]}

    return AuditCase(
        name="ucrl_vtr actions",
        view="actions",
        description="The first actions that the users after the first are told to play, from one state.",
        neighbours=pair,
        relation="replace_one",
        run=run,
    )


def message_case(plan: MixturePlan, pair: tuple[Canary, Canary]) -> AuditCase:
    """Return the local audit: one user's own message, a run being a user."""

    def run(data: Canary, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        recorder = Recorder(Streams.spawn(rng).noise)
        shape = (n_runs, *data.features.shape)
        features, targets = np.broadcast_to(data.features, shape), np.broadcast_to(data.targets, shape[:2])
        entered = plan.enter(plan.regressions, features, targets)
        sent = [message_of(held, recorder, entered[:, place]) for place, held in enumerate(plan.regressions)]
        return {"message": np.stack(sent, axis=1)}

    return AuditCase(
        name="ucrl_vtr message",
        view="message",
        description="One user's own message; their contribution is one of two.",
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=MessageRatio(regressions=plan.regressions, pair=pair),
        gaussian=is_gaussian(plan.regressions),
    )


def billboard(plan: MixturePlan, domain: Domain, canary: Canary, streams: Streams, n_runs: int) -> dict[str, Array]:
    """Return all released sums, and what the other users put into them, which the adversary knows.

    Shape: both (n_runs, K, G, d, d + 1), the second a sum over all episodes so far but the target's.
    """
    released, others = [], []
    total: Any = 0.0
    for episode in run_episodes(plan, domain, streams, Recorder(streams.noise), n_runs, canary):
        total = total + (0.0 if episode.number == canary.episode else 1.0) * episode.contribution
        released.append(episode.released)
        others.append(total)
    return {"released": np.stack(released, axis=1), "others": np.stack(others, axis=1)}


def nodes_of(view: Mapping[str, Array], episode: int) -> Array:
    """Return the nodes that hold `episode`, as the target and noise alone left them. Shape: (n_runs, m, G, d, d + 1).

    Prefix k less prefix k - lowbit(k) is the node that ends at k.
    """
    own = view["released"] - view["others"]
    length = own.shape[1]
    held: list[Array] = []
    k = episode
    while k <= length:
        before = k & (k - 1)
        held.append(own[:, k - 1] - (own[:, before - 1] if before else 0.0))
        k += k & -k
    return np.stack(held, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BillboardRatio:
    """The log likelihood ratio of all nodes that hold the target, second neighbour over first: no test does better."""

    regressions: tuple[Regression, ...]
    pair: tuple[Canary, Canary]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape: (n_runs,)."""
        nodes = nodes_of(view, self.pair[0].episode)
        scores: Array = ratio(self.regressions, self.pair, nodes).sum(axis=1)
        return scores


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageRatio:
    """The log likelihood ratio of one message."""

    regressions: tuple[Regression, ...]
    pair: tuple[Canary, Canary]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a user. Shape: (n_runs,)."""
        return ratio(self.regressions, self.pair, view["message"])


def ratio(regressions: tuple[Regression, ...], pair: tuple[Canary, Canary], outputs: Array) -> Array:
    """Return the log likelihood ratio of outputs (..., G, d, d + 1) over all regressions. Shape: (...)."""
    first, second = (products(canary.features, canary.targets) for canary in pair)
    total: Any = 0.0
    for place, held in enumerate(regressions):
        for side, value in ((-1.0, first[place]), (1.0, second[place])):
            for (_, mechanism, output), (_, _, mean) in zip(
                parts_of(held, outputs[..., place, :, :]), parts_of(held, value), strict=True
            ):
                density = mechanism.log_density(output, mean)
                surplus = density.ndim - (outputs.ndim - 3)
                total = total + side * (density.sum(axis=tuple(range(-surplus, 0))) if surplus else density)
    result: Array = total
    return result


def canaries(plan: MixturePlan, dimension: int) -> tuple[Canary, Canary]:
    """Return the two first users whose contributions lie furthest apart in every regression, in units of its noise.

    Full norms and equal targets, at the cosine where matrix and vector together move furthest.
    """
    pairs = [worst_features(held, dimension) for held in plan.regressions]
    targets = np.array([held.target_bound for held in plan.regressions])
    first, second = (np.stack([pair[side] for pair in pairs]) for side in (0, 1))
    return Canary(features=first, targets=targets), Canary(features=second, targets=targets)


def worst_features(regression: Regression, dimension: int) -> tuple[Array, Array]:
    """Return two feature vectors of full norm at the cosine that is worst for the regression's noise."""
    cosine = worst_cosine(regression) if dimension > 1 else -1.0
    first, second = np.zeros(dimension), np.zeros(dimension)
    first[0], second[0] = 1.0, cosine
    if dimension > 1:
        second[1] = math.sqrt(1 - cosine**2)
    return regression.feature_bound * first, regression.feature_bound * second


def worst_cosine(regression: Regression) -> float:
    """Return the cosine at which matrix and vector move furthest: -b^2 v_M / (2 a^2 v_u), at least -1.

    v_M is the variance of the matrix noise in the worst direction and v_u that of the vector's.
    """
    first: Any = regression.noises[0][1]
    if isinstance(first, JointGaussian):
        return float(first.cosine)
    if isinstance(first, SymmetricGaussian):
        variance = 2.0 if first.symmetry == "sqrt2" else 1.0
        return -min(1.0, variance * (regression.target_bound / regression.feature_bound) ** 2 / 2)
    return -0.5


def predicted_mu(regressions: tuple[Regression, ...], pair: tuple[Canary, Canary], nodes: int) -> float:
    """Return the mu at which the likelihood ratio separates `pair`, over `nodes` nodes a regression (Gaussian noise).

    The log likelihood ratio at the second neighbour's own mean is mu^2 / 2.
    """
    at_second = products(pair[1].features, pair[1].targets)
    return math.sqrt(2 * nodes * float(ratio(regressions, pair, at_second)))


def is_gaussian(regressions: tuple[Regression, ...]) -> bool:
    """Return whether all noise is Gaussian."""
    return all(held.squared_mu() > 0 for held in regressions)
