"""Tests of whether noises that are declared independent are: between releases of one run, and between labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from audits.checks.laws.conditionals import Placed
from dpaudit.looks import Look
from dpaudit.model.mechanism import Array

_LAGS = (1, 2, 3)
_FEWEST = 200
_MOST_LABELS = 12
_MOST_COLUMNS = 16
_CENTRE = float(np.sqrt(2 / np.pi))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """The noise of one label: a draw a row, in the order of release, and the run that each row belongs to.

    `places` has the draws as uniform numbers by their stated law, None where no law is known. `width` is the number of
    rows that one release has in one run.
    """

    label: str
    places: Placed | None
    runs: Array
    width: int = 1


def dependences(drawn: Sequence[Drawn]) -> Iterator[tuple[str, Look]]:
    """Yield (label, departure) for draws of one run that lie up to three releases apart, and for pairs of labels.

    Each noise is placed on the scale of a normal number by its stated law; the products of independent ones then have
    mean 0 and known variance. Signs and sizes are tested apart. Of many labels the first twelve are paired. Products
    are taken as normal: below 200 of them nothing is tested. Noise without a known law, or whose entries depend
    on each other by law, is passed over.
    """
    placed = [(draws, scores) for draws in drawn if (scores := _scores(draws)) is not None]
    for draws, scores in placed:
        order = np.argsort(draws.runs, kind="stable")
        runs, numbers = draws.runs[order], scores[order]
        for lag, says in _lags(draws.width):
            near = runs[lag:] == runs[:-lag]
            yield from _tested(draws.label, numbers[lag:][near], numbers[:-lag][near], says)
    for (draws, first), (two, second) in combinations(placed[:_MOST_LABELS], 2):
        if np.array_equal(draws.runs, two.runs):
            width = min(first.shape[1], second.shape[1])
            says = f"its noise and that of '{draws.label}' depend on each other"
            yield from _tested(two.label, first[:, :width], second[:, :width], says)


def _lags(width: int) -> Iterator[tuple[int, str]]:
    """Yield (distance in rows, words) for entries of one release and for one entry of several releases."""
    for lag in _LAGS:
        if lag < width:
            yield lag, f"entries {lag} apart depend on each other"
        yield lag * width, f"draws {lag} releases apart in one run depend on each other"


def _scores(drawn: Drawn) -> Array | None:
    """Return each draw on the scale of a normal number, or None. Shape: (rows, columns)."""
    placed = drawn.places
    if placed is None or not placed.independent or len(placed.uniform) != len(drawn.runs):
        return None
    return ndtri(np.clip(placed.uniform[:, :_MOST_COLUMNS], 2.0**-54, 1 - 2.0**-53))


def _tested(label: str, first: Array, second: Array, says: str) -> Iterator[tuple[str, Look]]:
    """Yield the tests of signs and of sizes of two lists of normal numbers that are independent by law."""
    count = first.size
    if count < _FEWEST:
        return
    products = (first * second, (np.abs(first) - _CENTRE) * (np.abs(second) - _CENTRE) / (1 - _CENTRE**2))
    for kind, product in zip(("", "the sizes of "), products, strict=True):
        score = float(product.sum()) / np.sqrt(count)
        yield label, Look(words=f"{kind}{says}", probability=2 * float(ndtr(-abs(score))))
