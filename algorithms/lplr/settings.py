"""Settings of LPLR: fields, their checks, and the claim."""

import math
from dataclasses import dataclass
from typing import Annotated

from algorithms._claims import MESSAGE, claim_of
from algorithms.lplr.schedule import Resolution, first_length, resolution_of
from dpaudit import Claim
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, ProbabilityBelowOne, settle

VARIANTS = ("paper", "fixed")
WIDTHS = ("theory", "calibrated")
NOISES = ("pure", "gaussian")
SHARES = {"tight": (1 / 3, 1 / 3, 1 / 3), "uneven": (0.2, 0.4, 0.4)}
"""Shares of epsilon for count, vector and matrix, by calibration.

The count only decides which bins are kept, so it may have less.
"""

MODELS = ("local", "shuffle")

_LONGEST = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class LplrSettings:
    """Everything that a user chooses about LPLR.

    Fields that matter for privacy: `epsilon` in nats (the paper's alpha); `horizon`, the number of users; `dimension`
    of the features and number of `actions`; `variant` "paper", exactly as printed and not private, or "fixed",
    repaired; `noise` "pure", or "gaussian" with a `delta` for comparison, which the paper does not have; `model`
    "local", or "shuffle" with a `delta`: the messages of a phase reach the server together, in an order that nobody
    learns, and the first epoch has 2 sqrt(horizon) users at least; `calibration`, how the repaired message shares
    epsilon: "tight" in thirds, "uneven" 0.2, 0.4, 0.4 (both cost exactly epsilon).
    Fields that matter for usefulness only: `ci` "calibrated", widths of `quantile` standard deviations of the noise, or
    "theory", the printed constants, under which nothing is eliminated below 10^13 users; `beta` of the
    layers' widths (Remark 4.8; 1 / ln(horizon) if absent); `fail_prob` of the estimates (1 / horizon^2 if absent).
    Raises: ValueError: a field outside its range, or a horizon at which no epoch is long enough for an estimate.
    """

    # These fields decide what a user sends and how much noise it carries.
    epsilon: Positive
    delta: ProbabilityBelowOne = 0.0
    horizon: Count
    dimension: Count
    actions: Count
    variant: Annotated[str, OneOf(VARIANTS)] = "fixed"
    noise: Annotated[str, OneOf(NOISES)] = "pure"
    model: Annotated[str, OneOf(MODELS)] = "local"
    calibration: Annotated[str, OneOf(tuple(SHARES))] = "tight"

    # These fields decide how bins are cut and what the server makes of messages: the privacy of one stays the same.
    ci: Annotated[str, OneOf(WIDTHS)] = "calibrated"
    quantile: Positive = 4.0
    beta: OpenProbability | None = None
    fail_prob: OpenProbability | None = None

    def __post_init__(self) -> None:
        settle(self)
        self._require_noise()
        self._require_epoch()

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user a round."""
        return self.horizon

    def claim(self) -> Claim:
        """Return what is promised: (epsilon, 0), or (epsilon, delta) with Gaussian noise or shuffled messages."""
        return claim_of(MESSAGE, "local" if self.model == "local" else "central", self.epsilon, self.delta)

    @property
    def first_unit(self) -> int:
        """Half the length of the first epoch; a shuffle of few messages would hide little."""
        unit = first_length(self.dimension, self.resolution())
        return unit if self.model == "local" else max(unit, math.isqrt(self.horizon))

    def resolution(self) -> Resolution:
        """Return how finely the unit ball is cut into bins."""
        return resolution_of(self.horizon, self.beta, self.fail_prob)

    def _require_noise(self) -> None:
        """Refuse noise that does not fit the claim."""
        shuffled = self.model == "shuffle"
        if shuffled and (self.noise, self.variant) != ("pure", "fixed"):
            raise ValueError(
                f"Expected noise={self.noise!r} and variant={self.variant!r} to be 'pure' and 'fixed' for "
                "model='shuffle': only messages of a pure epsilon gain by a shuffle."
            )
        if (shuffled or self.noise == "gaussian") != (self.delta > 0):
            raise ValueError(
                f"Expected delta={self.delta!r} to be positive for noise='gaussian' and model='shuffle', and absent "
                f"for pure local messages, which are private without it; noise is {self.noise!r}, model {self.model!r}."
            )
        if self.noise == "gaussian" and self.variant == "paper":
            raise ValueError("Expected variant='paper' with noise='pure': the paper has no Gaussian noise.")

    def _require_epoch(self) -> None:
        """Refuse horizons too short for one estimate, and too long for counting."""
        if not 2 <= self.horizon <= _LONGEST:
            raise ValueError(f"Expected horizon={self.horizon} between 2 and 10^18.")
        needed = 2 * self.first_unit
        if self.horizon < needed:
            raise ValueError(
                f"Expected horizon={self.horizon} at or above {needed}, the length of the first epoch in "
                f"dimension={self.dimension}: below it nothing is ever estimated."
            )
