"""The plan of a run, fixed before any data is seen: schedule, calibrated noise and the steps of an epoch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._growth import Epoch
from algorithms.capri.settings import completed, epochs_of
from algorithms.capri.users import Played, clipped_sums
from algorithms.cell_table.settings import CellTableSettings
from dpaudit import Claim, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWidth:
    """How far a cell's mean may be off: factor sqrt(2 ln(2 N E / fail_prob)) sqrt(n + 2 V) / n.

    n users of a cell bring a variance of at most n; the noise of the sum brings V and that of the count another V, as
    a mean is at most 1. N cells, E `epochs` that release; `stddev` is the noise on every number of a table.
    """

    width_factor: float
    fail_prob: float
    stddev: float
    epochs: int

    def of(self, counts: Array, releases: int) -> Array:
        """Return the half width of every cell after `releases` tables. Shape: (n_runs, N) in and out."""
        tail = math.sqrt(2 * math.log(2 * counts.shape[1] * max(self.epochs, 1) / self.fail_prob))
        variance = releases * self.stddev**2
        return self.width_factor * tail * np.sqrt(counts + 2 * variance) / counts


def at_least_one(pooled: Array) -> Array:
    """Return the noisy number of users of every cell, at least 1. Shape: (n_runs, N, 2) to (n_runs, N)."""
    return np.maximum(pooled[..., 0], 1.0)


def survivors(pooled: Array, active: Array, widths: Array) -> Array:
    """Return the active actions whose upper end reaches the best lower end of their context.

    Shape: pooled (n_runs, N, 2), the sum of all noisy tables; active (n_runs, C, X); widths (n_runs, N). The action
    with the best lower end always stays, so that no context is left without one.
    """
    mean = (pooled[..., 1] / at_least_one(pooled)).reshape(active.shape)
    reach = widths.reshape(active.shape)
    floor = np.where(active, mean - reach, -np.inf).max(axis=2, keepdims=True)
    kept: Array = active & (mean + reach >= floor)
    return kept


SENSITIVITY = 2.0
"""Two cells move by a count of 1 and a sum of at most 1 each, or one cell's sum moves by 2: both of length 2."""

_SAFETY = 1 + 1e-9

Tabulate = Callable[[Played, float], Array]
"""tabulate(played, reward bound) -> counts, and sums in units of the bound; (n_runs, C * X, 2)."""

ReleaseStep = Callable[[Recorder, str, Gaussian, Array], Array]
"""release(recorder, label, mechanism, table) -> noisy table."""


Eliminate = Callable[[Array, Array, Array], Array]
"""eliminate(pooled table, active actions, half widths) -> who stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A calibrated algorithm. The steps are fields, so that a test can break one of them and see who notices."""

    epochs: tuple[Epoch, ...]
    mechanism: Gaussian
    reward_bound: float
    half_width: HalfWidth
    tabulate: Tabulate
    release: ReleaseStep
    eliminate: Eliminate = survivors

    def label(self, epoch: Epoch) -> str:
        """Return the label of the epoch's release, the same in the declaration and in the trace."""
        return f"epoch {epoch.number}"


def plan_of(settings: CellTableSettings) -> Plan:
    """Return the schedule, the calibrated mechanism and the steps; they depend on nothing but the settings."""
    claim = Claim(epsilon=settings.epsilon, delta=settings.delta, neighbours="replace_one")
    noise = Gaussian.calibrated(claim, l2_sensitivity=SENSITIVITY).scaled(_SAFETY)
    return Plan(
        epochs=epochs_of(settings.horizon),
        mechanism=noise,
        reward_bound=settings.reward_bound,
        half_width=HalfWidth(
            width_factor=settings.width_factor,
            fail_prob=settings.fail_prob,
            stddev=noise.stddev,
            epochs=completed(settings.horizon),
        ),
        tabulate=table_of,
        release=release_table,
    )


def table_of(played: Played, reward_bound: float) -> Array:
    """Return counts, and sums of clipped rewards over the bound, of every cell. Shape: (n_runs, C * X, 2)."""
    sums = clipped_sums(played, reward_bound) / reward_bound
    counts = played.counts.reshape(sums.shape)
    return np.stack([counts.astype(np.float64), sums], axis=2)


def release_table(recorder: Recorder, label: str, mechanism: Gaussian, table: Array) -> Array:
    """Return the epoch's table with the learner's noise on every number."""
    return recorder.release(label, mechanism, table)
