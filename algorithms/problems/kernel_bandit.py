"""A contextual bandit on a finite grid, with rewards of two values."""

from dataclasses import dataclass

from algorithms.lower_bounds import Privacy, bandit_regret, largest_gap_in_ball
from algorithms.problems.arrays import freeze
from algorithms.problems.cells import OnCells
from dpaudit.checks import count, positive
from dpaudit.model.constants import RegretLowerBound
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelBandit(OnCells):
    """Contexts that arrive at random, actions to choose from, and a mean reward for every pair.

    Shape: contexts (C, p), actions (X, q), context_probabilities (C,), mean_reward (C, X), features
    (C * X, D) or None; a cell is a pair (context, action), contexts in the outer loop.
    Unit: rewards in any unit; each is +reward_bound or -reward_bound, with the cell's mean.
    `units_per_person` is the most rounds of one person, None where that is not known. `gram` (C X, C X) is the kernel
    in whose space the means have norm at most 1, None where any means are possible. `hardest_gap` is the gap D of an
    instance of the lower bound's family, 0 of any other problem.
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
    gram: Array | None = None
    hardest_gap: float = 0.0

    def __post_init__(self) -> None:
        if self.units_per_person is not None:
            object.__setattr__(self, "units_per_person", count("units_per_person", self.units_per_person))
        object.__setattr__(self, "reward_bound", positive("reward_bound", self.reward_bound))
        freeze(self, "contexts", "actions", "context_probabilities", "mean_reward", "features", "gram")
        self.require_cells(len(self.contexts), len(self.actions), bound=self.reward_bound)
        self._require_shapes()

    def regret_lower_bound(self, *, horizon: int, epsilon: float, delta: float, model: str) -> RegretLowerBound | None:
        """Return what every private method loses on the worst of as many instances as there are actions.

        Every instance has one context, and means that the kernel's space allows; None where it allows none.
        """
        options = self.n_actions
        largest = 0.25 if self.gram is None else max(self._largest_gap(context) for context in range(self.n_contexts))
        if options < 2 or largest == 0:
            return None
        value = bandit_regret(
            options,
            horizon,
            Privacy(epsilon=epsilon, delta=delta, local=model == "local"),
            unit=2 * self.reward_bound,
            largest_gap=largest,
            gap=self.hardest_gap or None,
        )
        within = "" if self.gram is None else ", within the kernel's unit ball"
        return RegretLowerBound(
            value=value,
            instances=options,
            family=f"one context, {options} actions{within}",
            source="change of answers, in place of the d / epsilon that the paper cites",
            is_member=self.hardest_gap > 0,
        )

    def _largest_gap(self, context: int) -> float:
        """Return the largest gap of a family on the actions of one context, within the kernel's unit ball."""
        assert self.gram is not None  # noqa: S101  # callers look first
        cells = slice(context * self.n_actions, (context + 1) * self.n_actions)
        return largest_gap_in_ball(self.gram[cells, cells], 1 / self.reward_bound)

    def _require_shapes(self) -> None:
        """Refuse arrays that do not describe one grid."""
        cells = self.n_contexts * self.n_actions
        if self.contexts.ndim != 2 or self.actions.ndim != 2:
            raise ValueError("Expected contexts and actions as matrices, one point a row.")
        if self.features is not None and self.features.shape[:-1] != (cells,):
            raise ValueError(f"Expected one row of features a cell, {cells}, got {len(self.features)}.")
        if self.gram is not None and self.gram.shape != (cells, cells):
            raise ValueError(f"Expected gram with a row and a column a cell, {cells}, got {self.gram.shape}.")
