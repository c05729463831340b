"""The settings of CAPRI: schedule of epochs, calibrations of the noise, fields, limits, and the privacy claim."""

import math
from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import ROUND, claim_of
from algorithms._growth import Epoch, doubling_epochs
from algorithms.kernels import KERNELS, require_smoothness
from dpaudit import Claim
from dpaudit.checks import OneOf, OpenProbability, Positive, Within, settle
from mechanisms import Gaussian


def epochs_of(horizon: int) -> tuple[Epoch, ...]:
    """Return the epochs of `horizon` rounds: the first of ceil(sqrt(horizon)), each next twice as long.

    Source: Algorithm 1, lines 2 and 20.

    >>> [epoch.length for epoch in epochs_of(1000)]
    [32, 64, 128, 256, 512, 8]
    """
    return doubling_epochs(horizon, math.isqrt(horizon - 1) + 1)


def completed(horizon: int) -> int:
    """Return how many epochs reach their full length, each of which ends in one release in the joint model."""
    return sum(epoch.complete for epoch in epochs_of(horizon))


CALIBRATIONS = ("paper", "classic_epoch", "classic_parallel", "analytic_seq", "analytic_parallel", "tight")
"""The calibrations by name; `tight` is another word for `analytic_parallel`."""


def _exact(epsilon: float, delta: float) -> float:
    """Return the smallest multiplier for which one Gaussian release is (epsilon, delta)-private."""
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    return float(Gaussian.calibrated(claim, l2_sensitivity=1.0).noise_multiplier)


ELIMINATIONS = ("practical", "theory", "argmax")
"""The elimination rules by name, see `elimination.HalfWidth`."""

_MODELS = ("joint", "local")
_LONGEST = 10**15  # beyond it floating point no longer sees the ridge
"""Beyond it an epoch's covariance, of the order of its length, leaves a ridge of order 1 no digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapriSettings:
    """The public parameters of CAPRI.

    Parameters: `model` "joint" (the learner adds noise once an epoch) or "local" (every user does);
    `epsilon` in nats and `delta`; `horizon`, the number of rounds and users; `calibration` of the noise: "paper" is
    Eq. (5), "tight" the exact multiplier of one release (the same as "analytic_parallel"), the others stand between
    them, see `noise_multiplier`; `reward_bound`, to which rewards are clipped; `ridge`, the paper's tau;
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
    horizon: Annotated[int, Within(at_least=4, at_most=_LONGEST)]
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
        require_smoothness(self.smoothness)
        self.noise_multiplier()

    def noise_multiplier(self) -> float:
        """Return the noise of one release over its sensitivity, which has no unit.

        With L = ln(horizon) slots and n completed epochs:

            paper               (2 L / epsilon) sqrt(ln(1.25 L / delta)), Eq. (5)
            classic_epoch       sqrt(2 ln(1.25 L / delta)) L / epsilon, the textbook constant in each of L slots
            classic_parallel    sqrt(2 ln(1.25 / delta)) / epsilon, as a user is in one epoch only
            analytic_seq        sqrt(n) times the exact multiplier, as if a user were in every epoch
            analytic_parallel   the exact multiplier for one release

        Raises: ValueError: the two classic formulas above epsilon = 1 a release, where their theorem stops.
        Source: Dwork and Roth (2014), Theorem A.1; Balle and Wang (2018), Theorem 8.
        """
        epsilon, delta, slots = self.epsilon, self.delta, math.log(self.horizon)
        match self.calibration:
            case "paper":
                return 2 * slots / epsilon * math.sqrt(math.log(1.25 * slots / delta))
            case "classic_epoch":
                self._require_classic(limit=slots)
                return slots / epsilon * math.sqrt(2 * math.log(1.25 * slots / delta))
            case "classic_parallel":
                self._require_classic(limit=1.0)
                return math.sqrt(2 * math.log(1.25 / delta)) / epsilon
            case "analytic_seq":
                return math.sqrt(completed(self.horizon)) * _exact(epsilon, delta)
            case _:
                return _exact(epsilon, delta)

    def _require_classic(self, limit: float) -> None:
        """Refuse the classic formula where its theorem does not hold."""
        if self.epsilon >= limit:
            raise ValueError(
                f"Expected epsilon={self.epsilon!r} below {limit:g} for calibration={self.calibration!r}: the classic "
                "formula is proved below 1 a release only. Use calibration='tight', which holds for every epsilon."
            )

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one round for each user."""
        return self.horizon

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return claim_of(ROUND, self.model, self.epsilon, self.delta)
