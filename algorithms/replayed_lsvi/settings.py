"""Settings of the replayed LSVI-UCB: fields, their limits, and the claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import EPISODE, claim_of
from dpaudit import Claim
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, TwoOrMore, settle


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedLsviSettings:
    """Everything that a user chooses about the replayed LSVI-UCB.

    Fields that matter for privacy: `model`, always "local"; `epsilon` in nats and `delta`, of one user's message;
    `episodes`, one a user; `steps` of each; `dimension` of the features.
    Fields that matter for usefulness only: `stages`, how often a policy is learned; `learning_share`, the share of the
    users who come before the last policy; `fail_prob` of the widths; `bonus_scale` and `shift_scale`, which shrink
    radius and shift.
    Raises: ValueError: a field outside its range, or fewer episodes than the stages need.
    """

    # These fields decide what is released and how much noise it carries.
    model: Annotated[str, OneOf(("local",))] = "local"
    epsilon: Positive
    delta: OpenProbability
    episodes: Count
    steps: Count
    dimension: TwoOrMore

    # These fields act on released statistics and on the public schedule only.
    stages: Count = 3
    learning_share: OpenProbability = 0.5
    fail_prob: OpenProbability = 0.05
    bonus_scale: Positive = 1.0
    shift_scale: Positive = 1.0

    def __post_init__(self) -> None:
        settle(self)
        if self.first_stage < 1:
            raise ValueError(
                f"Expected episodes={self.episodes} to be enough for stages={self.stages} with a user for each step; "
                "raise it, or lower the stages."
            )

    @property
    def first_stage(self) -> int:
        """The main episodes of the first stage: stages double, and each main episode so far is replayed once a step."""
        shares = 2 ** (self.stages - 1) + self.steps * (2**self.stages - 1)
        return int(self.learning_share * self.episodes / shares)

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user an episode."""
        return self.episodes

    def claim(self) -> Claim:
        """Return what is promised of each user's own message."""
        return claim_of(EPISODE, self.model, self.epsilon, self.delta)
