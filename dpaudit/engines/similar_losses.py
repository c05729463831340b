"""Few losses about as costly as many: estimates for a search over noise, which enter no proof.

A search for the smallest noise asks for the same composition dozens of times. Thousands of kinds of losses are folded
once, a class of near sizes becomes one size of the same mean square, and noise divides every size. What the search
finds is proved on the declaration itself.
"""

from dpaudit.engines.pairs.merging import CLASSED, size_of
from dpaudit.engines.tilted.classes import family_of, resized
from dpaudit.model.losses import Composition, SimpleLoss

Alternatives = tuple[Composition, ...]
_MANY = 256
"""Kinds of losses from which on an estimate by fewer saves time."""
_KINDS = 18
"""Kinds in place of them, so few that the quickest engines have many knots for each."""


def similar(alternatives: Alternatives) -> Alternatives | None:
    """Return alternatives of few kinds, about as costly; None where there are few already, or one has no size.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> many = Composition(parts=tuple((LaplaceLoss(shift=1e-3 + 1e-7 * i), 1) for i in range(1000)))
    >>> (few,) = similar((many,)) or ()
    >>> len(few.parts) <= 60, few.events
    (True, 1000)
    """
    if max(len(held.parts) for held in alternatives) < _MANY:
        return None
    if not all(isinstance(loss, CLASSED) for held in alternatives for loss, _ in held.parts):
        return None
    return tuple(map(_few, alternatives))


def with_noise(alternatives: Alternatives, factor: float) -> Alternatives:
    """Return alternatives with `factor` times the noise: each size is divided by it.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> with_noise((Composition.of(LaplaceLoss(shift=1.0)),), 2.0)[0].parts
    ((LaplaceLoss(shift=0.5), 1),)
    """
    return tuple(
        Composition(parts=tuple((resized(loss, size_of(loss) / factor), times) for loss, times in held.parts))
        for held in alternatives
    )


def _few(composition: Composition) -> Composition:
    """Return one loss for each class of near sizes."""
    by_family: dict[SimpleLoss, list[tuple[SimpleLoss, int]]] = {}
    for loss, times in composition.parts:
        by_family.setdefault(resized(loss, 1.0), []).append((loss, times))
    classes = (
        one for parts in by_family.values() for one in family_of(tuple(parts)).divided(max(1, _KINDS // len(by_family)))
    )
    return Composition(parts=tuple((one.joined(), one.events) for one in classes))
