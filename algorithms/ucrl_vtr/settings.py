"""Settings of UCRL-VTR: fields, their checks, and the claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import EPISODE, claim_of
from algorithms._linear_rl.settings import CALIBRATIONS, CLIPPINGS, Symmetry, check_shared_settings
from dpaudit import Claim
from dpaudit.checks import (
    Count,
    OneOf,
    OpenProbability,
    Positive,
    ProbabilityBelowOne,
    TwoOrMore,
    count,
    one_of,
    positive,
)

MODELS = ("joint", "local")
BONUSES = ("hoeffding", "bernstein")


@dataclass(frozen=True, slots=True, kw_only=True)
class UcrlVtrSettings:
    """Everything that a user chooses about UCRL-VTR.

    Fields that matter for privacy: `model` "joint" (trees that the learner keeps) or "local" (every user's own noise);
    `epsilon` in nats and `delta`; `episodes` K, `steps` H of each, `dimension` d; `bonus` "hoeffding" (Algorithm 1) or
    "bernstein" (Algorithm 3), which decides what is released; `calibration` of the noise: "paper" (Corollaries 5,
    6, 10 and 11), "tight" (the least that meets the claim), "pure_paper" (the pure remarks, delta 0) or
    "pure_repaired" (the same by l1 sensitivities); `clipping` of values at H ("horizon") or at the steps left
    ("range_aware"); `symmetry` of matrix noise, see `mechanisms.SymmetricGaussian`.
    Fields that matter for usefulness only: `weight_bound` C_w on the norm of the weights; `fail_prob` p of the regret
    analysis; `bonus_scale` and `shift_scale`, which shrink radius and shift; `planning_period`, how many episodes a
    policy is kept.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # These fields decide what is released and how much noise it carries.
    model: Annotated[str, OneOf(MODELS)]
    epsilon: Positive
    delta: ProbabilityBelowOne = 0.0
    episodes: Count
    steps: TwoOrMore
    dimension: Count
    bonus: Annotated[str, OneOf(BONUSES)] = "hoeffding"
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "tight"
    clipping: Annotated[str, OneOf(CLIPPINGS)] = "horizon"
    symmetry: Symmetry = "half"

    # These fields act on released statistics only: no value of theirs changes the privacy of a run.
    weight_bound: Positive = 1.0
    fail_prob: OpenProbability = 0.05
    bonus_scale: Positive = 1.0
    shift_scale: Positive = 1.0
    planning_period: Count = 1

    def __post_init__(self) -> None:
        one_of("model", self.model, MODELS)
        one_of("bonus", self.bonus, BONUSES)
        check_shared_settings(self)
        object.__setattr__(self, "steps", count("steps", self.steps, at_least=2))
        object.__setattr__(self, "planning_period", count("planning_period", self.planning_period))
        object.__setattr__(self, "weight_bound", positive("weight_bound", self.weight_bound))

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user an episode."""
        return self.episodes

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return claim_of(EPISODE, self.model, self.epsilon, self.delta)
