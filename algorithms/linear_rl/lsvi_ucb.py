"""LSVI-UCB's config: what it promises, what it declares, and what it runs."""

from dataclasses import dataclass
from typing import Any, ClassVar

from algorithms.linear_rl import batch_cases as _cases
from algorithms.linear_rl.batch_declaration import declaration_of
from algorithms.linear_rl.batch_plan import BatchDomain, BatchPlan, plan_of
from algorithms.linear_rl.batch_transcript import batch_transcript
from algorithms.linear_rl.fields import require_fit, validate
from algorithms.linear_rl.notes import batch_notes
from algorithms.linear_rl.regressions import Symmetry
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit import AuditCase, Claim, Declaration, Streams, Transcript
from dpaudit.checks import count, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LsviUcb:
    """Batched least-squares value iteration for linear processes, private by noise on its statistics.

    Parameters: `epsilon` in nats and `delta`; `episodes` K, `steps` H, `dimension` d; `calibration` see
    `batch_noise.noises_of`; `clipping`, `symmetry`, `fail_prob`, `bonus_scale` and `shift_scale` as for `UcrlVtr`;
    `schedule` "static" (the paper's batches) or "switching": a new policy whenever a *noisy* determinant doubles, at
    most `switches` times, which is declared with a tree over episodes; `least_batches` overrides a count of one batch,
    at which nothing is ever learned.
    Guarantee: one user's whole episode replaced changes what is released at most as the declaration says, at any
    epsilon: matrices are nodes of a tree, of which a user is in floor(log2 n) + 1; vectors read the whole history
    again at each release and get fresh noise each. The switching rule reads released matrices only, so it is
    post-processing, and its vectors are at most `switches` many.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Luyo, Garcelon, Lazaric and Pirotta (2021), Algorithm 2 and Theorem 8.

    >>> config = LsviUcb(epsilon=1, delta=1e-5, episodes=10_000, steps=5, dimension=5)
    >>> plan = config.plan()
    >>> plan.schedule.batches, round(plan.noises[0].matrix.stddev, 4), round(plan.noises[0].vector.stddev, 3)
    (11, 33.3678, 447.676)
    """

    name: ClassVar[str] = "lsvi_ucb"

    epsilon: float
    episodes: int
    steps: int
    dimension: int
    delta: float = 0.0
    model: str = "joint"
    calibration: str = "tight"
    clipping: str = "horizon"
    symmetry: Symmetry = "half"
    schedule: str = "static"
    switches: int = 10
    least_batches: int = 1
    fail_prob: float = 0.05
    bonus_scale: float = 1.0
    shift_scale: float = 1.0

    def __post_init__(self) -> None:
        one_of("model", self.model, ("joint",))
        one_of("schedule", self.schedule, ("static", "switching"))
        validate(self)
        for name in ("switches", "least_batches"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.schedule == "switching" and self.calibration != "tight":
            raise ValueError(
                f"Expected calibration={self.calibration!r} to be 'tight' for schedule='switching': the paper has no "
                "proof for it, and so no noise."
            )

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return Claim(
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours="replace_one",
            model="joint",
            unit="one user's whole episode",
        )

    def declaration(self) -> Declaration:
        """Return every step's nodes of matrices and its vectors, as often as one user meets them."""
        return declaration_of(self)

    def plan(self) -> BatchPlan:
        """Return the calibrated algorithm; it depends on nothing but the config."""
        return plan_of(self)

    def plan_without_noise(self) -> BatchPlan:
        """Return the same algorithm without noise, and so without privacy: batched LSVI-UCB itself."""
        return plan_of(self, noisy=False)

    def run(self, problem: LinearMdp, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs; see `batch_transcript` for the arrays.

        Raises: ValueError: a problem of other steps or dimension than the config's.
        """
        return batch_transcript(self.plan(), batch_domain_of(self, problem), streams, n_runs)

    def run_without_noise(self, problem: LinearMdp, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs of the algorithm without privacy, for comparison."""
        return batch_transcript(self.plan_without_noise(), batch_domain_of(self, problem), streams, n_runs)

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audit of all that is released, with a first user who contributes as much as the bounds allow."""
        return _cases.cases_of(self, problem)

    def notes(self, problem: LinearMdp) -> tuple[str, ...]:
        """Return what the schedule and the radius amount to on `problem`."""
        batch_domain_of(self, problem)
        return batch_notes(self.plan())


def batch_domain_of(config: LsviUcb, problem: LinearMdp) -> BatchDomain:
    """Return the problem laid out, or say where it does not fit the config."""
    require_fit(problem, LinearMdp, "a linear process, such as low_rank", config)
    return BatchDomain.of(problem)
