"""The state of one run of DP-EBS that goes from removal to removal."""

from collections.abc import Callable
from typing import Any

import numpy as np

from algorithms.dp_ebs.plan import Plan
from algorithms.dp_ebs.rounds.taped import keep_rows, last_place, shown_ahead
from dpaudit.model.mechanism import Array

Read = Callable[[Array, Array], None]
"""read(upper, lower): bounds that a removal compares, in order."""


class EventRun:
    """The state of one run; arrays over options. `left` are those not removed, in order.

    `read(upper, lower)` is told of all bounds that a removal compares.
    """

    def __init__(self, *, plan: Plan, paths: list[Any], index: int, read: Read | None = None) -> None:
        self.plan, self.paths, self.index, self.read = plan, paths, index, read
        self.places: dict[int, int | None] = {}
        arms = plan.arms
        self.clocks, self.retained = np.zeros(arms, dtype=np.int64), np.zeros(arms, dtype=np.int64)
        self.sums, self.left = np.zeros(arms), np.arange(arms)
        self.upper, self.lower = np.full(arms, np.inf), np.full(arms, -np.inf)
        self.pairs, self.wins = np.zeros((arms, arms)), np.zeros((arms, arms))

    def shown(self, arm: int, sums: Array) -> Array:
        """Return a counter's next outputs, where `sums` are the exact ones."""
        if not self.paths:
            return sums
        output = shown_ahead(self.plan, self.paths[arm], arm, self.index, sums)
        self.places[arm] = last_place(self.paths[arm].rng)
        return output

    def shown_now(self, arm: int, total: float) -> float:
        """Return a counter's next output, which is read whatever comes, where `total` is the exact sum."""
        output = float(self.shown(arm, np.array([total]))[0])
        self.places.pop(arm, None)
        return output

    def tell(self, upper: Array, lower: Array) -> None:
        """Tell an observer, if there is one, of bounds that are read."""
        if self.read is not None:
            self.read(np.ravel(upper), np.ravel(lower))

    def met(self, options: Array, others: Array, won: Array) -> None:
        """Count duels that took place, and which of them the left option won."""
        arms = self.plan.arms
        cells = options * arms + others
        self.pairs += np.bincount(cells, minlength=arms * arms).reshape(arms, arms)
        self.wins += np.bincount(cells, weights=won, minlength=arms * arms).reshape(arms, arms)

    def met_and_won(self, arm: int, other: int) -> tuple[int, float]:
        """Return how many retained plays of an option were against another one, and how many of those it won."""
        met, won = self.pairs[arm, other], self.wins[arm, other]
        if self.plan.credits_both:
            met, won = met + self.pairs[other, arm], won + self.pairs[other, arm] - self.wins[other, arm]
        return int(met), float(won)

    def advance(self, arm: int, length: int) -> None:
        """Let a counter's clock run."""
        self.clocks[arm] += length
        if self.paths:
            keep_rows(self.paths[arm].rng, self.places.pop(arm, None), length)
            self.paths[arm].advance(length)
