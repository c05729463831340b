"""Batches of episodes under one policy, and what a run writes down of them."""

from dataclasses import dataclass, field
from typing import Any

from algorithms._linear_rl.checks import TOLERANCE
from algorithms._linear_rl.judge import Judge
from algorithms.lsvi_ucb.planning import BatchPolicy
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Episodes under one policy a run, and what was released after them (nothing after the last).

    Shape: `policy` by run; `matrices` (n_runs, H, d, d) noisy sums, `vectors` (n_runs, H, d); `own_matrices` and
    `own_vectors` what all users but the canary put into them; `released` (n_runs,) whether vectors came out.
    """

    length: int
    policy: BatchPolicy
    matrices: Array
    vectors: Array
    own_matrices: Array
    own_vectors: Array
    released: Array
    target_ratio: float


@dataclass(slots=True, kw_only=True, eq=False)
class BatchLog:
    """Sums over the batches so far. Shape: `total`, `hopeful` and `switches` (n_runs,), `shown` (n_runs, H, S, A).

    `matrices` and `vectors` are those released last; `clipped` says whether all targets lay within their bounds.
    """

    episodes: int
    judge: Judge
    matrices: Array
    vectors: Array
    total: Any = 0.0
    hopeful: Any = 0.0
    switches: Any = 0.0
    shown: Any = 0.0
    regrets: list[Array] = field(default_factory=list)
    clipped: bool = True
    changed: bool = True

    def add(self, batch: Batch) -> None:
        """Add a batch; its policy is judged where it is not that of the batch before."""
        if self.changed:
            self.judge.look(batch.policy.values, batch.policy.policies())
        self.total = self.total + self.judge.gap * batch.length
        self.hopeful = self.hopeful + self.judge.optimistic * batch.length
        self.regrets.append(self.total)
        self.shown = self.shown + batch.policy.actions * (batch.length / self.episodes)
        self.switches = self.switches + batch.released
        self.changed = bool(batch.released.any())
        if self.changed:
            self.matrices, self.vectors = batch.matrices, batch.vectors
            self.clipped &= batch.target_ratio <= 1 + TOLERANCE
