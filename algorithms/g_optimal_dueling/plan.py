"""What is settled before anybody votes: lengths, noise, and the steps of a phase."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms.g_optimal_dueling.schedule import Lengths
from dpaudit import Mechanism, Recorder
from dpaudit.model.mechanism import Array

Estimate = Callable[[Array, Array, Array, float, float], Array]
"""estimate(vectors, plays, noisy wins, radius, ridge) -> one vector a run."""

ReleaseStep = Callable[[Recorder, str, Mechanism, Array], Array]
"""release(recorder, label, mechanism, wins) -> noisy wins; both (n_runs, groups)."""

Eliminate = Callable[[Array, Array, float], Array]
"""eliminate(scores, alive, margin) -> who stays; (n_runs, arms)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """A calibrated algorithm. The steps are fields, so that a test can break one of them and see who notices."""

    horizon: int
    lengths: Lengths
    mechanism: Mechanism
    radius: float
    ridge: float
    tolerance: float
    release: ReleaseStep
    estimate: Estimate
    eliminate: Eliminate


def phase_label(phase: int) -> str:
    """Return the label of a phase's sums, the same in the declaration and in the trace."""
    return f"phase {phase}"


def release_sums(recorder: Recorder, label: str, mechanism: Mechanism, wins: Array) -> Array:
    """Return a phase's wins by comparison with noise, in one release: a person is in one of the sums."""
    return recorder.release(label, mechanism, wins)


def keep_close(scores: Array, alive: Array, margin: float) -> Array:
    """Return the options whose estimated utility is within `margin` of the best one's.

    Source: Algorithm 2, line 10: an option stays if it is strictly above the best less 2 xi.
    """
    best = np.where(alive, scores, -np.inf).max(axis=1, keepdims=True)
    kept: Array = alive & (scores > best - margin)
    return kept
