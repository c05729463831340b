"""Settings of UCRL-VTR: the shared ones, and its own fields."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._linear_rl.settings import LinearRlSettings
from dpaudit.checks import Count, OneOf, Positive, TwoOrMore

BONUSES = ("hoeffding", "bernstein")


@dataclass(frozen=True, slots=True, kw_only=True)
class UcrlVtrSettings(LinearRlSettings):
    """Everything that a user chooses about UCRL-VTR, beside the shared settings.

    Fields that matter for privacy: `model` "joint" (trees that the learner keeps) or "local" (every user's own noise);
    `bonus` "hoeffding" (Algorithm 1) or "bernstein" (Algorithm 3), which decides what is released; `calibration` of the
    noise: "paper" (Corollaries 5, 6, 10 and 11), "tight" (the least that meets the claim), "pure_paper" (the pure
    remarks, delta 0) or "pure_repaired" (the same by l1 sensitivities).
    Fields that matter for usefulness only: `weight_bound` C_w on the norm of the weights; `planning_period`, how many
    episodes a policy is kept.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # These fields decide what is released and how much noise it carries.
    steps: TwoOrMore
    bonus: Annotated[str, OneOf(BONUSES)] = "hoeffding"

    # These fields act on released statistics only: no value of theirs changes the privacy of a run.
    weight_bound: Positive = 1.0
    planning_period: Count = 1
