"""Runs of UCRL-VTR, all in lock-step: Algorithms 1 and 3, episode by episode, how users act, what runs produced."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from algorithms._conditions import FRESH, conditions_of, noise_is_fresh
from algorithms._episodes import EpisodeLog
from algorithms._linear_rl import checks
from algorithms._linear_rl.judge import Judge
from algorithms._linear_rl.least_squares import bonus_of, linear
from algorithms.problems.linear_mixture import LinearMixture
from algorithms.ucrl_vtr.canaries import Canary
from algorithms.ucrl_vtr.plan import MixturePlan
from algorithms.ucrl_vtr.planning import Domain, Planned, domain_of, plan_values
from algorithms.ucrl_vtr.regressions import Regression
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array


def greedy(values: Array, rng: np.random.Generator) -> Array:
    """Return the best action of each run, ties broken uniformly by `rng`. Shape: (n_runs, A) to (n_runs,)."""
    best = values == values.max(axis=1, keepdims=True)
    return np.where(best, rng.random(values.shape), -1.0).argmax(axis=1)


def play(domain: Domain, planned: Planned, streams: Streams) -> tuple[Array, Array]:
    """Return the features and targets that one episode's users contribute, in every run.

    Shape: (n_runs, G, d) and (n_runs, G). They are computed with the values that the episode was played with, and
    never again.
    """
    steps, _, actions_count = domain.mdp.shape
    n_runs = len(planned.values)
    runs = np.arange(n_runs)
    weighted = len(planned.radii) > 1
    features: list[Array] = []
    targets: list[Array] = []
    states = domain.mdp.start(n_runs, streams.environment)
    for h in range(steps - 1):
        actions = greedy(planned.actions[runs, h, states], streams.actions)
        cells = states * actions_count + actions
        x = planned.features[h][runs, cells]
        states = domain.mdp.move(h, states, actions, streams.environment)
        y = planned.values[runs, h + 1, states]
        if weighted:
            squared = domain.moments_at(cells, planned.values[:, h + 1] ** 2)
            deviation = spread_at(planned, h, x, squared, top=float(steps))
            features += [x / deviation[:, None], squared]
            targets += [y / deviation, y**2]
        else:
            features.append(x)
            targets.append(y)
    return np.stack(features, axis=1), np.stack(targets, axis=1)


def spread_at(planned: Planned, step: int, x: Array, squared: Array, top: float) -> Array:
    """Return the deviation by which Algorithm 3 divides a first moment: sqrt(max(H^2 / d, variance + error)).

    Shape: x and squared (n_runs, d), the features of values and of their squares at the visited cells. The error is
    min(H^2, 2 H check ||x||) + min(H^2, tilde ||squared||), each norm by its own regression's inverse. (The paper
    prints the features of values in the last norm; its proof has those of the squares.)
    """
    check, _, tilde = planned.radii
    first, second = 2 * step, 2 * step + 1
    regressed = planned.regressed
    mean = np.clip(linear(x[:, None], regressed.weights[:, first])[:, 0], 0.0, top)
    square = np.clip(linear(squared[:, None], regressed.weights[:, second])[:, 0], 0.0, top**2)
    of_mean = 2 * top * check * bonus_of(x[:, None], regressed.inverses[:, first])[:, 0]
    of_square = tilde * bonus_of(squared[:, None], regressed.inverses[:, second])[:, 0]
    error = np.minimum(top**2, of_mean) + np.minimum(top**2, of_square)
    return np.sqrt(np.maximum(top**2 / x.shape[1], square - mean**2 + error))


_CHECKPOINTS = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Episode:
    """One episode of all runs: how it was planned, what it contributed, and what was released after it.

    Shape: `contribution` and `released` (n_runs, G, d, d + 1); `released` is a noisy sum over all episodes so far.
    """

    number: int
    planned: Planned
    fresh: bool
    contribution: Array
    released: Array


def run_episodes(
    plan: MixturePlan, domain: Domain, streams: Streams, recorder: Recorder, n_runs: int, canary: Canary | None = None
) -> Iterator[Episode]:
    """Yield every episode in order. Memory: the live nodes of the trees, 8 n_runs G (log2 K + 2) d (d + 1) bytes."""
    groups, dimension = len(plan.regressions), domain.dimension
    sums = [plan.open(regression, recorder, plan.episodes) for regression in plan.regressions]
    released = np.zeros((n_runs, groups, dimension, dimension + 1))  # u_1 = 0; solve adds Lambda_1 = lambda I
    planned: Planned | None = None
    for number in range(1, plan.episodes + 1):  # k = 1, ..., K
        fresh = planned is None or (number - 1) % plan.planning_period == 0
        if planned is None or fresh:
            # Eq. (1) and w_k = Lambda_k^-1 u_k; the shift 2 Upsilon I is the public part of the noise B_k.
            regressed = plan.solve(released, plan.ridge, plan.shifts(number), plan.ridge)
            # Q_k and V_k, with beta_k of Theorem 7 (Algorithm 1) or of Eq. (5) (Algorithm 3)
            planned = plan_values(domain, regressed, plan.confidence.radii(number), plan.ranges, plan.clip)
        features, targets = play(domain, planned, streams)  # a_h = argmax Q_k; X_k,h and y_k,h
        if canary is not None and number == canary.episode:
            features, targets = (
                np.broadcast_to(canary.features, features.shape),
                np.broadcast_to(canary.targets, targets.shape),
            )
        contribution = plan.enter(plan.regressions, features, targets)  # X X^T and X y, clipped to their bounds
        # Eqs. (1) and (2): sums up to k, with B_k+1 and g_k+1 from trees (Cor. 5, 10) or messages (Cor. 6, 11)
        released = np.stack([noisy_sum(contribution[:, index]) for index, noisy_sum in enumerate(sums)], axis=1)
        yield Episode(number=number, planned=planned, fresh=fresh, contribution=contribution, released=released)


def checkpoints(episodes: int) -> tuple[int, ...]:
    """Return the episodes after which regret is written down: all, or about forty, evenly on a logarithmic scale."""
    if episodes <= _CHECKPOINTS:
        return tuple(range(1, episodes + 1))
    return tuple(sorted({round(episodes ** (i / _CHECKPOINTS)) for i in range(1, _CHECKPOINTS + 1)}))


def run_plan(
    settings: UcrlVtrSettings, plan: MixturePlan, problem: LinearMixture, streams: Streams, n_runs: int
) -> Transcript:
    """Return `n_runs` independent runs of `plan` on `problem`; see `transcript_of` for the arrays."""
    return transcript_of(plan, domain_of(settings, problem), streams, n_runs)


def transcript_of(plan: MixturePlan, domain: Domain, streams: Streams, n_runs: int) -> Transcript:
    """Return what ordinary runs produced.

    Shape: `regret` (n_runs, C) after the episodes of `checkpoints`; `gap` (n_runs,), what the last policy loses;
    `optimism` (n_runs,), the share of episodes whose values were nowhere below the optimal ones; `norms` (n_runs,),
    the largest feature or target against its bound; `released` (n_runs, G, d, d + 1) at the end, and `message`, the
    first user's; `policies` (n_runs, H, S, A), the mean over users of the values of actions that they were shown.
    """
    recorder = Recorder(streams.noise)
    judge = Judge.of(domain.mdp, plan.ranges, n_runs)
    outcomes: dict[Condition, bool] = dict.fromkeys((checks.VALUES, checks.FEATURES, checks.TARGETS), True)
    optimistic, norms = np.zeros((2, n_runs))
    log, wanted = EpisodeLog(episodes=plan.episodes), set(checkpoints(plan.episodes))
    for episode in run_episodes(plan, domain, streams, recorder, n_runs):
        if episode.fresh:
            judge.look(episode.planned.values, episode.planned.policies())
        features, targets = norm_ratios(episode.contribution, plan.regressions)
        outcomes[checks.FEATURES] &= bool((features <= 1 + checks.TOLERANCE).all())
        outcomes[checks.TARGETS] &= bool((targets <= 1 + checks.TOLERANCE).all())
        norms = np.maximum(norms, np.maximum(features, targets))
        optimistic = optimistic + judge.optimistic
        log.add(episode.number, judge.gap, episode.planned.actions, episode.released, keep=episode.number in wanted)
    outcomes |= {checks.VALUES: judge.in_range, FRESH: noise_is_fresh(streams, recorder.trace())}
    further = {"gap": judge.gap, "optimism": optimistic / plan.episodes, "norms": norms}
    return log.transcript(further, recorder.trace(), conditions_of(outcomes), local=plan.model == "local")


def norm_ratios(contributions: Array, regressions: tuple[Regression, ...]) -> tuple[Array, Array]:
    """Return how large features and targets are against their bounds, as they entered. Shape: both (n_runs,).

    ||x||^2 is the trace of x x^T, and |y| is ||y x|| over ||x||; where x is 0, y entered nowhere. The sign of y does
    not matter: (x, -y) enters as (-x, y) does.
    """
    x_bounds = np.array([regression.feature_bound for regression in regressions])
    y_bounds = np.array([regression.target_bound for regression in regressions])
    norms = np.sqrt(np.maximum(np.trace(contributions[..., :-1], axis1=-2, axis2=-1), 0.0))
    targets = np.linalg.norm(contributions[..., -1], axis=-1) / np.where(norms > 0, norms, np.inf)
    return (norms / x_bounds).max(axis=1), (targets / y_bounds).max(axis=1)
