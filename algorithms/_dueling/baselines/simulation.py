"""One run of a policy, round by round, and the policy that learns nothing."""

from dataclasses import dataclass
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


@dataclass(slots=True, kw_only=True)
class Uniform:
    """Two options at random, whatever was answered."""

    arms: int

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return two draws."""
        left, right = rng.integers(self.arms, size=2)
        return int(left), int(right)

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Read nothing."""


def simulate(policy: Policy, problem: Duels, horizon: int, rng: np.random.Generator) -> Array:
    """Return how often each duel took place in one run; shape (K, K)."""
    plays = np.zeros(problem.preferences.shape)
    table = problem.preferences
    for number in range(1, horizon + 1):
        left, right = policy.choose(number, rng)
        plays[left, right] += 1
        policy.learn(left, right, won=bool(rng.random() < table[left, right]))
    return plays


def win_table(wins: Array) -> tuple[Array, Array]:
    """Return shares of wins and numbers of duels for every ordered pair; shares of unmet pairs are NaN."""
    duels = wins + wins.T
    with np.errstate(invalid="ignore"):
        return wins / duels, duels
