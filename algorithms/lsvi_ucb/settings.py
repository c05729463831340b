"""Settings of LSVI-UCB: fields, their checks, and the claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._linear_rl.settings import LinearRlSettings
from dpaudit.checks import Count, OneOf, Positive

SCHEDULES = ("static", "switching")
RULES = {"determinant": (2.0, 3.0), "spectral": (3.0, 4.0)}
"""The switching rules by name: the threshold above which the regret is proved, and the default one.

*determinant* asks for a log determinant that grew by more, the noise moving it by at most 2 at the shift of Appendix
E.1; *spectral* for a direction that grew by a larger factor, the noise changing a form by at most (1 + r) / (1 - r),
which is 3 at r = 1/2.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LsviUcbSettings(LinearRlSettings):
    """Everything that a user chooses about LSVI-UCB, beside the shared settings.

    Fields that matter for privacy: `model`, always "joint"; `calibration` of the noise: "paper" (Theorem 8), "tight"
    (the least that meets the claim), "pure_paper" (Appendix E.3, delta 0) or "pure_repaired" (the same by l1
    sensitivities); `schedule` "static" (the paper's batches) or "switching": a new policy whenever the *noisy* matrices
    have grown, at most `switches` times; they are looked at `looks` times in equal distances (after every episode where
    absent), which is declared with a tree over these looks;
    `least_batches` overrides a count of one batch, at which nothing is ever learned.
    Fields that matter for usefulness only: `switching_rule` "determinant" or "spectral", see `RULES`, and its
    `threshold` (3 and 4 where absent); `regret_unproved` accepts a rule that has no proof of its regret.
    Raises: ValueError: a field outside its range, or a switching rule whose regret is not proved and not marked so; the
        message names it, its value and the rule.
    """

    # These fields decide what is released and how much noise it carries.
    model: Annotated[str, OneOf(("joint",))] = "joint"
    schedule: Annotated[str, OneOf(SCHEDULES)] = "static"
    switches: Count = 10
    least_batches: Count = 1
    looks: Count | None = None

    # These fields act on released statistics only: no value of theirs changes the privacy of a run.
    switching_rule: Annotated[str, OneOf(tuple(RULES))] = "determinant"
    threshold: Positive | None = None
    regret_unproved: bool = False

    def __post_init__(self) -> None:
        LinearRlSettings.__post_init__(self)
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
