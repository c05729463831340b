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

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return how often the first option of each comparison won, from round `start` on; plays (n_runs, G)."""
        ...


class DuelingVoters(Protocol):
    """People whose answers to whole tables of duels come as counts of wins."""

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return how often the left option won each duel, from round `start` (n_runs,) on; duels (n_runs, K, K)."""
        ...


class PeopleAnswering(Voters, CountedVoters, DuelingVoters, Protocol):
    """People whose answers come in every form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVoters:
    """People who prefer i to j with the problem's probability."""

    problem: Duels

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return fresh people's answers."""
        chance = self.problem.preferences.ravel()[left * self.problem.arms + right]
        wins: Array = (rng.random(np.shape(left)) < chance).astype(np.float64)
        return wins

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return fresh people's wins, drawn as binomial counts: exact in law."""
        chance = self.problem.preferences[first, second]
        wins: Array = rng.binomial(plays.astype(np.int64), chance).astype(np.float64)
        return wins

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return how often fresh people's left option won each duel. Shape: duels (n_runs, K, K)."""
        wins: Array = rng.binomial(duels, self.problem.preferences)
        return wins


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentVoters:
    """People of whom no option ever hears: every answer counts 0, so that what is released is noise alone."""

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return 0 for everybody."""
        return np.zeros(np.shape(left))

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return no win."""
        return np.zeros(np.shape(plays))

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return no win. Shape: duels (n_runs, K, K)."""
        return np.zeros(np.shape(duels), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class TossingVoters:
    """People who toss a fair coin instead of answering, for methods to which a count of 0 says who won."""

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return fair coins."""
        coins: Array = (rng.random(np.shape(left)) < _FAIR).astype(np.float64)
        return coins

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return counts of heads."""
        heads: Array = rng.binomial(plays.astype(np.int64), _FAIR).astype(np.float64)
        return heads

    def duel_wins(self, start: Array, duels: Array, rng: np.random.Generator) -> Array:
        """Return counts of heads. Shape: duels (n_runs, K, K)."""
        heads: Array = rng.binomial(duels, _FAIR)
        return heads


_FAIR = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedVoters:
    """A data set: record t is one person's answer, whatever they are shown (T,), or to each duel (T, K, K).

    The same records answer in every run. Counts of wins need the first form; comparisons come one after another.
    """

    answers: Array

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's answers."""
        answers = self.answers[rounds] if self.answers.ndim == 1 else self.answers[rounds, left, right]
        wins: Array = np.broadcast_to(as_answers(answers), np.shape(left))
        return wins

    def wins(self, start: Array | int, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's wins, the comparisons' rounds in order."""
        ends = np.asarray(start).reshape(-1, 1) + np.cumsum(plays, axis=1).astype(np.int64)
        totals = np.concatenate([[0.0], np.cumsum(as_answers(self.answers))])
        wins: Array = totals[ends] - totals[ends - plays.astype(np.int64)]
        return wins

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
    rounds: int, at: int, first: float = 0.0, second: float = 1.0, *, alone: bool = False
) -> tuple[RecordedVoters, RecordedVoters]:
    """Return two data sets in which person `at` gives one answer or the other; see `one_answer`."""
    return one_answer(rounds, at, first, alone=alone), one_answer(rounds, at, second, alone=alone)


def unlike_answers(rounds: int) -> tuple[RecordedVoters, RecordedVoters]:
    """Return two data sets that have nothing in common."""
    numbers = np.arange(rounds)
    return RecordedVoters(answers=(numbers % 3 == 0) * 1.0), RecordedVoters(answers=(numbers % 4 > 0) * 1.0)


def as_answers(records: Array) -> Array:
    """Return records as answers of 0 or 1: what is not above 1/2, or not a number, is 0, whatever a device sent."""
    answers: Array = (np.asarray(records, dtype=np.float64) > 0.5).astype(np.float64)
    return answers
