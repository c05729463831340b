"""Few losses about as costly as many: estimates for a search over noise, which enter no proof.

A search for the smallest noise asks for the same composition dozens of times. Thousands of kinds of losses are folded
once, a class of near sizes becomes one size of the same mean square, and noise divides every size. What the search
finds is proved on the declaration itself.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from dpaudit.engines.cells.merging import classes_of, size_of
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

Alternatives = tuple[Composition, ...]
Sized = LaplaceLoss | GaussianLoss | SampledGaussianLoss | ApproximateLoss
_MANY = 256
"""Kinds of losses from which on an estimate by fewer saves time."""
_KINDS = 18
"""Kinds in place of them, so few that the quickest engines have many knots for each."""


def similar(alternatives: Alternatives) -> Alternatives | None:
    """Return alternatives of few kinds, about as costly; None where there are few already, or one has no size.

    >>> many = Composition(parts=tuple((LaplaceLoss(shift=1e-3 + 1e-7 * i), 1) for i in range(1000)))
    >>> (few,) = similar((many,)) or ()
    >>> len(few.parts) <= 60, few.events
    (True, 1000)
    """
    if max(len(held.parts) for held in alternatives) < _MANY:
        return None
    if not all(isinstance(loss, Sized) for held in alternatives for loss, _ in held.parts):
        return None
    return tuple(Composition(parts=tuple(_few(held))) for held in alternatives)


def with_noise(alternatives: Alternatives, factor: float) -> Alternatives:
    """Return alternatives with `factor` times the noise: each size is divided by it.

    >>> with_noise((Composition.of(LaplaceLoss(shift=1.0)),), 2.0)[0].parts
    ((LaplaceLoss(shift=0.5), 1),)
    """
    return tuple(
        Composition(parts=tuple((_resized(loss, size_of(loss) / factor), times) for loss, times in held.parts))
        for held in alternatives
    )


def _few(composition: Composition) -> Iterator[tuple[SimpleLoss, int]]:
    """Yield one loss for each class of near sizes."""
    families: dict[SimpleLoss, list[tuple[SimpleLoss, int]]] = {}
    for loss, times in composition.parts:
        families.setdefault(_resized(loss, 1.0), []).append((loss, times))
    for one, members in families.items():
        for held in classes_of(members, max(1, _KINDS // len(families))):
            times = sum(n for _, n in held)
            square = math.fsum(n * (size_of(loss) / size_of(held[-1][0])) ** 2 for loss, n in held) / times
            yield _resized(one, size_of(held[-1][0]) * math.sqrt(square)), times


def _resized(loss: SimpleLoss, size: float) -> SimpleLoss:
    """Return the same kind of loss with another size."""
    match loss:
        case GaussianLoss() | SampledGaussianLoss():
            return replace(loss, mu=size)
        case ApproximateLoss():
            return replace(loss, epsilon=size)
        case _:
            return LaplaceLoss(shift=size)
