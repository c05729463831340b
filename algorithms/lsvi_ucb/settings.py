"""Settings of LSVI-UCB: fields, their checks, and the claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import EPISODE, claim_of
from algorithms._linear_rl.settings import CALIBRATIONS, CLIPPINGS, Symmetry, check_shared_settings
from dpaudit import Claim
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, ProbabilityBelowOne, count, one_of

MODELS = ("joint",)
SCHEDULES = ("static", "switching")


@dataclass(frozen=True, slots=True, kw_only=True)
class LsviUcbSettings:
    """Everything that a user chooses about LSVI-UCB.

    Fields that matter for privacy: `model`, always "joint"; `epsilon` in nats and `delta`; `episodes` K, `steps` H of
    each, `dimension` d; `calibration` of the noise: "paper" (Theorem 8), "tight" (the least that meets the claim),
    "pure_paper" (Appendix E.3, delta 0) or "pure_repaired" (the same by l1 sensitivities); `clipping` of values at H
    ("horizon") or at the steps left ("range_aware"); `symmetry` of matrix noise, see `mechanisms.SymmetricGaussian`;
    `schedule` "static" (the paper's batches) or "switching": a new policy whenever a *noisy* determinant doubles, at
    most `switches` times, which is declared with a tree over episodes; `least_batches` overrides a count of one batch,
    at which nothing is ever learned.
    Fields that matter for usefulness only: `fail_prob` p of the regret analysis; `bonus_scale` and `shift_scale`, which
    shrink radius and shift.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # These fields decide what is released and how much noise it carries.
    model: Annotated[str, OneOf(MODELS)] = "joint"
    epsilon: Positive
    delta: ProbabilityBelowOne = 0.0
    episodes: Count
    steps: Count
    dimension: Count
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "tight"
    clipping: Annotated[str, OneOf(CLIPPINGS)] = "horizon"
    symmetry: Symmetry = "half"
    schedule: Annotated[str, OneOf(SCHEDULES)] = "static"
    switches: Count = 10
    least_batches: Count = 1

    # These fields act on released statistics only: no value of theirs changes the privacy of a run.
    fail_prob: OpenProbability = 0.05
    bonus_scale: Positive = 1.0
    shift_scale: Positive = 1.0

    def __post_init__(self) -> None:
        one_of("model", self.model, MODELS)
        one_of("schedule", self.schedule, SCHEDULES)
        check_shared_settings(self)
        for name in ("switches", "least_batches"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.schedule == "switching" and self.calibration != "tight":
            raise ValueError(
                f"Expected calibration={self.calibration!r} to be 'tight' for schedule='switching': the paper has no "
                "proof for it, and so no noise."
            )

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user an episode."""
        return self.episodes

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return claim_of(EPISODE, self.model, self.epsilon, self.delta)
