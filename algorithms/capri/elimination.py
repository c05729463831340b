"""The elimination of actions after an epoch, which reads nothing but the published release."""

import math
from dataclasses import dataclass

import numpy as np

from algorithms.capri.design import Factors
from algorithms.capri.settings import CapriSettings, completed
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWidth:
    """How far an estimate may be off: an action survives within four half widths of its context's best.

    `practical` adds the estimation error without privacy, about 2 reward_bound scale, and a normal bound on
    the privacy noise over all cells and epochs, and takes `width_factor` of it. `theory` is Eq. (7) with
    the constants of Lemma 6.6; they are so large that nothing is eliminated below some 10^9.6 rounds, see `constants`.
    `argmax` keeps only the best action, for audits of what others can see.
    """

    settings: CapriSettings
    cells: int

    def of(self, factors: Factors, stddev: Array) -> Array:
        """Return the half width of every run, shape (n_runs,); `stddev` is that of the noise on the epoch's sum."""
        settings = self.settings
        match settings.elimination:
            case "practical":
                epochs = max(completed(settings.horizon), 1)
                tail = math.sqrt(2 * math.log(2 * self.cells * epochs / settings.fail_prob))
                width: Array = 2 * settings.reward_bound * factors.scale + stddev * factors.reach * tail
                return settings.width_factor * width
            case "theory":
                share = share_of(settings, self.cells, settings.horizon)
                beta = printed_beta(share, settings.horizon, settings.reward_bound, settings.ridge)
                return beta * factors.scale + 2 * math.log(3 / share) * stddev * factors.scale
            case _:
                return np.zeros_like(factors.scale)


def share_of(settings: CapriSettings, cells: int, horizon: float) -> float:
    """Return the failure probability of one cell in one round."""
    return settings.fail_prob / (cells * horizon * math.log(horizon))


def printed_beta(share: float, horizon: float, bound: float, tau: float) -> float:
    """Return beta of Lemma 6.6 at failure probability `share`; `bound` is that on rewards, `tau` the ridge.

    The noise term beside it, beta_1 scale^2, equals 2 ln(3 / share) stddev scale for the noise of Eq. (5).
    """
    tail, short = math.log(168 * horizon / share), math.log(12 / share)
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
    return active & (values >= values.max(axis=2, keepdims=True) - 4 * half_width[:, None, None])
