"""The elimination of actions after an epoch, which reads nothing but the published release."""

import math
from dataclasses import dataclass

import numpy as np

from algorithms.capri.design import Factors
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWidth:
    """How far an estimate may be off: an action survives within four half widths of its context's best.

    `practical` adds the estimation error without privacy, about 2 reward_bound scale, and a normal bound on
    the privacy noise over all cells and epochs, and takes `width_factor` of it. `theory` is Eq. (7) with
    the constants of Lemma 6.6; they are so large that nothing is eliminated below some 10^9.6 rounds, see `constants`.
    `argmax` keeps only the best action, for audits of what others can see.
    """

    elimination: str
    width_factor: float
    fail_prob: float
    horizon: int
    reward_bound: float
    ridge: float
    cells: int
    epochs: int

    def of(self, factors: Factors, stddev: Array) -> Array:
        """Return the half width of every run, shape (n_runs,); `stddev` is that of the noise on the epoch's sum."""
        match self.elimination:
            case "practical":
                tail = math.sqrt(2 * math.log(2 * self.cells * max(self.epochs, 1) / self.fail_prob))
                width: Array = 2 * self.reward_bound * factors.scale + stddev * factors.reach * tail
                return self.width_factor * width
            case "theory":
                share = self.fail_prob / (self.cells * self.horizon * math.log(self.horizon))
                return self._beta(share) * factors.scale + 2 * math.log(3 / share) * stddev * factors.scale
            case _:
                return np.zeros_like(factors.scale)

    def _beta(self, share: float) -> float:
        """Return beta of Lemma 6.6 at failure probability `share`.

        The noise term beside it, beta_1 scale^2, equals 2 ln(3 / share) stddev scale for the noise of Eq. (5).
        """
        bound, tau = self.reward_bound, self.ridge
        tail, short = math.log(168 * self.horizon / share), math.log(12 / share)
        return (
            90 * bound * math.sqrt(tail)
            + 52 * bound * math.sqrt(tail * short) / math.sqrt(tau)
            + 3 * bound * math.sqrt(2 * math.log(6 / share))
            + math.sqrt(24 * tau)
        )


def survivors(estimates: Array, active: Array, half_width: Array) -> Array:
    """Return the active actions within four half widths of their context's best active estimate.

    Shape: estimates (n_runs, C * X), active (n_runs, C, X), half_width (n_runs,). Ties survive, so no
    context is ever left without an action.
    Source: Eq. (7).
    """
    values = np.where(active, estimates.reshape(active.shape), -np.inf)
    survivors: Array = active & (values >= values.max(axis=2, keepdims=True) - 4 * half_width[:, None, None])
    return survivors
