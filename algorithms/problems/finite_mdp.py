"""A finite-horizon decision process as arrays: exact values, exact regret, and episodes for many runs at once."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from algorithms.lower_bounds import Privacy, bandit_regret
from algorithms.problems.arrays import freeze
from dpaudit.model.constants import RegretLowerBound
from dpaudit.model.mechanism import Array

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteMdp:
    """States, actions and H steps, with a law of transitions and known rewards at every step.

    Shape: transitions (H, S, A, S), rewards (H, S, A), initial (S,). Unit: rewards in [0, 1], so values lie in [0, H].
    Arrays are copied and made read-only.
    Raises: ValueError: shapes that do not fit, rows that are no laws, rewards outside [0, 1].
    """

    transitions: Array
    rewards: Array
    initial: Array
    _cumulated: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self, "transitions", "rewards", "initial")
        steps, states, actions = self.rewards.shape
        if self.transitions.shape != (steps, states, actions, states) or self.initial.shape != (states,):
            raise ValueError(
                f"Expected transitions of shape (H, S, A, S) and initial of shape (S,) beside rewards of shape "
                f"{self.rewards.shape}, got {self.transitions.shape} and {self.initial.shape}."
            )
        for name, law in (("transitions", self.transitions), ("initial", self.initial)):
            if law.min() < -_ROUNDING or np.abs(law.sum(axis=-1) - 1).max() > _ROUNDING:
                raise ValueError(f"Expected {name} to hold laws; the sums run to {law.sum(axis=-1).max():.12g}.")
        if self.rewards.min() < 0 or self.rewards.max() > 1:
            raise ValueError(f"Expected rewards in [0, 1], got {self.rewards.min():g} to {self.rewards.max():g}.")
        object.__setattr__(self, "_cumulated", np.cumsum(self.transitions, axis=-1))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Steps, states and actions."""
        steps, states, actions = self.rewards.shape
        return steps, states, actions

    def optimal_values(self) -> Array:
        """Return V*_h(s) of every step, and 0 after the last. Shape: (H + 1, S)."""
        values = np.zeros((self.shape[0] + 1, self.shape[1]))
        for h in reversed(range(self.shape[0])):
            values[h] = (self.rewards[h] + self.transitions[h] @ values[h + 1]).max(axis=1)
        return values

    def policy_values(self, policies: Array) -> Array:
        """Return the expected reward of each policy from the initial law, exactly.

        Shape: policies (n, H, S, A), the probability of each action; the result (n,).
        """
        values = np.zeros((len(policies), self.shape[1]))
        for h in reversed(range(self.shape[0])):
            gained = self.rewards[h] + np.tensordot(values, self.transitions[h], axes=(1, 2))
            values = np.einsum("nsa,nsa->ns", policies[:, h], gained)
        return values @ self.initial

    def optimum(self) -> float:
        """Return the expected reward of an optimal policy from the initial law."""
        return float(self.optimal_values()[0] @ self.initial)

    @property
    def uniform_regret(self) -> float:
        """The expected loss of an episode of uniform play."""
        return self.optimum() - float(self.policy_values(np.full((1, *self.shape), 1 / self.shape[2]))[0])

    @property
    def myopic_regret(self) -> float:
        """The expected loss of an episode of play for the largest immediate reward, ties at random.

        Rewards are known, so no data is needed: a method learns only where it loses less.
        """
        greedy = (self.rewards == self.rewards.max(axis=2, keepdims=True)).astype(np.float64)
        return self.optimum() - float(self.policy_values((greedy / greedy.sum(axis=2, keepdims=True))[None])[0])

    def start(self, n_runs: int, rng: np.random.Generator) -> Array:
        """Return the first state of one episode in every run. Shape: (n_runs,)."""
        return np.minimum(np.searchsorted(np.cumsum(self.initial), rng.random(n_runs), side="right"), self.shape[1] - 1)

    def move(self, step: int, states: Array, actions: Array, rng: np.random.Generator) -> Array:
        """Return the states after `step` (from 0). Shape: states and actions (n_runs,), as the result."""
        rows = self._cumulated[step][states, actions]
        return np.minimum((rng.random(states.shape)[..., None] >= rows).sum(axis=-1), self.shape[1] - 1)


class OnFiniteMdp:
    """What a problem says of itself that lays features on a finite process, its `mdp`."""

    __slots__ = ()
    _known_features: ClassVar[int]
    """How many dimensions describe what is known of the lower bound's family; one more for each first action."""

    mdp: FiniteMdp
    hardest_gap: float

    @property
    def dimension(self) -> int:
        """The number of features, d."""
        raise NotImplementedError

    @property
    def uniform_regret(self) -> float:
        """The expected loss of an episode of uniform play."""
        return self.mdp.uniform_regret

    @property
    def largest_regret(self) -> float:
        """A bound on what an episode can lose: the best expected reward, as no reward is below 0."""
        return self.mdp.optimum()

    @property
    def myopic_regret(self) -> float:
        """The expected loss of an episode of play for the largest immediate reward, which needs no data."""
        return self.mdp.myopic_regret

    def regret_lower_bound(self, *, horizon: int, epsilon: float, delta: float, model: str) -> RegretLowerBound | None:
        """Return what every private method loses on the worst of as many instances as there are first actions.

        The first action decides with which probability the state that pays 1 a step is reached, and no other state
        pays. Actions beyond what the dimension can tell apart are copies. None where two are not left, or no state.
        """
        steps, states, actions = self.mdp.shape
        options = min(actions, self.dimension - self._known_features)
        if options < 2 or states < 3 or steps < 2:
            return None
        value = bandit_regret(
            options,
            horizon,
            Privacy(epsilon=epsilon, delta=delta, local=model == "local"),
            unit=float(steps - 1),
            gap=self.hardest_gap or None,
        )
        return RegretLowerBound(
            value=value,
            instances=options,
            family=f"one first state, {options} actions, and a state that pays in {steps - 1} steps",
            source="change of answers; for methods that act by what they publish",
            is_member=self.hardest_gap > 0,
        )
