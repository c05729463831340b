"""The plan of a run, fixed before anybody votes: lengths, calibrated noise and the steps of a phase."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._dueling.regression import constrained_logistic
from algorithms.g_optimal_dueling.schedule import Lengths
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit import Mechanism, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Laplace

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


def mechanism_of(settings: GOptimalDuelingSettings) -> Laplace:
    """Return the noise of a phase's sums: scale 1 / epsilon (Algorithm 2), or ln(horizon) times that (Lemma 7)."""
    factor = math.log(settings.horizon) if settings.calibration == "proof" else 1.0
    return Laplace(scale=max(factor, 1e-300) / settings.epsilon, l1_sensitivity=1.0, neighbours="replace_one")


def lengths_of(settings: GOptimalDuelingSettings) -> Lengths:
    """Return the public lengths of the phases."""
    return Lengths(settings=settings, horizon=settings.horizon)


def plan_of(settings: GOptimalDuelingSettings) -> Plan:
    """Return the plan, which depends on nothing but the settings."""
    return Plan(
        horizon=settings.horizon,
        lengths=lengths_of(settings),
        mechanism=mechanism_of(settings),
        radius=settings.radius,
        ridge=settings.ridge,
        tolerance=settings.tolerance,
        release=release_sums,
        estimate=constrained_logistic,
        eliminate=keep_close,
    )


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
    return alive & (scores > best - margin)
