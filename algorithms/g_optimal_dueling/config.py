"""The G-optimal dueling bandit's config: what it promises, what it declares, and what it runs."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from algorithms.g_optimal_dueling.plan import Plan, keep_close, phase_label, release_sums
from algorithms.g_optimal_dueling.regression import constrained_logistic
from algorithms.g_optimal_dueling.schedule import PRESETS, Lengths
from dpaudit import (
    AuditCase,
    Claim,
    Declaration,
    Parallel,
    PostProcess,
    Printed,
    Release,
    Streams,
    Transcript,
)
from dpaudit.checks import count, one_of, open_probability, positive
from mechanisms import Laplace

CALIBRATIONS = ("paper", "tight", "proof")
"""The noise by name: Algorithm 2's Lap(1 / eps), which is tight, or the Lap(ln T / eps) that Lemma 7 analyses."""

KEY = "when a person comes and which comparison they are asked for"
"""What decides the sum that an answer enters."""

_SLOPE_AT_4 = math.exp(-4) / (1 + math.exp(-4)) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GOptimalDueling:
    """A dueling bandit over options with features, which asks for designed comparisons in phases.

    A phase plays few comparisons many times, releases each one's number of wins once with noise, fits a
    logistic utility to them, and drops the options that fall behind.

    Parameters: `epsilon` in nats; `horizon`, the number of rounds and people; `arms` and `dimension`, those of the
    problem; `preset`, see `schedule`; `calibration`, see `CALIBRATIONS`; `kappa`, the slope that the printed lengths
    divide by, sigma'(4) by default; `fail_prob` of the printed lengths; `radius` of the ball that estimates lie in;
    `ridge`; `tolerance` of the design.
    Guarantee: one answer replaced by its opposite changes everything shown at most as one Laplace release of shift
    1 / scale does. Proof: fix the duels; the answer is in one sum of one phase and moves it by 1; later phases
    read other people. Where two options span everything this is attained, so the claim has no slack.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Saha and Asi (2024), Algorithm 2 and Theorem 3.

    >>> GOptimalDueling(epsilon=0.5, horizon=1000, arms=20, dimension=2).mechanism().scale
    2.0
    """

    name: ClassVar[str] = "g_optimal_dueling"

    epsilon: float
    horizon: int
    arms: int
    dimension: int
    model: str = "central"
    preset: str = "practical"
    calibration: str = "paper"
    kappa: float = _SLOPE_AT_4
    fail_prob: float | None = None
    radius: float = 2.0
    ridge: float = 1e-3
    tolerance: float = 0.01

    def __post_init__(self) -> None:
        for field in ("epsilon", "kappa", "radius", "ridge", "tolerance"):
            object.__setattr__(self, field, positive(field, getattr(self, field)))
        object.__setattr__(self, "arms", count("arms", self.arms, at_least=2))
        object.__setattr__(self, "horizon", count("horizon", self.horizon))
        object.__setattr__(self, "dimension", count("dimension", self.dimension))
        if self.fail_prob is not None:
            object.__setattr__(self, "fail_prob", open_probability("fail_prob", self.fail_prob))
        one_of("model", self.model, ("central",))
        one_of("preset", self.preset, PRESETS)
        one_of("calibration", self.calibration, CALIBRATIONS)
        if self.kappa > 0.25:
            raise ValueError(f"Expected kappa={self.kappa} at most 0.25, the steepest slope of the logistic function.")

    def claim(self) -> Claim:
        """Return what the paper promises: pure privacy of one answer, for everybody who sees every duel."""
        return Claim(
            epsilon=self.epsilon,
            neighbours="replace_one",
            unit="one person's answer to one comparison",
        )

    def mechanism(self) -> Laplace:
        """Return the noise of a phase's sums: scale 1 / epsilon, or ln(horizon) times that as in Lemma 7."""
        factor = math.log(self.horizon) if self.calibration == "proof" else 1.0
        return Laplace(scale=max(factor, 1e-300) / self.epsilon, l1_sensitivity=1.0, neighbours="replace_one")

    def lengths(self) -> Lengths:
        """Return the public lengths of the phases."""
        return Lengths(
            preset=self.preset,
            epsilon=self.epsilon,
            horizon=self.horizon,
            arms=self.arms,
            dimension=self.dimension,
            kappa=self.kappa,
            fail_prob=self.fail_prob,
        )

    def plan(self) -> Plan:
        """Return what is settled before anybody votes."""
        return Plan(
            horizon=self.horizon,
            lengths=self.lengths(),
            mechanism=self.mechanism(),
            radius=self.radius,
            ridge=self.ridge,
            tolerance=self.tolerance,
            release=release_sums,
            estimate=constrained_logistic,
            eliminate=keep_close,
        )

    def declaration(self) -> Declaration:
        """Return what a run releases: one vector of sums a phase, in parallel; a person is in one sum of one phase."""
        mechanism = self.mechanism()
        parts = tuple(
            Release(label=phase_label(phase), mechanism=mechanism, printed=self._printed("laplace"))
            for phase in range(1, self.lengths().phases() + 1)
        )
        parallel = Parallel(parts=parts, key=KEY, printed=self._printed("parallel"))
        steps = ("designs", "estimates", "which options stay", "the final choice")
        return PostProcess(part=parallel, steps=steps, printed=self._printed("post_processing"))

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return the transcript of `n_runs` runs on simulated people of `problem`; see `running.run`."""
        from algorithms.g_optimal_dueling.running import run

        return run(self, problem, streams, n_runs)

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audits: the sums of a phase, and who is dropped, at the edge of being dropped."""
        from algorithms.g_optimal_dueling.cases import cases_of

        return cases_of(self)

    def notes(self, problem: Any) -> tuple[str, ...]:
        """Return what a reader should know beside proof and attack."""
        from algorithms.g_optimal_dueling.notes import notes_of

        return notes_of(self, problem)

    def _printed(self, rule: str) -> Printed | None:
        """Return the paper's own step, where the paper's noise is what runs."""
        return Printed(rule=rule, epsilon=self.epsilon) if self.calibration == "paper" else None
