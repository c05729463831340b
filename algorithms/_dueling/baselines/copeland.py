"""Policies by confidence bounds on preferences: RUCB, and double Thompson sampling."""

import math

import numpy as np

from algorithms._dueling.baselines.simulation import Counting, rounds_until, win_table
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


class RelativeUpperConfidence(Counting):
    """RUCB: a champion that may beat everybody, against the option that may beat it most.

    Source: Zoghi, Whiteson, Munos and de Rijke (2014), Algorithm 1, with alpha = 0.51.
    """

    def __init__(self, *, arms: int, alpha: float = 0.51) -> None:
        super().__init__(arms=arms)
        self.alpha = alpha
        self.champion: int | None = None

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

    def repeats(self, number: int) -> int:
        """Return for how long no other option may beat the champion, which then meets itself."""
        return 1 if self.champion is None else rounds_until(self._rivals_from(self.champion), number)

    def _rivals_from(self, champion: int) -> float:
        """Return the logarithm of the first round at which some option may beat the champion; -inf for at once."""
        share, duels = win_table(self.wins)
        against = np.delete(share[:, champion], champion)
        met = np.delete(duels[:, champion], champion)
        if not against.size or not (against < 0.5).all():
            return -math.inf
        return float((met * (0.5 - against) ** 2).min() / self.alpha)

    def _pick(self, candidates: Array, rng: np.random.Generator) -> int:
        """Return the champion with probability one half, else another candidate; any option where there is none."""
        if not candidates.size:
            return int(rng.integers(self.arms))
        others = candidates[candidates != self.champion] if self.champion is not None else candidates
        if self.champion is not None and (not others.size or rng.random() < 0.5):
            return self.champion
        return int(rng.choice(others))


class DoubleThompson(Counting):
    """Double Thompson sampling: both options by draws from Beta posteriors, pruned by confidence bounds.

    Source: Wu and Liu (2016), Algorithm 1 (D-TS), with alpha = 0.51.
    """

    def __init__(self, *, arms: int, alpha: float = 0.51) -> None:
        super().__init__(arms=arms)
        self.alpha, self.block = alpha, 1
        self.ahead: list[tuple[int, int]] = []

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return both candidates.

        While nothing is learned the posteriors stay, so that the draws of further rounds are made ahead: at most as
        many as leave every bound on its side of one half.
        """
        if not self.ahead:
            upper, lower = bounds(self.wins, self.alpha, number)
            rounds = min(self.block, rounds_until(self._crossing(number), number))
            self.ahead = self._drawn(upper, lower, rounds, rng)[::-1]
            self.block = min(2 * self.block, _AHEAD)
        return self.ahead.pop()

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Count the win; what was drawn ahead is void then."""
        super().learn(left, right, won=won)
        if left != right:
            self.ahead, self.block = [], 1

    def repeats(self, number: int) -> int:
        """Return 1: the next round has draws of its own."""
        del number
        return 1

    def _crossing(self, number: int) -> float:
        """Return the logarithm of the first round after `number` at which some bound crosses one half."""
        share, duels = win_table(self.wins)
        crossing = duels * (0.5 - share) ** 2 / self.alpha
        later = crossing[(duels > 0) & (share < 0.5) & (crossing > math.log(number))]
        return float(later.min()) if later.size else math.inf

    def _drawn(self, upper: Array, lower: Array, rounds: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Return both candidates of each of `rounds` rounds by independent draws."""
        others = ~np.eye(self.arms, dtype=bool)
        copeland = ((upper > 0.5) & others).sum(axis=1)
        draws = np.triu(rng.beta(self.wins + 1, self.wins.T + 1, size=(rounds, self.arms, self.arms)), 1)
        draws += np.tril(1 - draws.swapaxes(1, 2), -1)
        votes = np.where(copeland == copeland.max(), ((draws > 0.5) & others).sum(axis=2), -1)
        first = np.where(votes == votes.max(axis=1, keepdims=True), rng.random(votes.shape), -1.0).argmax(axis=1)
        again = rng.beta(self.wins[:, first].T + 1, self.wins[first] + 1)
        again[np.arange(rounds), first] = 0.5
        second = np.where(lower[:, first].T <= 0.5, again, -1.0).argmax(axis=1)
        return list(zip(first.tolist(), second.tolist(), strict=True))


_AHEAD = 256
"""The most rounds whose draws are made ahead."""
