"""Bandits that keep one regression for all actions, and change their policy at times that grow geometrically.

Between two changes the policy is fixed, so users can be drawn as counts and their noise as one sum: exact in law, at a
cost of O(log horizon). Changing the policy at every round would follow the same statistics more closely and no other.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Streams
from dpaudit.model.mechanism import Array

Noise = Callable[[int, Array, Array], tuple[Array, Array]]
"""noise(users, gram, target) -> both sums with the noise of `users` messages."""

Policy = Callable[[int, Array, Array], Array]
"""policy(users so far, gram, target) -> how each context chooses among its actions, (R, C, A)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """What a run of a shared regression brings.

    Shape: `regret` (R, B), the expected regret of each batch; `policy` (R, C, A), the last one; `gram` (R, d, d) and
    `target` (R, d), the statistics as the server holds them at the end.
    """

    regret: Array
    policy: Array
    gram: Array
    target: Array


def batch_lengths(horizon: int, growth: float) -> tuple[int, ...]:
    """Return lengths that sum to `horizon`: each batch ends when the users so far have grown by `growth`.

    >>> batch_lengths(10, 2.0)
    (1, 1, 2, 4, 2)
    """
    lengths: list[int] = []
    seen = 0
    while seen < horizon:
        step = max(1, math.ceil(seen * (growth - 1)))
        lengths.append(min(step, horizon - seen))
        seen += lengths[-1]
    return tuple(lengths)


def uniform_policy(problem: LinearBandit, n_runs: int) -> Array:
    """Return the policy that picks every action alike; shape (R, C, A)."""
    return np.full((n_runs, problem.n_contexts, problem.n_actions), 1 / problem.n_actions)


def best_of(index: Array) -> Array:
    """Return the policy that plays the largest index, (R, C, A)."""
    return (index.argmax(axis=2)[..., None] == np.arange(index.shape[2])).astype(np.float64)


def run_batches(
    problem: LinearBandit, lengths: tuple[int, ...], noise: Noise, policy: Policy, streams: Streams, n_runs: int
) -> Course:
    """Return the course of `n_runs` runs: play a batch, add its noisy statistics, change the policy."""
    law, dimension = uniform_policy(problem, n_runs), problem.dimension
    gram, target = np.zeros((n_runs, dimension, dimension)), np.zeros((n_runs, dimension))
    regrets: list[Array] = []
    seen = 0
    for length in lengths:
        regrets.append(length * ((law * problem.gaps).sum(axis=2) * problem.context_probabilities).sum(axis=1))
        batch = statistics_of(problem, law, length, streams)
        noisy = noise(length, *batch)
        gram, target, seen = gram + noisy[0], target + noisy[1], seen + length
        law = policy(seen, gram, target)
    return Course(regret=np.stack(regrets, axis=1), policy=law, gram=gram, target=target)


def statistics_of(problem: LinearBandit, law: Array, users: int, streams: Streams) -> tuple[Array, Array]:
    """Return sums of x x^T and y x over `users` users who play by `law`: (R, d, d) and (R, d); exact in law."""
    arrivals = streams.environment.multinomial(users, problem.context_probabilities, size=len(law))
    counts = streams.actions.multinomial(arrivals, law)
    positive = streams.environment.binomial(counts, np.clip((1 + problem.mean_reward) / 2, 0, 1))
    gram = np.einsum("rca,cai,caj->rij", counts.astype(np.float64), problem.features, problem.features)
    target = np.einsum("rca,cai->ri", (2 * positive - counts).astype(np.float64), problem.features)
    return gram, target
