"""One run of a policy, round by round."""

import math
from typing import Protocol

import numpy as np

from algorithms.problems.duels import Duels
from dpaudit.model.mechanism import Array


class Policy(Protocol):
    """A learner without privacy: it picks two options a round and reads the answer."""

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return the options of round `number`, from 1."""
        ...

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Read the answer; `won` says that the option on the left was preferred."""
        ...

    def repeats(self, number: int) -> int:
        """Return how many rounds from `number` on surely repeat the duel of round `number`, which taught nothing.

        Asked after a duel of an option with itself; 1 is always right.
        """
        ...


def simulate(policy: Policy, problem: Duels, horizon: int, rng: np.random.Generator) -> Array:
    """Return how often each duel took place in one run; shape (K, K).

    Rounds that surely repeat a duel of an option with itself are counted at once, as nothing is learned in them.
    """
    plays = np.zeros(problem.preferences.shape)
    table = problem.preferences.tolist()
    number = 1
    while number <= horizon:
        left, right = policy.choose(number, rng)
        rounds = 1 if left != right else min(policy.repeats(number), horizon + 1 - number)
        plays[left, right] += rounds
        policy.learn(left, right, won=bool(rng.random() < table[left][right]))
        number += rounds
    return plays


class Counting:
    """A learner that counts who beat whom; an option against itself tells nothing."""

    def __init__(self, *, arms: int) -> None:
        self.arms, self.wins = arms, np.zeros((arms, arms))

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Count the win."""
        if left != right:
            self.wins[(left, right) if won else (right, left)] += 1


def rounds_until(logarithm: float, number: int) -> int:
    """Return how many rounds t from `number` on have ln t below `logarithm`, at least 1 and at most 2^62.

    >>> rounds_until(math.log(10.5), 8), rounds_until(-math.inf, 8), rounds_until(math.inf, 8) == 2**62
    (3, 1, True)
    """
    if logarithm >= _LONGEST:
        return 2**62
    return max(math.ceil(math.exp(logarithm)) - number, 1)


_LONGEST = 42.0
"""A logarithm whose exponential is below 2^62."""


def win_table(wins: Array) -> tuple[Array, Array]:
    """Return shares of wins and numbers of duels for every ordered pair; shares of unmet pairs are NaN."""
    duels = wins + wins.T
    with np.errstate(invalid="ignore"):
        return wins / duels, duels
