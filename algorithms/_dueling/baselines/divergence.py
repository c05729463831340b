"""RMED1: duels between the options that the data does not rule out, by empirical divergence."""

import math

import numpy as np

from algorithms._dueling.baselines.simulation import Counting, rounds_until, win_table
from dpaudit.model.mechanism import Array


class RelativeMinimumDivergence(Counting):
    """RMED1: options whose empirical divergence from being the best is within ln t + f(K) of the smallest.

    Every pair meets once first. Then a list of options is worked through; option l meets the present favourite where
    that has beaten it or nobody has, else the option that beats it most. f(K) = 0.3 K^1.01.
    Source: Komiyama, Honda, Kashima and Nakagawa (2015), Algorithm 1 and 2.
    """

    def __init__(self, *, arms: int) -> None:
        super().__init__(arms=arms)
        self.queue = [(i, j) for i in range(arms) for j in range(i + 1, arms)]
        self.current: list[int] = []
        self.later: set[int] = set()

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return the next option of the list and whom it meets."""
        if self.queue:
            return self.queue.pop(0)
        share, _ = win_table(self.wins)
        divergence = self.divergences()
        if not self.current:
            self.current = sorted(self.later) or list(range(self.arms))
            self.later = set()
        option = self.current.pop(0)
        favourite = int(divergence.argmin())
        losing = np.flatnonzero((share[option] <= 0.5) & (np.arange(self.arms) != option))
        if not losing.size or favourite in losing:
            opponent = favourite
        else:
            opponent = int(np.where(np.arange(self.arms) == option, np.inf, share[option]).argmin())
        within = divergence - divergence.min() <= math.log(number) + 0.3 * self.arms**1.01
        self.later |= {int(j) for j in np.flatnonzero(within) if int(j) not in self.current}
        return option, opponent

    def repeats(self, number: int) -> int:
        """Return for how long one option alone is within reach, so that it meets itself; 1 where others are listed."""
        divergence = self.divergences()
        favourite = int(divergence.argmin())
        if self.queue or self.current or self.later != {favourite} or self.arms < 2:
            return 1
        nearest = float(np.delete(divergence, favourite).min() - divergence[favourite])
        return rounds_until(nearest - 0.3 * self.arms**1.01, number)

    def divergences(self) -> Array:
        """Return I_i = sum over j with share(i, j) <= 1/2 of N_ij d(share, 1/2); shape (K,)."""
        share, duels = win_table(self.wins)
        met = np.where(duels > 0, share, 0.5)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.nan_to_num(met * np.log(met)) - np.nan_to_num((1 - met) * np.log(1 - met))
        pairs = np.where((met <= 0.5) & (duels > 0), duels * (math.log(2) - entropy), 0.0)
        return pairs.sum(axis=1)
