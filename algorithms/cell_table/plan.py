"""The plan of a run, fixed before any data is seen: schedule, calibrated noise and the steps of an epoch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._growth import Epoch
from algorithms.capri.settings import epochs_of
from algorithms.capri.users import Played, clipped_sums
from algorithms.cell_table.elimination import HalfWidth, survivors
from algorithms.cell_table.settings import CellTableSettings
from dpaudit import Claim, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian

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
        half_width=HalfWidth(settings=settings, stddev=noise.stddev),
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
