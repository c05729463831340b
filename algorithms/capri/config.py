"""CAPRI's config: what it promises, what it declares, and what it runs."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from algorithms.capri import cases as _cases
from algorithms.capri.calibration import CALIBRATIONS, noise_multiplier
from algorithms.capri.checks import KEY
from algorithms.capri.domain import domain_of
from algorithms.capri.elimination import ELIMINATIONS
from algorithms.capri.lockstep import run_epochs
from algorithms.capri.notes import width_note
from algorithms.capri.plan import Plan
from algorithms.capri.releases import release_messages, release_sum
from algorithms.capri.schedule import epochs_of
from algorithms.capri.users import SimulatedUsers
from algorithms.kernels import KERNELS, SMOOTHNESSES
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import (
    AuditCase,
    Billboard,
    Claim,
    Declaration,
    Local,
    Model,
    Parallel,
    PostProcess,
    Printed,
    Release,
    Streams,
    Transcript,
)
from dpaudit.checks import count, one_of, open_probability, positive
from mechanisms import Gaussian

_MODELS = ("joint", "local")
_SAFETY = 1 + 1e-9
_LONGEST = 10**15
"""Beyond it an epoch's covariance, of the order of its length, leaves a ridge of order 1 no digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capri:
    """A kernel contextual bandit that eliminates actions in doubling epochs, private by one noisy sum an epoch.

    Parameters: `model` "joint" (the learner adds noise once an epoch) or "local" (every user does);
    `epsilon` in nats and `delta`; `horizon`, the number of rounds and users; `calibration`, see
    `calibration.noise_multiplier`; `reward_bound`, to which rewards are clipped; `ridge`, the paper's tau;
    `elimination`, `width_factor` and `fail_prob` (delta_ERR), see `elimination.HalfWidth`; `kernel` with
    `length_scale` and, for "matern", `smoothness` in 0.5, 1.5 or 2.5; "features" takes the problem's own.
    Guarantee: with noise multiplier z, one record (a context and its reward) replaced by another changes the
    transcript at most as N(1/z, 1) differs from N(0, 1), at any number of epochs. Proof: fix the record's
    round in epoch r. All before r has the same law. Given it and the other users' actions, the release of r
    is normal with means at most 2 reward_bound scale apart (by joint convexity the user's own random action
    may be fixed). Given the transcript up to r, everything later reads records that the neighbours share.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Pavlovic, Salgia and Zhao (2025), Algorithm 1 and Theorem 4.1.

    >>> config = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000, calibration="paper")
    >>> round(config.plan().noise_multiplier, 6)
    51.077633
    """

    name: ClassVar[str] = "capri"

    model: str
    epsilon: float
    delta: float
    horizon: int
    calibration: str = "tight"
    reward_bound: float = 1.0
    ridge: float = 1.0
    elimination: str = "practical"
    kernel: str = "squared_exponential"
    length_scale: float = 0.2
    smoothness: float = 2.5
    fail_prob: float = 0.1
    width_factor: float = 0.5

    def __post_init__(self) -> None:
        one_of("model", self.model, _MODELS)
        object.__setattr__(self, "horizon", count("horizon", self.horizon, at_least=4))
        if self.horizon > _LONGEST:
            raise ValueError(
                f"Expected horizon={self.horizon} at or below 10^15, where floating point still sees the ridge."
            )
        for field in ("epsilon", "reward_bound", "ridge", "length_scale", "width_factor"):
            object.__setattr__(self, field, positive(field, getattr(self, field)))
        for field in ("delta", "fail_prob"):
            object.__setattr__(self, field, open_probability(field, getattr(self, field)))
        one_of("calibration", self.calibration, CALIBRATIONS)
        one_of("elimination", self.elimination, ELIMINATIONS)
        one_of("kernel", self.kernel, KERNELS)
        if self.smoothness not in SMOOTHNESSES:
            known = ", ".join(map(str, SMOOTHNESSES))
            raise ValueError(f"Expected smoothness={self.smoothness!r} to be one of: {known}.")
        self._multiplier()

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return Claim(
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours="replace_one",
            model=cast("Model", self.model),
            unit="one round: a context and its reward",
        )

    def plan(self) -> Plan:
        """Return the schedule, the calibrated mechanism and the steps; it depends on nothing but the config."""
        multiplier = self._multiplier()
        sensitivity = 2 * self.reward_bound
        mechanism = Gaussian(
            l2_sensitivity=sensitivity, stddev=multiplier * sensitivity * _SAFETY, neighbours="replace_one"
        )
        return Plan(
            model=self.model,
            epochs=epochs_of(self.horizon),
            noise_multiplier=multiplier,
            stddev=mechanism.stddev,
            mechanism=mechanism,
            reward_bound=self.reward_bound,
            ridge=self.ridge,
            release=release_messages if self.model == "local" else release_sum,
        )

    def declaration(self) -> Declaration:
        """Return what a run releases: one Gaussian an epoch (joint) or a user (local), in parallel over epochs.

        With calibration "paper" the nodes carry the paper's own argument: the classic Gaussian mechanism in
        each of ln(horizon) slots, composed one after another.
        """
        plan = self.plan()
        leaves = tuple(
            Release(
                label=plan.label(epoch),
                mechanism=plan.mechanism,
                printed=self._printed("classic_gaussian", share=1 / math.log(self.horizon)),
            )
            for epoch in plan.epochs
            if plan.releases(epoch)
        )
        parts = Parallel(parts=leaves, key=KEY, printed=self._printed("basic", slots=math.log(self.horizon)))
        if self.model == "local":
            return Local(part=parts, printed=self._printed("local"))
        steps = ("estimates and elimination", "the bound and the sets R and S of the next epoch")
        return Billboard(
            part=PostProcess(part=parts, steps=steps, printed=self._printed("post_processing")),
            reads=("their own context",),
            printed=self._printed("billboard"),
        )

    def run(self, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return the transcript of `n_runs` independent runs on simulated users of `problem`.

        Beside the arrays of `lockstep.run_epochs`: `regret` (n_runs, E), the expected regret of each epoch's
        actions, and `lost` (n_runs,), whether some context's best action was eliminated.
        Raises: ValueError: a problem without the features that the kernel needs.
        """
        domain = domain_of(self, problem)
        transcript = run_epochs(self.plan(), domain, SimulatedUsers(problem=problem), streams, n_runs)
        gaps = problem.gaps.ravel()
        final = transcript.arrays["active"][:, -1].reshape(n_runs, *problem.gaps.shape)
        extra = {
            "regret": transcript.arrays["actions"] @ gaps,
            "lost": (~(final & (problem.gaps == 0)).any(axis=2)).any(axis=1),
        }
        return Transcript(
            n_runs=n_runs,
            arrays={**transcript.arrays, **extra},
            views=transcript.views,
            trace=transcript.trace,
            conditions=transcript.conditions,
        )

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audits of this config, all on the domain where the worst case is attained.

        `problem` does not matter: privacy depends on the config alone, and no problem is worse than that domain.
        """
        return _cases.cases_of(self)

    def notes(self, problem: KernelBandit) -> tuple[str, ...]:
        """Return what the printed confidence width amounts to on `problem`."""
        return width_note(self.plan(), domain_of(self, problem), self.elimination)

    def _multiplier(self) -> float:
        """Return the noise multiplier of the calibration."""
        return noise_multiplier(self.calibration, epsilon=self.epsilon, delta=self.delta, horizon=self.horizon)

    def _printed(self, rule: str, *, share: float = 1.0, slots: float | None = None) -> Printed | None:
        """Return the paper's own step, where the paper's noise is what runs."""
        if self.calibration != "paper":
            return None
        return Printed(rule=rule, epsilon=self.epsilon * share, delta=self.delta * share, slots=slots)
