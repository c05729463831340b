"""Epochs, phases and the resolution of the bins, fixed by the horizon and the dimension alone."""

import math
from dataclasses import dataclass

from algorithms._growth import Epoch, doubling_epochs

_SMALLEST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How finely the unit ball is cut: layers of width gamma^-k for k below `depth`, and the failure probability.

    `beta` is 1 / ln(horizon) unless set (Remark 4.8), `fail_prob` 1 / horizon^2 (Theorem 4.7); the latter is a
    failure probability of the utility analysis and has nothing to do with the delta of privacy.
    """

    beta: float
    gamma: float
    depth: int
    fail_prob: float

    def width(self, key: int) -> float:
        """Return the largest norm in the bin of index `key`."""
        return float(self.gamma**-key)


def resolution_of(horizon: int, beta: float | None = None, fail_prob: float | None = None) -> Resolution:
    """Return the resolution for `horizon` rounds.

    Source: section 4.1, with M = ceil(1 / (2 beta)).

    >>> [resolution_of(horizon).depth for horizon in (10**4, 10**5, 10**6, 10**12)]
    [5, 6, 7, 14]
    """
    exponent = 1 / math.log(horizon) if beta is None else beta
    return Resolution(
        beta=exponent,
        gamma=math.exp(exponent * math.log(horizon)),
        depth=math.ceil(1 / (2 * exponent) - 1e-9),
        fail_prob=float(horizon) ** -2 if fail_prob is None else fail_prob,
    )


def first_length(dimension: int, resolution: Resolution) -> int:
    """Return n_0: half the length of the first epoch, of order d^2 ln(d / (beta fail_prob)) and at least 1000."""
    logarithm = math.log(24 * dimension / (resolution.beta * resolution.fail_prob))
    return max(math.ceil(4 * dimension**2 * logarithm), _SMALLEST)


def epochs_of(horizon: int, unit: int) -> tuple[Epoch, ...]:
    """Return the epochs of `horizon` rounds: 2 `unit` users, then twice as many each time; the last may be cut short.

    Source: Theorem 4.7, n_tau = 2^tau n_0.

    >>> [epoch.length for epoch in epochs_of(10_000, 1_000)]
    [2000, 4000, 4000]
    """
    return doubling_epochs(horizon, 2 * unit)


def phases_of(dimension: int, *, first_confidence: bool) -> int:
    """Return how many groups of fresh users an epoch needs: an update and a confidence phase for each layer.

    The confidence phase of the first layer asks for 0 from everybody and can be left out.
    """
    return 2 * dimension - (0 if first_confidence else 1)
