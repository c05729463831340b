"""When policies change: at every end of a batch, or by what noisy matrices say since the last change."""

import numpy as np

from algorithms.lsvi_ucb.learner import Learner
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.lsvi_ucb.switching import regularised
from dpaudit.model.mechanism import Array


class Turns:
    """How often each run has changed its policy, `taken` (n_runs,), and its regularised matrices at the last change."""

    def __init__(self, plan: BatchPlan, matrices: Array) -> None:
        """Begin before any batch, where `matrices` (n_runs, H, d, d) are 0."""
        self.plan, self.taken = plan, np.zeros(len(matrices), dtype=np.int64)
        self.last = self._regularised(matrices)

    def due(self, learner: Learner, *, final: bool) -> Array:
        """Return which runs learn a new policy after this batch: none after the final one. Shape: (n_runs,).

        The switching rule, which is not in the paper, is post-processing of the noisy matrices.
        """
        if final or not self.plan.switching:
            return np.full(len(self.taken), not final)
        now = self._regularised(self.plan.rule_reads(learner.matrices, learner.exact))
        grown = (self.plan.grown(self.last, now) > self.plan.threshold).any(axis=1)
        due: Array = grown & (self.taken < self.plan.releases)
        self.last = np.where(due[:, None, None, None], now, self.last)
        return due

    def _regularised(self, matrices: Array) -> Array:
        """Return matrices with ridge and shift."""
        return regularised(matrices, self.plan.ridge, self.plan.shift if self.plan.noisy else 0.0)
