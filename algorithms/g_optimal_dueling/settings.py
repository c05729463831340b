"""The settings of the G-optimal dueling bandit: fields, their limits, and the privacy claim."""

import math
from dataclasses import dataclass
from typing import Annotated

from algorithms._dueling.claim import answer_claim
from dpaudit import Claim
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, TwoOrMore, Within, settle

CALIBRATIONS = ("paper", "tight", "proof")
"""The noise by name: Algorithm 2's Lap(1 / eps), which is tight, or the Lap(ln T / eps) that Lemma 7 analyses."""

PRESETS = ("paper", "practical")
"""The presets of the phase lengths by name, see `plan.Lengths`."""

_SLOPE_AT_4 = math.exp(-4) / (1 + math.exp(-4)) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GOptimalDuelingSettings:
    """The public parameters of the G-optimal dueling bandit.

    Parameters: `epsilon` in nats; `horizon`, the number of rounds and people; `arms` and `dimension`, those of the
    problem; `model`, always "central"; `calibration` of the noise: "paper" (Algorithm 2's 1 / epsilon), "tight" (the
    same) or "proof" (ln T / epsilon, as Lemma 7 analyses it); `preset` of the phases' lengths: "paper" (Theorem 3) or
    "practical", see `plan.Lengths`; `kappa`, the slope that the printed lengths divide by, sigma'(4) by default,
    at most the steepest slope of the logistic function;
    `fail_prob` of the printed lengths; `radius` of the ball that estimates lie in; `ridge` of the estimate; `tolerance`
    of the design.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # What the privacy loss depends on; the horizon enters the noise of calibration "proof" alone.
    epsilon: Positive
    horizon: Count
    model: Annotated[str, OneOf(("central",))] = "central"
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "paper"

    # What only the usefulness depends on: one person is in one sum whatever the lengths and the estimate.
    arms: TwoOrMore
    dimension: Count
    preset: Annotated[str, OneOf(PRESETS)] = "practical"
    kappa: Annotated[float, Within(above=0, at_most=0.25)] = _SLOPE_AT_4
    fail_prob: OpenProbability | None = None
    radius: Positive = 2.0
    ridge: Positive = 1e-3
    tolerance: Positive = 0.01

    def __post_init__(self) -> None:
        settle(self)

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one answer a round."""
        return self.horizon

    def claim(self) -> Claim:
        """Return what the paper promises: pure privacy of one answer, for everybody who sees every duel."""
        return answer_claim(self.epsilon, self.model)
