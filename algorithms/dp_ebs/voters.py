"""The people who answer: simulated from a problem, or recorded in a data set."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from algorithms.problems.duels import Duels
from dpaudit.model.mechanism import Array


class Voters(Protocol):
    """Whoever answers; one person a round."""

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return 1 where the option on the left wins, else 0; rounds count from 0. Shape: that of `left`."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedVoters:
    """A data set: record t is one person's answer, whatever they are shown (T,), or to each duel (T, K, K).

    The same records answer in every run.
    """

    answers: Array

    def votes(self, rounds: Array | int, left: Array, right: Array, rng: np.random.Generator) -> Array:
        """Return the recorded people's answers."""
        held = self.answers[rounds] if self.answers.ndim == 1 else self.answers[rounds, left, right]
        wins: Array = np.broadcast_to(np.asarray(held, dtype=np.float64), np.shape(left))
        return wins
