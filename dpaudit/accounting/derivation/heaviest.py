"""The few compositions that matter for a lower bound, out of many."""

from collections.abc import Iterable

from dpaudit.accounting.dominance import worst
from dpaudit.model.losses import Composition

_MOST = 64
"""How many compositions are kept; a lower bound may leave any of them out."""


def heaviest(compositions: Iterable[Composition]) -> tuple[Composition, ...]:
    """Return compositions that no other one dominates, up to the number that is kept, the heaviest first."""
    ordered = sorted(compositions, key=lambda composition: (_weight(composition), repr(composition)), reverse=True)
    return worst(tuple(ordered[:_MOST]))


def _weight(composition: Composition) -> tuple[float, float, float]:
    """Return a rough size to sort by: mass at infinity, squared total variations, and the largest loss."""
    mass = sum(loss.infinite_mass * times for loss, times in composition.parts)
    variation = sum(loss.hockey_stick(0.0) ** 2 * times for loss, times in composition.parts)
    return mass, variation, max((loss.supremum for loss, _ in composition.parts), default=0.0)
