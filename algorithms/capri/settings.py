"""The settings of CAPRI: fields, their limits, and the privacy claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import ROUND, claim_of
from algorithms.capri.calibration import CALIBRATIONS, noise_multiplier
from algorithms.kernels import KERNELS, SMOOTHNESSES
from dpaudit import Claim
from dpaudit.checks import OneOf, OpenProbability, Positive, Within, settle

ELIMINATIONS = ("practical", "theory", "argmax")
"""The elimination rules by name, see `elimination.HalfWidth`."""

_MODELS = ("joint", "local")
_LONGEST = 10**15
"""Beyond it an epoch's covariance, of the order of its length, leaves a ridge of order 1 no digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapriSettings:
    """The public parameters of CAPRI.

    Parameters: `model` "joint" (the learner adds noise once an epoch) or "local" (every user does);
    `epsilon` in nats and `delta`; `horizon`, the number of rounds and users; `calibration` of the noise: "paper" is
    Eq. (5), "tight" the exact multiplier of one release (the same as "analytic_parallel"), the others stand between
    them, see `calibration.noise_multiplier`; `reward_bound`, to which rewards are clipped; `ridge`, the paper's tau;
    `elimination` of actions: "practical" half widths, those of "theory" (Eq. (7)), or "argmax", which keeps the best
    action only; `width_factor`, which scales the practical half width; `fail_prob` (the paper's delta_ERR) of the half
    widths; `kernel` of contexts and actions, "features" for the problem's own features; `length_scale` of the kernel;
    `smoothness` of the Matern kernel: 0.5, 1.5 or 2.5.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # What the privacy loss depends on.
    model: Annotated[str, OneOf(_MODELS)]
    epsilon: Positive
    delta: OpenProbability
    horizon: Annotated[int, Within(at_least=4)]
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "tight"
    reward_bound: Positive = 1.0

    # What only the usefulness depends on: the sensitivity bound is computed from the map that these give.
    ridge: Positive = 1.0
    elimination: Annotated[str, OneOf(ELIMINATIONS)] = "practical"
    kernel: Annotated[str, OneOf(tuple(KERNELS))] = "squared_exponential"
    length_scale: Positive = 0.2
    smoothness: float = 2.5
    fail_prob: OpenProbability = 0.1
    width_factor: Positive = 0.5

    def __post_init__(self) -> None:
        settle(self)
        if self.horizon > _LONGEST:
            raise ValueError(
                f"Expected horizon={self.horizon} at or below 10^15, where floating point still sees the ridge."
            )
        if self.smoothness not in SMOOTHNESSES:
            known = ", ".join(map(str, SMOOTHNESSES))
            raise ValueError(f"Expected smoothness={self.smoothness!r} to be one of: {known}.")
        self.noise_multiplier()

    def noise_multiplier(self) -> float:
        """Return the noise of one release over its sensitivity, which has no unit.

        Raises: ValueError: a calibration whose theorem does not hold at this epsilon.
        """
        return noise_multiplier(self.calibration, epsilon=self.epsilon, delta=self.delta, horizon=self.horizon)

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one round for each user."""
        return self.horizon

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return claim_of(ROUND, self.model, self.epsilon, self.delta)
