"""A contextual bandit with finitely many contexts, a feature vector for every cell, and rewards of two values."""

from dataclasses import dataclass

import numpy as np

from algorithms.lower_bounds import Privacy, bandit_regret, hardest_gap
from algorithms.problems.arrays import freeze
from algorithms.problems.cells import OnCells
from dpaudit.model.constants import RegretLowerBound
from dpaudit.model.mechanism import Array

_ROUNDING = 1e-9
LARGEST_GAP = 0.2236
"""The largest gap D at which the parameter (2 D, .., 4 D, ..) has norm at most 1: 1 / sqrt(20), rounded down."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearBandit(OnCells):
    """Contexts that arrive at random, actions to choose from, and features on which the mean reward depends.

    Shape: features (C, A, d), none longer than 1; context_probabilities (C,); mean_reward (C, A) in [-1, 1].
    Rewards are +1 or -1 with the cell's mean. `parameter` (d,) is the linear function closest to the means over the
    cells, by context probability; `misfit` is how far from it a mean lies at most, 0 where the means are linear.
    `units_per_person` is the most rounds of one person, None where that is not known. `hardest_gaps` are the gaps D
    of the lower bound's family, where this is an instance of it; none of any other problem.
    Public: everything here but the users' contexts, actions and rewards. Arrays are copied and made read-only.
    Raises: ValueError: shapes that do not fit, a law that does not sum to 1, a feature or a mean beyond 1.
    """

    name: str
    description: str
    features: Array
    context_probabilities: Array
    mean_reward: Array
    units_per_person: int | None = None
    hardest_gaps: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "features", "context_probabilities", "mean_reward")
        if self.features.ndim != 3:
            raise ValueError(f"Expected features of shape (contexts, actions, d), got {self.features.shape}.")
        self.require_cells(*self.features.shape[:2], bound=1 + _ROUNDING)
        longest = float(np.linalg.norm(self.features, axis=2).max())
        if longest > 1 + _ROUNDING:
            raise ValueError(f"Expected features of norm at most 1; the largest is {longest:.6g}.")

    @property
    def reward_bound(self) -> float:
        """The largest absolute reward."""
        return 1.0

    @property
    def dimension(self) -> int:
        """The dimension of the features."""
        return int(self.features.shape[2])

    def regret_lower_bound(self, *, horizon: int, epsilon: float, delta: float, model: str) -> RegretLowerBound | None:
        """Return what every private method loses on the worst of d instances with unit features, d the dimension.

        There are at most as many instances as actions; None where that leaves one.
        """
        options = min(self.n_actions, self.dimension)
        if options < 2:
            return None
        privacy = Privacy(epsilon=epsilon, delta=delta, local=model == "local")
        gaps = self.hardest_gaps or (hardest_gap(options, horizon, privacy, largest_gap=LARGEST_GAP),)
        at_gaps = f", {len(gaps)} gaps" if len(gaps) > 1 else ""
        return RegretLowerBound(
            value=max(bandit_regret(options, horizon, privacy, unit=2.0, gap=gap) for gap in gaps),
            instances=options * len(gaps),
            family=f"one context, features e_1 to e_{options}, a parameter of norm at most 1{at_gaps}",
            source="change of answers, and contraction by local privacy",
            is_member=bool(self.hardest_gaps),
        )

    @property
    def parameter(self) -> Array:
        """The linear function closest to the means, by weighted least squares; shape (d,)."""
        weights = np.sqrt(np.repeat(self.context_probabilities, self.n_actions))
        cells = self.features.reshape(-1, self.dimension)
        return np.linalg.lstsq(weights[:, None] * cells, weights * self.mean_reward.ravel(), rcond=None)[0]

    @property
    def misfit(self) -> float:
        """The largest distance of a cell's mean from the closest linear function."""
        return float(np.abs(self.features @ self.parameter - self.mean_reward).max())
