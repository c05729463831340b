"""The interface of an engine: two functions from a composition to bounds, and a statement of what it covers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.engines.precision import DEFAULT, Precision
from dpaudit.model.bracket import Bracket, largest_epsilon, smallest_epsilon
from dpaudit.model.losses import Composition

Ends: TypeAlias = tuple[float, float]
"""A lower and an upper bound on one number, both rounded outwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Brackets delta(epsilon) and epsilon(delta) of a composition, in the order (P, Q) only.

    The accountant takes the worse of both orders after composition, picks the engines that cover a
    composition, and intersects what they say.
    """

    name: str
    covers: Callable[[Composition], bool]
    delta_ends: Callable[[Composition, float, Precision], Ends]
    epsilon_ends: Callable[[Composition, float, Precision], Ends]

    def delta(self, composition: Composition, epsilon: float, precision: Precision = DEFAULT) -> Bracket:
        """Return a bracket on delta at an epsilon of 0 or more."""
        return self._bracket(self.delta_ends(composition, epsilon, precision))

    def epsilon(self, composition: Composition, delta: float, precision: Precision = DEFAULT) -> Bracket:
        """Return a bracket on the smallest epsilon of 0 or more with delta(epsilon) at most `delta`."""
        return self._bracket(self.epsilon_ends(composition, delta, precision))

    def _bracket(self, ends: Ends) -> Bracket:
        """Return a bracket of this engine."""
        return Bracket(lower=ends[0], upper=ends[1], engines=(self.name,))


def crossing(ends_at: Callable[[float], Ends], delta: float) -> Ends:
    """Return bounds on the smallest epsilon at which a curve, bounded by `ends_at`, is `delta` at most.

    >>> crossing(lambda epsilon: (1 - epsilon, 1 - epsilon), 0.25)
    (0.7499999999999999, 0.75)
    """
    return (
        largest_epsilon(lambda epsilon: ends_at(epsilon)[0], delta),
        smallest_epsilon(lambda epsilon: ends_at(epsilon)[1], delta),
    )
