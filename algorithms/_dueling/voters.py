"""The people who answer in a dueling bandit: simulated from a problem, or recorded in a data set."""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from algorithms.problems.duels import Duels
from dpaudit.model.mechanism import Array


class Voters(Protocol):
    """People who answer one a round, singly or in counts of wins; rounds count from 0."""

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return 1 where the option on the left wins, else 0. Shape: that of `left`."""
        ...

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return how often the first option of each comparison won, from round `start` on; plays (n_runs, G)."""
        ...

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return how often the left option won each duel, from round `start` (n_runs,) on; duels (n_runs, K, K)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVoters:
    """People who prefer the option on the left with the probability in `preferences` (K, K), by left and right."""

    preferences: Array

    @classmethod
    def of(cls, problem: Duels) -> Self:
        """Return the people of a problem."""
        return cls(preferences=problem.preferences)

    @classmethod
    def alike(cls, arms: int, chance: float) -> Self:
        """Return people to whom all options are alike: the left one wins with one probability, 0 for no answer ever."""
        return cls(preferences=np.full((arms, arms), chance))

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return fresh people's answers."""
        return (rng.random(np.shape(left)) < self.preferences[left, right]).astype(np.float64)

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return fresh people's wins, drawn as binomial counts: exact in law."""
        return rng.binomial(plays.astype(np.int64), self.preferences[first, second]).astype(np.float64)

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return how often fresh people's left option won each duel. Shape: duels (n_runs, K, K)."""
        return rng.binomial(duels, self.preferences)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedVoters:
    """A data set: record t is one person's answer, whatever they are shown (T,), or to each duel (T, K, K).

    The same records answer in every run. Counts of wins need the first form; comparisons come one after another.
    """

    answers: Array

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's answers."""
        answers = self.answers[rounds] if self.answers.ndim == 1 else self.answers[rounds, left, right]
        return np.broadcast_to(as_answers(answers), np.shape(left))

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's wins, the comparisons' rounds in order."""
        ends = np.asarray(start).reshape(-1, 1) + np.cumsum(plays, axis=1).astype(np.int64)
        totals = np.concatenate([[0.0], np.cumsum(as_answers(self.answers))])
        return totals[ends] - totals[ends - plays.astype(np.int64)]

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's wins, duel after duel from round `start` of each run on."""
        return self.wins(start, np.zeros(0), np.zeros(0), duels.reshape(len(duels), -1), rng).reshape(duels.shape)


HOSTILE = (np.nan, np.inf, -1e300, 7.0)
"""Answers that no person can give, which replays feed in."""


def one_answer(rounds: int, at: int, answer: float, *, alone: bool = False) -> RecordedVoters:
    """Return answers that alternate, or are 0 where nobody else likes anything, but for person `at`."""
    answers = (np.arange(rounds) % (1 if alone else 2)).astype(np.float64)
    answers[at] = answer
    return RecordedVoters(answers=answers)


def two_answers(
    rounds: int, at: int, first: float = 0.0, *, alone: bool = False
) -> tuple[RecordedVoters, RecordedVoters]:
    """Return two data sets in which person `at` answers `first` or 1; see `one_answer`."""
    return one_answer(rounds, at, first, alone=alone), one_answer(rounds, at, 1.0, alone=alone)


def unlike_answers(rounds: int) -> tuple[RecordedVoters, RecordedVoters]:
    """Return two data sets that have nothing in common."""
    numbers = np.arange(rounds)
    return RecordedVoters(answers=(numbers % 3 == 0) * 1.0), RecordedVoters(answers=(numbers % 4 > 0) * 1.0)


def as_answers(records: Array) -> Array:
    """Return records as answers of 0 or 1: what is not above 1/2, or not a number, is 0, whatever a device sent."""
    return (np.asarray(records, dtype=np.float64) > 0.5).astype(np.float64)
