"""Policies by confidence bounds on preferences: RUCB, and double Thompson sampling."""

import math
from dataclasses import dataclass, field

import numpy as np

from algorithms._dueling.baselines.simulation import win_table
from dpaudit.model.mechanism import Array


def bounds(wins: Array, alpha: float, number: int) -> tuple[Array, Array]:
    """Return upper and lower bounds on preferences, share +- sqrt(alpha ln t / duels); 1 and 0 for unmet pairs."""
    share, duels = win_table(wins)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.sqrt(alpha * math.log(max(number, 1)) / duels)
    upper, lower = np.where(duels > 0, share + half, 1.0), np.where(duels > 0, share - half, 0.0)
    np.fill_diagonal(upper, 0.5)
    np.fill_diagonal(lower, 0.5)
    return upper, lower


@dataclass(slots=True, kw_only=True)
class RelativeUpperConfidence:
    """RUCB: a champion that may beat everybody, against the option that may beat it most.

    Source: Zoghi, Whiteson, Munos and de Rijke (2014), Algorithm 1, with alpha = 0.51.
    """

    arms: int
    alpha: float = 0.51
    wins: Array = field(init=False)
    champion: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.wins = np.zeros((self.arms, self.arms))

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return champion and challenger."""
        upper, _ = bounds(self.wins, self.alpha, number)
        candidates = np.flatnonzero((upper >= 0.5).all(axis=1))
        if self.champion not in candidates:
            self.champion = None
        if candidates.size == 1:
            self.champion = int(candidates[0])
        first = self._pick(candidates, rng)
        against = upper[:, first].copy()
        best = np.flatnonzero(against == against.max())
        others = best[best != first]
        second = int(rng.choice(others)) if others.size else first
        return first, second

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Count the win; an option against itself tells nothing."""
        if left != right:
            self.wins[(left, right) if won else (right, left)] += 1

    def _pick(self, candidates: Array, rng: np.random.Generator) -> int:
        """Return the champion with probability one half, else another candidate; any option where there is none."""
        if not candidates.size:
            return int(rng.integers(self.arms))
        others = candidates[candidates != self.champion] if self.champion is not None else candidates
        if self.champion is not None and (not others.size or rng.random() < 0.5):
            return self.champion
        return int(rng.choice(others))


@dataclass(slots=True, kw_only=True)
class DoubleThompson:
    """Double Thompson sampling: both options by draws from Beta posteriors, pruned by confidence bounds.

    Source: Wu and Liu (2016), Algorithm 1 (D-TS), with alpha = 0.51.
    """

    arms: int
    alpha: float = 0.51
    wins: Array = field(init=False)

    def __post_init__(self) -> None:
        self.wins = np.zeros((self.arms, self.arms))

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return both candidates."""
        upper, lower = bounds(self.wins, self.alpha, number)
        beaten = (upper > 0.5) & ~np.eye(self.arms, dtype=bool)
        copeland = beaten.sum(axis=1)
        top = copeland == copeland.max()
        draws = np.triu(rng.beta(self.wins + 1, self.wins.T + 1), 1)
        draws += np.tril(1 - draws.T, -1)
        votes = np.where(top, ((draws > 0.5) & ~np.eye(self.arms, dtype=bool)).sum(axis=1), -1)
        first = int(rng.choice(np.flatnonzero(votes == votes.max())))
        again = rng.beta(self.wins[:, first] + 1, self.wins[first] + 1)
        again[first] = 0.5
        second = int(np.where(lower[:, first] <= 0.5, again, -1.0).argmax())
        return first, second

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Count the win; an option against itself tells nothing."""
        if left != right:
            self.wins[(left, right) if won else (right, left)] += 1
