"""A contextual bandit on a finite grid, with rewards of two values."""

from dataclasses import dataclass, replace

import numpy as np

from algorithms.problems.arrays import frozen
from dpaudit.checks import count, positive
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelBandit:
    """Contexts that arrive at random, actions to choose from, and a mean reward for every pair.

    Shape: contexts (C, p), actions (X, q), context_probabilities (C,), mean_reward (C, X), features
    (C * X, D) or None; a cell is a pair (context, action), contexts in the outer loop.
    Unit: rewards in any unit; each is +reward_bound or -reward_bound, with the cell's mean.
    `units_per_person` is the most rounds of one person, None where that is not known.
    Public: everything here but the rewards that users draw. Arrays are copied and made read-only.
    Raises: ValueError: shapes that do not fit, a law that does not sum to 1, or a mean beyond the bound.
    """

    name: str
    description: str
    contexts: Array
    actions: Array
    context_probabilities: Array
    mean_reward: Array
    reward_bound: float = 1.0
    features: Array | None = None
    units_per_person: int | None = None

    def __post_init__(self) -> None:
        if self.units_per_person is not None:
            object.__setattr__(self, "units_per_person", count("units_per_person", self.units_per_person))
        object.__setattr__(self, "reward_bound", positive("reward_bound", self.reward_bound))
        for field in ("contexts", "actions", "context_probabilities", "mean_reward", "features"):
            values = getattr(self, field)
            if values is not None:
                object.__setattr__(self, field, frozen(field, values))
        self._require_shapes()
        law = self.context_probabilities
        if (law < 0).any() or abs(law.sum() - 1) > 1e-9:
            raise ValueError(f"Expected context_probabilities to be a law; they sum to {law.sum():.12g}.")
        if np.abs(self.mean_reward).max() > self.reward_bound:
            raise ValueError(
                f"Expected |mean_reward| at most reward_bound={self.reward_bound}; "
                f"the largest is {np.abs(self.mean_reward).max()}."
            )

    @property
    def n_contexts(self) -> int:
        """The number of contexts."""
        return len(self.contexts)

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return len(self.actions)

    @property
    def gaps(self) -> Array:
        """The loss in mean reward of every cell against its context's best action; shape (C, X)."""
        gaps: Array = self.mean_reward.max(axis=1, keepdims=True) - self.mean_reward
        return gaps

    @property
    def uniform_regret(self) -> float:
        """The expected loss of a round of uniform play."""
        return float(self.gaps.mean(axis=1) @ self.context_probabilities)

    def with_gap_factor(self, factor: float) -> "KernelBandit":
        """Return the same problem with every mean reward multiplied by `factor`, and so every gap.

        Raises: ValueError: a factor that takes a mean beyond the bound.
        """
        return replace(self, mean_reward=factor * self.mean_reward)

    def _require_shapes(self) -> None:
        """Refuse arrays that do not describe one grid."""
        cells = (self.n_contexts, self.n_actions)
        wanted: dict[str, tuple[int, ...]] = {"context_probabilities": cells[:1], "mean_reward": cells}
        for field, shape in wanted.items():
            if getattr(self, field).shape != shape:
                raise ValueError(f"Expected {field} of shape {shape}, got {getattr(self, field).shape}.")
        if self.contexts.ndim != 2 or self.actions.ndim != 2:
            raise ValueError("Expected contexts and actions as matrices, one point a row.")
        if self.features is not None and self.features.shape[:-1] != (cells[0] * cells[1],):
            raise ValueError(f"Expected one row of features a cell, {cells[0] * cells[1]}, got {len(self.features)}.")
