"""Settings of LSVI-UCB: fields, their checks, and the claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import EPISODE, claim_of
from algorithms._linear_rl.settings import CALIBRATIONS, CLIPPINGS, Symmetry, check_shared_settings
from dpaudit import Claim
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, ProbabilityBelowOne, count, one_of, positive

MODELS = ("joint",)
SCHEDULES = ("static", "switching")
RULES = {"determinant": (2.0, 3.0), "spectral": (3.0, 4.0)}
"""The switching rules by name: the threshold above which the regret is proved, and the default one.

*determinant* asks for a log determinant that grew by more, the noise moving it by at most 2 at the shift of Appendix
E.1; *spectral* for a direction that grew by a larger factor, the noise changing a form by at most (1 + r) / (1 - r),
which is 3 at r = 1/2.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LsviUcbSettings:
    """Everything that a user chooses about LSVI-UCB.

    Fields that matter for privacy: `model`, always "joint"; `epsilon` in nats and `delta`; `episodes` K, `steps` H of
    each, `dimension` d; `calibration` of the noise: "paper" (Theorem 8), "tight" (the least that meets the claim),
    "pure_paper" (Appendix E.3, delta 0) or "pure_repaired" (the same by l1 sensitivities); `clipping` of values at H
    ("horizon") or at the steps left ("range_aware"); `symmetry` of matrix noise, see `mechanisms.SymmetricGaussian`;
    `schedule` "static" (the paper's batches) or "switching": a new policy whenever the *noisy* matrices have grown, at
    most `switches` times; they are looked at `looks` times in equal distances (after every episode where absent), which
    is declared with a tree over these looks;
    `least_batches` overrides a count of one batch, at which nothing is ever learned.
    Fields that matter for usefulness only: `switching_rule` "determinant" or "spectral", see `RULES`, and its
    `threshold` (3 and 4 where absent); `regret_unproved` accepts a rule that has no proof of its regret; `fail_prob` p
    of the regret analysis; `bonus_scale` and `shift_scale`, which shrink radius and shift.
    Raises: ValueError: a field outside its range, or a switching rule whose regret is not proved and not marked so; the
        message names it, its value and the rule.
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
    looks: Count | None = None

    # These fields act on released statistics only: no value of theirs changes the privacy of a run.
    switching_rule: Annotated[str, OneOf(tuple(RULES))] = "determinant"
    threshold: Positive | None = None
    regret_unproved: bool = False
    fail_prob: OpenProbability = 0.05
    bonus_scale: Positive = 1.0
    shift_scale: Positive = 1.0

    def __post_init__(self) -> None:
        one_of("model", self.model, MODELS)
        one_of("schedule", self.schedule, SCHEDULES)
        one_of("switching_rule", self.switching_rule, tuple(RULES))
        check_shared_settings(self)
        if self.threshold is not None:
            object.__setattr__(self, "threshold", positive("threshold", self.threshold))
        if self.looks is not None:
            object.__setattr__(self, "looks", count("looks", self.looks))
        for name in ("switches", "least_batches"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.schedule == "switching" and self.calibration != "tight":
            raise ValueError(
                f"Expected calibration={self.calibration!r} to be 'tight' for schedule='switching': the paper has no "
                "proof for it, and so no noise."
            )
        if self.schedule == "switching" and not self.regret_unproved:
            self._require_proved_regret(RULES[self.switching_rule][0])

    def _require_proved_regret(self, least: float) -> None:
        """Refuse a switching rule that noise alone can set off.

        Raises: ValueError: a threshold or a shift that is too small for the noise.
        """
        if self.limit <= least:
            raise ValueError(
                f"Expected threshold={self.limit!r} above {least:g} for switching_rule={self.switching_rule!r}: noise "
                "alone can cross it, so that the regret is unproved. Raise it, or set regret_unproved = true."
            )
        if self.shift_scale < 1:
            raise ValueError(
                f"Expected shift_scale={self.shift_scale!r} at 1 or more for schedule='switching': below it the noise "
                "is not small beside the shift: the regret is unproved. Raise it, or set regret_unproved = true."
            )

    @property
    def limit(self) -> float:
        """The threshold of the switching rule, given or by default."""
        return RULES[self.switching_rule][1] if self.threshold is None else self.threshold

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user an episode."""
        return self.episodes

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return claim_of(EPISODE, self.model, self.epsilon, self.delta)
