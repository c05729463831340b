"""What a bandit on finitely many cells says of itself: the losses of its cells, and of uniform play."""

from dataclasses import replace
from typing import Any, Self

from dpaudit.model.mechanism import Array


class OnCells:
    """A bandit whose cell (context, action) has a mean reward, and whose contexts arrive by a law.

    Shape: mean_reward (C, X), context_probabilities (C,).
    """

    __slots__ = ()
    mean_reward: Array
    context_probabilities: Array

    @property
    def n_contexts(self) -> int:
        """The number of contexts."""
        return int(self.mean_reward.shape[0])

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self.mean_reward.shape[1])

    @property
    def gaps(self) -> Array:
        """The loss in mean reward of every cell against its context's best action; shape (C, X)."""
        gaps: Array = self.mean_reward.max(axis=1, keepdims=True) - self.mean_reward
        return gaps

    @property
    def uniform_regret(self) -> float:
        """The expected loss of a round of uniform play."""
        return float(self.gaps.mean(axis=1) @ self.context_probabilities)

    @property
    def largest_regret(self) -> float:
        """The most that a round can lose in expectation."""
        return float(self.gaps.max(axis=1) @ self.context_probabilities)

    def with_gap_factor(self, factor: float) -> Self:
        """Return the same problem with every mean reward multiplied by `factor`, and so every gap.

        Raises: ValueError: a factor that takes a mean beyond its bound.
        """
        bandit: Any = self
        scaled: Self = replace(bandit, mean_reward=factor * self.mean_reward)
        return scaled
