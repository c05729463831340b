"""The settings of the cell table: fields, their limits, and the privacy claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import ROUND, claim_of
from dpaudit import Claim
from dpaudit.checks import OneOf, OpenProbability, Positive, Within, settle

_LONGEST = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTableSettings:
    """The public parameters of the cell table.

    Parameters: `epsilon` in nats and `delta`; `horizon`, the number of rounds and users; `model`, always "joint";
    `calibration`, always "tight": the exact multiplier of one release; `reward_bound`, to which rewards are clipped;
    `fail_prob` of the half widths, by which actions are eliminated; `width_factor`, which scales the half widths.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # What the privacy loss depends on.
    epsilon: Positive
    delta: OpenProbability
    horizon: Annotated[int, Within(at_least=4, at_most=_LONGEST)]
    model: Annotated[str, OneOf(("joint",))] = "joint"
    calibration: Annotated[str, OneOf(("tight",))] = "tight"
    reward_bound: Positive = 1.0

    # What only the usefulness depends on.
    fail_prob: OpenProbability = 0.1
    width_factor: Positive = 0.5

    def __post_init__(self) -> None:
        settle(self)

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one round for each user."""
        return self.horizon

    def claim(self) -> Claim:
        """Return what is promised for these parameters."""
        return claim_of(ROUND, self.model, self.epsilon, self.delta)
