"""What the policy that is played loses, and whether the values behind it are optimistic and within their ranges."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from algorithms._linear_rl.checks import TOLERANCE
from algorithms._linear_rl.values import values_in_range
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit.model.mechanism import Array


@dataclass(slots=True, kw_only=True, eq=False)
class Judge:
    """The judgement on the latest policy: `gap`, what it loses, and `optimistic`, 1 or 0; both (n_runs,).

    `in_range` says whether all values that were looked at lay within `ranges`. Shape: `optimal` values (H + 1, S).
    """

    mdp: FiniteMdp
    optimal: Array
    ranges: tuple[float, ...]
    gap: Array
    optimistic: Array
    in_range: bool = True

    @classmethod
    def of(cls, mdp: FiniteMdp, ranges: tuple[float, ...], n_runs: int) -> Self:
        """Return the state before any policy."""
        nothing = np.zeros(n_runs)
        return cls(mdp=mdp, optimal=mdp.optimal_values(), ranges=ranges, gap=nothing, optimistic=nothing)

    def look(self, values: Array, policies: Array) -> None:
        """Judge the policies (n_runs, H, S, A) that are played from now on, and values of states (n_runs, H + 1, S)."""
        self.gap = float(self.optimal[0] @ self.mdp.initial) - self.mdp.policy_values(policies)
        self.optimistic = (values >= self.optimal - TOLERANCE).all(axis=(1, 2)).astype(float)
        self.in_range &= values_in_range(values, self.ranges)
