"""Tests of whether columns are independent uniform numbers; each gives the probability of what it saw."""

from collections.abc import Iterator

import numpy as np
from scipy.special import chdtr, ndtr, ndtri

from audits.checks.laws.conditionals import Placed
from dpaudit.looks import Look, uniform_looks
from dpaudit.model.mechanism import Array

_MOST_PAIRED = 16
_LAGS = (1, 2, 3)
_FEWEST = 200


def looks_at(placed: Placed) -> Iterator[Look]:
    """Yield the tests of outputs as uniform numbers: alone, with each other, and with the others of a row.

    Of many numbers the first and the last eight are read.
    """
    if placed.beside is not None and placed.own is not None:
        yield from given_departures(placed.uniform, placed.beside, placed.own)
    else:
        half = _MOST_PAIRED // 2
        chosen = np.unique(np.r_[:half, -half:0] % placed.uniform.shape[1])
        yield from departures(placed.uniform[:, chosen], independent=placed.independent)


def departures(uniform: Array, *, independent: bool = True) -> Iterator[Look]:
    """Yield one departure a test; where the law is as stated each probability is small only as often as it says.

    Shape: (rows, columns). Tests by column: those of `dpaudit.looks.uniform_looks`, and products of rows that lie up to
    three apart. With `independent` columns also every pair of the first sixteen within a row: products of values, of
    sizes, and of a value with a size; and the sum and the norm of a row. Products are taken as normal, which is good to
    a few per cent of the probability at these numbers of rows; below 200 rows they are left out.
    """
    inside = np.clip(uniform, 2.0**-54, 1 - 2.0**-53)
    normal = ndtri(inside)
    for column in range(uniform.shape[1]):
        yield from uniform_looks(np.asarray(uniform[:, column]), np.asarray(normal[:, column]))
    if len(uniform) >= _FEWEST:
        yield from _products(normal)
    if len(uniform) >= _FEWEST and independent and normal.shape[1] > 1:
        yield from _pairs(normal[:, :_MOST_PAIRED])
        yield from _rows(normal)


def _products(normal: Array) -> Iterator[Look]:
    """Yield the tests of products of rows that are independent, and of products of their sizes."""
    for kind, numbers in (("", normal), ("sizes of ", _sizes(normal))):
        for lag in _LAGS:
            product = (numbers[lag:] * numbers[:-lag]).sum(axis=0) / np.sqrt(len(numbers) - lag)
            yield from _each(product, f"{kind}draws {lag} apart that depend on each other")


def _sizes(normal: Array) -> Array:
    """Return the sizes of normal numbers, with mean 0 and variance 1."""
    return (np.abs(normal) - np.sqrt(2 / np.pi)) / np.sqrt(1 - 2 / np.pi)


def _pairs(normal: Array) -> Iterator[Look]:
    """Yield the tests of all pairs of columns: values, sizes, and the value of one with the size of another."""
    sizes, root = _sizes(normal), np.sqrt(len(normal))
    above = np.triu_indices(normal.shape[1], 1)
    yield from _each((normal.T @ normal / root)[above], "entries that depend on each other")
    yield from _each((sizes.T @ sizes / root)[above], "sizes of entries that depend on each other")
    crossed = normal.T @ sizes / root
    says = "entries whose size depends on the sign of another"
    yield from _each(np.concatenate([crossed[above], crossed.T[above]]), says)


def given_departures(uniform: Array, beside: Array, own: Array) -> Iterator[Look]:
    """Yield the tests of columns that are uniform given all other numbers of their row: alone, and with those numbers.

    Shape: `uniform` is (rows, columns), `beside` (rows, numbers); `own` (columns, numbers) says which numbers a column
    itself is made of. A column's score times another number, or its size, has mean 0; the numbers are read by ranks.
    """
    normal = ndtri(np.clip(uniform, 2.0**-54, 1 - 2.0**-53))
    for column in uniform.T:
        yield from departures(column[:, None])
    ranks = beside[:, :_MOST_PAIRED].argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    scores = ndtri((ranks + 0.5) / len(beside))
    others = ~own[:, :_MOST_PAIRED]
    for numbers in (scores, _sizes(scores)):
        yield from _each((normal.T @ numbers / np.sqrt(len(beside)))[others], "entries that depend on others anew")


def _rows(normal: Array) -> Iterator[Look]:
    """Yield the tests of the sum of each row and of its norm, as single columns."""
    columns = normal.shape[1]
    total = normal.sum(axis=1) / np.sqrt(columns)
    placed = np.stack([ndtr(total), chdtr(columns, (normal**2).sum(axis=1))], axis=1)
    for column, name in zip(placed.T, ("sum", "norm"), strict=True):
        inside = np.clip(column, 2.0**-54, 1 - 2.0**-53)
        for look in uniform_looks(np.asarray(inside), np.asarray(ndtri(inside))):
            yield Look(words=f"{look.words} (the {name} of a row)", probability=look.probability)


def _each(scores: Array, says: str) -> Iterator[Look]:
    """Yield one departure for each standard score."""
    for probability in 2 * ndtr(-np.abs(scores)):
        yield Look(words=says, probability=float(probability))
