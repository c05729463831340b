"""Tests of whether columns are independent uniform numbers; each gives the probability of what it saw."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc, chdtr, chdtrc, ndtr, ndtri

from dpaudit.model.mechanism import Array

_TAILS = (1e-2, 1e-3)
_LAGS = (1, 2, 3)
_FEWEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What a test saw, in words, and the probability of something so far out under the stated law."""

    says: str
    probability: float


def departures(uniform: Array, *, independent: bool = True) -> Iterator[Departure]:
    """Yield one departure a test; where the law is as stated each probability is small only as often as it says.

    Shape: (rows, columns). Tests by column: the distance of the distribution functions (Massart's bound), the mean and
    the sum of squares as normal numbers, the counts in both tails and at the centre, and products of rows that lie up
    to three apart. With `independent` columns their products within a row, too. Products are taken as normal, which
    is good to a few per cent of the probability at these numbers of rows; below 200 rows they are left out.
    """
    inside = np.clip(uniform, 2.0**-54, 1 - 2.0**-53)
    normal = ndtri(inside)
    for column in range(uniform.shape[1]):
        yield from _one(np.asarray(uniform[:, column]), np.asarray(normal[:, column]))
    if len(uniform) >= _FEWEST:
        yield from _products(normal, independent=independent)


def _one(uniform: Array, normal: Array) -> Iterator[Departure]:
    """Yield the tests of one column by itself."""
    n = len(uniform)
    places = np.sort(uniform)
    steps = np.arange(n + 1) / n
    distance = max(float((steps[1:] - places).max()), float((places - steps[:-1]).max()))
    yield Departure(says="another distribution", probability=min(1.0, 2 * float(np.exp(-2 * n * distance**2))))
    shift = float(normal.sum()) / np.sqrt(n)
    yield Departure(says="a shifted mean", probability=2 * float(ndtr(-abs(shift))))
    squares = float((normal**2).sum())
    size = np.sqrt(squares / n)
    below, above = float(chdtr(n, squares)), float(chdtrc(n, squares))
    yield Departure(says=f"about {size:.3g} times the stated size", probability=min(1.0, 2 * min(below, above)))
    for tail in _TAILS:
        yield count_of(int((uniform < tail).sum()), n, tail, "in the lower tail")
        yield count_of(int((uniform > 1 - tail).sum()), n, tail, "in the upper tail")
    yield count_of(int((np.abs(uniform - 0.5) < 0.005).sum()), n, 0.01, "at the centre")


def count_of(seen: int, n: int, share: float, where: str) -> Departure:
    """Return the exact test of a count."""
    below = float(bdtr(seen, n, share))
    above = 1.0 if seen == 0 else float(bdtrc(seen - 1, n, share))
    return Departure(
        says=f"{seen} of {n} {where}, {share * n:.3g} expected", probability=min(1.0, 2 * min(below, above))
    )


def _products(normal: Array, *, independent: bool) -> Iterator[Departure]:
    """Yield the tests of products of numbers that are independent, and of products of their sizes."""
    sizes = np.abs(normal) - np.sqrt(2 / np.pi)
    spread = 1 - 2 / np.pi
    for kind, numbers, variance in (("", normal, 1.0), ("sizes of ", sizes, spread)):
        for lag in _LAGS:
            product = (numbers[lag:] * numbers[:-lag]).sum(axis=0) / (variance * np.sqrt(len(numbers) - lag))
            yield from _each(product, f"{kind}draws {lag} apart that depend on each other")
        if independent and normal.shape[1] > 1:
            product = (numbers[:, 1:] * numbers[:, :-1]).sum(axis=0) / (variance * np.sqrt(len(numbers)))
            yield from _each(product, f"{kind}neighbouring entries that depend on each other")


def _each(scores: Array, says: str) -> Iterator[Departure]:
    """Yield one departure for each standard score."""
    for probability in 2 * ndtr(-np.abs(scores)):
        yield Departure(says=says, probability=float(probability))


def worst(found: list[Departure]) -> Departure:
    """Return the departure with the smallest probability, corrected for the number of tests (Bonferroni)."""
    least = min(found, key=lambda departure: departure.probability)
    return Departure(says=least.says, probability=min(1.0, least.probability * len(found)))
