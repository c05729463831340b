"""The plan of a run, fixed before anybody votes: lengths, calibrated noise and the steps of a phase."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._dueling.regression import constrained_logistic
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit import Mechanism, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Laplace


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """The lengths of the phases, with xi_l = 2^-l; all that they depend on is public, and none of it touches privacy.

        paper      N_l = 16 d^5 ln(d T / delta) / (kappa eps xi_l) + 64 d ln(T / delta) / (kappa^2 xi_l^2)
                   t_0 = 2 (C_1 d^1.5 + C_2 d sqrt(ln(1 / delta)))^2 + (16 d / kappa^4)(d^2 + ln(T / delta)),
                   C_1 = C_2 = 1
        practical  N_l = 8 d / (eps xi_l) + 16 d / xi_l^2,  t_0 = 0

    `kappa` is a lower bound on the slope of the logistic function at what it is evaluated at, which is
    sigma'(4) for Algorithm 2 as printed; estimating it from answers would cost budget.
    Source: Saha and Asi (2024), Algorithm 2 and Theorem 3; the practical constants are ours.
    """

    preset: str
    epsilon: float
    horizon: int
    arms: int
    dimension: int
    kappa: float
    fail_prob: float | None

    def random_plays(self) -> int:
        """Return t_0, the number of comparisons drawn at the start of every phase."""
        if self.preset == "practical":
            return 0
        d, failure = self.dimension, self._failure()
        spectrum = 2 * (d * math.sqrt(d) + d * math.sqrt(math.log(1 / failure))) ** 2
        return math.ceil(spectrum + 16 * d / self.kappa**4 * (d**2 + math.log(self.horizon / failure)))

    def total(self, phase: int) -> float:
        """Return N_l, of which every comparison gets its weight's share, rounded up."""
        private, statistical = self.parts(phase)
        return math.ceil(private + statistical) if self.preset == "practical" else private + statistical

    def parts(self, phase: int) -> tuple[float, float]:
        """Return the two terms of N_l: what the noise asks for, and what the answers' own randomness does."""
        d, xi = self.dimension, 0.5**phase
        if self.preset == "practical":
            return 8 * d / (self.epsilon * xi), 16 * d / xi**2
        failure = self._failure()
        return (
            16 * d**5 * math.log(d * self.horizon / failure) / (self.kappa * self.epsilon * xi),
            64 * d * math.log(self.horizon / failure) / (self.kappa**2 * xi**2),
        )

    def phases(self) -> int:
        """Return how many phases could end within the horizon, at least one so that the declaration has a part."""
        spent, phase = 0.0, 0
        while spent <= self.horizon:
            phase += 1
            spent += self.random_plays() + self.total(phase)
        return max(1, phase - 1)

    def _failure(self) -> float:
        """Return the failure probability, 1 / (arms horizon log2 horizon) where none is given."""
        if self.fail_prob is not None:
            return self.fail_prob
        return 1 / (self.arms * self.horizon * max(1.0, math.log2(self.horizon)))


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
    return Lengths(
        preset=settings.preset,
        epsilon=settings.epsilon,
        horizon=settings.horizon,
        arms=settings.arms,
        dimension=settings.dimension,
        kappa=settings.kappa,
        fail_prob=settings.fail_prob,
    )


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
    close: Array = alive & (scores > best - margin)
    return close
