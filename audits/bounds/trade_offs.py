"""Trade-off curves that a claim or a declaration allows: the largest true positive rate at each false positive rate.

A trade-off f gives the least false negative rate at each false positive rate. The classes here hold 1 - f, the highest
true positive rate, with its inverse and its area. Both orders of the neighbours are covered: f is its own inverse.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtr, ndtri

from audits.bounds.bisection import bisected
from dpaudit.arguments import settled
from dpaudit.checks import NonNegative, non_negative
from dpaudit.model.mechanism import Array

_LARGEST = 700.0


@runtime_checkable
class TradeOff(Protocol):
    """A declared trade-off; calling it returns the highest true positive rates that it allows."""

    def __call__(self, rate: Array) -> Array:
        """Return the highest true positive rates at false positive rates; increasing and concave."""
        ...

    def inverse(self, rate: float) -> float:
        """Return the least false positive rate at which a true positive rate is allowed."""
        ...

    def support(self, slope: Array) -> Array:
        """Return the largest value of (true positive rate) - slope (false positive rate) that is allowed."""
        ...

    @property
    def area(self) -> float:
        """The largest area under a ROC curve that the trade-off allows."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTradeOff:
    """The trade-off of (epsilon, delta) at every one of `points`: of a claim, or of an accountant's curve.

    Guarantee: of a mechanism that is (epsilon, delta)-private at each point, in both orders of the neighbours, no test
    has a higher true positive rate. Each delta must be an upper bound; more points are sharper.
    Raises: ValueError: no point, a negative epsilon, or a delta outside [0, 1].
    Source: Wasserman and Zhou (2010); Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    >>> round(PrivateTradeOff.of(1.0).area, 7), round(PrivateTradeOff.of(2.0, 0.01).area, 7)
    (0.7310586, 0.8831692)
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("Expected points to hold at least one pair (epsilon, delta).")
        for epsilon, delta in self.points:
            non_negative("epsilon", epsilon)
            if not 0 <= delta <= 1:
                raise ValueError(f"Expected delta={delta!r} in [0, 1].")

    @classmethod
    def of(cls, epsilon: float, delta: float = 0.0) -> "PrivateTradeOff":
        """Return the trade-off of one claim."""
        return cls(points=((epsilon, delta),))

    def __call__(self, rate: Array) -> Array:
        """Return the highest true positive rates at false positive rates of any shape."""
        x = np.clip(np.asarray(rate, dtype=float), 0.0, 1.0)
        highest: Array = np.ones_like(x)
        for epsilon, delta in self.points:
            growth = math.exp(min(epsilon, _LARGEST))
            np.minimum(highest, delta + growth * x, out=highest)
            np.minimum(highest, 1 - math.exp(-epsilon) * (1 - delta - x), out=highest)
        return highest

    def inverse(self, rate: float) -> float:
        """Return the least false positive rate at which a true positive rate is allowed."""
        least = 0.0
        for epsilon, delta in self.points:
            first = (rate - delta) * math.exp(-epsilon)
            second = 1 - delta - math.exp(min(epsilon, _LARGEST)) * (1 - rate)
            least = max(least, first, second)
        return least

    def support(self, slope: Array) -> Array:
        """Return the largest value of (true positive rate) - slope (false positive rate) that is allowed."""
        ends = _corners(self.points)
        return (self(ends) - np.asarray(slope)[..., None] * ends).max(axis=-1)

    @property
    def area(self) -> float:
        """The largest area under a ROC curve: exact integration of a curve of straight pieces."""
        ends = _corners(self.points)
        return float(np.trapezoid(self(ends), ends))


@settled
class GaussianTradeOff:
    """The trade-off of N(mu, 1) against N(0, 1).

    Raises: ValueError: `mu` negative, infinite or NaN.
    Source: Dong, Roth and Su (2022), Definition 2.6.

    >>> round(GaussianTradeOff(mu=1.0).area, 7)
    0.7602499
    """

    mu: NonNegative

    def __call__(self, rate: Array) -> Array:
        """Return the highest true positive rates at false positive rates of any shape."""
        return ndtr(ndtri(np.clip(np.asarray(rate, dtype=float), 0.0, 1.0)) + self.mu)

    def inverse(self, rate: float) -> float:
        """Return the least false positive rate at which a true positive rate is allowed."""
        return float(ndtr(ndtri(min(1.0, max(0.0, rate))) - self.mu))

    def support(self, slope: Array) -> Array:
        """Return the largest value of (true positive rate) - slope (false positive rate) that is allowed.

        The slope of the curve at rate Phi(z) is exp(-mu z - mu^2 / 2).
        """
        steepness = np.asarray(slope, dtype=float)
        if self.mu == 0:
            return np.maximum(0.0, 1 - steepness)
        with np.errstate(divide="ignore"):
            quantile = (-np.log(np.maximum(steepness, 0.0)) - self.mu**2 / 2) / self.mu
        return ndtr(quantile + self.mu) - steepness * ndtr(quantile)

    @property
    def area(self) -> float:
        """The largest area under a ROC curve."""
        return float(ndtr(self.mu / math.sqrt(2)))


@lru_cache(maxsize=64)
def _corners(points: tuple[tuple[float, float], ...]) -> Array:
    """Return the false positive rates at which the straight pieces of a curve may meet, 0 and 1 among them."""
    slopes = np.array([s for e, _ in points for s in (math.exp(min(e, _LARGEST)), math.exp(-e))] + [0.0])
    starts = np.array([s for e, d in points for s in (d, 1 - math.exp(-e) * (1 - d))] + [1.0])
    rise, run = starts[None, :] - starts[:, None], slopes[:, None] - slopes[None, :]
    crossings = rise[run != 0] / run[run != 0]
    return np.unique(np.concatenate([[0.0, 1.0], crossings[(crossings > 0) & (crossings < 1)]]))


def equal_error_mu(trade_off: TradeOff) -> float:
    """Return the mu of the Gaussian trade-off whose two error rates are equal at the same value; at most 12.

    A rule of thumb for choices that must be made before a run; it bounds nothing.

    >>> round(equal_error_mu(GaussianTradeOff(mu=1.5)), 4)
    1.5
    """
    high = bisected(lambda rate: float(trade_off(np.asarray(rate))) < 1 - rate, 0.0, 0.5, 50)[1]
    return min(12.0, max(0.0, -2 * float(ndtri(max(high, 1e-12)))))
