"""What a bandit on finitely many cells says of itself: the losses of its cells, and of uniform play."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from dpaudit.model.mechanism import Array

_ROUNDING = 1e-9


class OnCells:
    """A bandit whose cell (context, action) has a mean reward, and whose contexts arrive by a law.

    Shape: mean_reward (C, X), context_probabilities (C,).
    """

    __slots__ = ()
    mean_reward: Array
    context_probabilities: Array

    def require_cells(self, contexts: int, actions: int, *, bound: float) -> None:
        """Refuse shapes that do not fit the cells, contexts without a law, and a mean beyond `bound`."""
        shapes: dict[str, tuple[int, ...]] = {"context_probabilities": (contexts,), "mean_reward": (contexts, actions)}
        for field, shape in shapes.items():
            if getattr(self, field).shape != shape:
                raise ValueError(f"Expected {field} of shape {shape}, got {getattr(self, field).shape}.")
        law, largest = self.context_probabilities, np.abs(self.mean_reward).max()
        if (law < 0).any() or abs(law.sum() - 1) > _ROUNDING:
            raise ValueError(f"Expected context_probabilities to be a law; they sum to {law.sum():.12g}.")
        if largest > bound:
            raise ValueError(f"Expected |mean_reward| at most reward_bound={bound:.6g}; the largest is {largest:.6g}.")

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
        return self.mean_reward.max(axis=1, keepdims=True) - self.mean_reward

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
        return replace(bandit, mean_reward=factor * self.mean_reward)
