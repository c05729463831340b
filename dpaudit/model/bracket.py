"""An interval that is certain to hold a number, and how to invert a pair of bounding curves."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dpaudit.errors import EngineDisagreementError, InternalError

Effort: TypeAlias = Literal["quick", "default", "sharp"]
"""What time may be traded for: a bracket that is wider and sooner there, or narrower and later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """A lower and an upper bound on one number, and the engines that proved them.

    Guarantee: lower <= truth <= upper, both already rounded outwards. Brackets with the same ends are equal, whichever
    engines proved them.

    >>> closed = Bracket(lower=0.0, upper=1.0, engines=("closed",))
    >>> closed.intersect(Bracket(lower=0.7, upper=2.0, engines=("renyi",))).upper
    1.0
    """

    lower: float
    upper: float
    engines: tuple[str, ...] = field(compare=False)

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InternalError(f"Bracket [{self.lower}, {self.upper}] of {', '.join(self.engines)} is empty.")

    def intersect(self, other: "Bracket") -> "Bracket":
        """Return the overlap of two brackets for the same number.

        Raises: EngineDisagreementError: they do not overlap, so at least one engine is wrong.
        """
        if self.lower > other.upper or other.lower > self.upper:
            raise EngineDisagreementError(
                f"{', '.join(self.engines)} says [{self.lower!r}, {self.upper!r}] and {', '.join(other.engines)} "
                f"says [{other.lower!r}, {other.upper!r}] for the same quantity; one of them is wrong. "
                "Please report the declaration."
            )
        return Bracket(
            lower=max(self.lower, other.lower),
            upper=min(self.upper, other.upper),
            engines=self._engines_with(other),
        )

    def largest(self, other: "Bracket") -> "Bracket":
        """Return the bracket of the larger of two numbers."""
        return Bracket(
            lower=max(self.lower, other.lower),
            upper=max(self.upper, other.upper),
            engines=self._engines_with(other),
        )

    def _engines_with(self, other: "Bracket") -> tuple[str, ...]:
        """Return the engines of two brackets, each once."""
        return tuple(dict.fromkeys((*self.engines, *other.engines)))


def smallest_epsilon(delta_upper: Callable[[float], float], delta: float) -> float:
    """Return an epsilon with `delta_upper(epsilon) <= delta`, the smallest that bisection finds, or infinity.

    Guarantee: where finite, the returned epsilon itself satisfies the inequality, so it is an upper bound
    whatever the shape of the curve.
    """
    return _crossing(delta_upper, delta)[1]


def largest_epsilon(delta_lower: Callable[[float], float], delta: float) -> float:
    """Return an epsilon with `delta_lower(epsilon) > delta`, the largest that bisection finds, or 0.

    Guarantee: a lower bound on the smallest epsilon whose true delta(epsilon) is at most `delta`; about 1e300 where
    `delta_lower` stays above `delta` so far.
    """
    return _crossing(delta_lower, delta)[0]


def _crossing(curve: Callable[[float], float], delta: float) -> tuple[float, float]:
    """Return neighbouring floats (or nearly so) between which a curve falls to `delta`; 0 and 0 where it starts there.

    The second one is infinite where the curve stays above `delta` so far.
    """
    if curve(0.0) <= delta:
        return 0.0, 0.0
    low, high = 0.0, 1.0
    while curve(high) > delta:
        low, high = high, 2 * high
        if high > 1e300:
            return low, math.inf
    for _ in range(120):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if curve(middle) <= delta:
            high = middle
        else:
            low = middle
    return low, high
