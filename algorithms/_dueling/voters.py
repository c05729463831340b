"""The people who answer in a dueling bandit: simulated from a problem, or recorded in a data set."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from algorithms.problems.duels import Duels
from dpaudit.model.mechanism import Array


class Voters(Protocol):
    """People who answer one a round."""

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return 1 where the option on the left wins, else 0; rounds count from 0. Shape: that of `left`."""
        ...


class CountedVoters(Protocol):
    """People whose answers to many duels come as counts of wins."""

    def wins(self, start: int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return how often the first option of each comparison won, from round `start` on; plays (n_runs, G)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVoters:
    """People who prefer i to j with the problem's probability."""

    problem: Duels

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return fresh people's answers."""
        chance = self.problem.preferences.ravel()[left * self.problem.arms + right]
        wins: Array = (rng.random(np.shape(left)) < chance).astype(np.float64)
        return wins

    def wins(self, start: int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return fresh people's wins, drawn as binomial counts: exact in law."""
        chance = self.problem.preferences[first, second]
        wins: Array = rng.binomial(plays.astype(np.int64), chance).astype(np.float64)
        return wins


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedVoters:
    """A data set: record t is one person's answer, whatever they are shown (T,), or to each duel (T, K, K).

    The same records answer in every run. Counts of wins need the first form; comparisons come one after another.
    """

    answers: Array

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's answers."""
        answers = self.answers[rounds] if self.answers.ndim == 1 else self.answers[rounds, left, right]
        wins: Array = np.broadcast_to(np.asarray(answers, dtype=np.float64), np.shape(left))
        return wins

    def wins(self, start: int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's wins, the comparisons' rounds in order."""
        ends = start + np.cumsum(plays, axis=1).astype(np.int64)
        totals = np.concatenate([[0.0], np.cumsum(self.answers)])
        wins: Array = totals[ends] - totals[ends - plays.astype(np.int64)]
        return wins
