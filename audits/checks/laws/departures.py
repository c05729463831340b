"""Tests of whether columns are independent uniform numbers, and whether continuous noise repeats by more than chance.

Floating-point numbers are grains and not points, so that some numbers are equal by chance.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import chdtr, ndtr, ndtri, pdtrc

from dpaudit.looks import Look, uniform_looks
from dpaudit.model.mechanism import Array

_MOST_PAIRED = 16
_LAGS = (1, 2, 3)
_FEWEST = 200


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
    sizes: Array = (np.abs(normal) - np.sqrt(2 / np.pi)) / np.sqrt(1 - 2 / np.pi)
    return sizes


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
        for found in uniform_looks(np.asarray(inside), np.asarray(ndtri(inside))):
            yield Look(words=f"{found.words} (the {name} of a row)", probability=found.probability)


def _each(scores: Array, says: str) -> Iterator[Look]:
    """Yield one departure for each standard score."""
    for probability in 2 * ndtr(-np.abs(scores)):
        yield Look(words=says, probability=float(probability))


def chance_of_equal(equal: int, noise: Array, output: Array) -> float:
    """Return at most the chance that so many of the noises repeat others, as `output`, a float array, is rounded.

    Numbers of one law whose density is at most 1 / (its median size) are meant. Noise whose median is 0 has chance 0.

    >>> noise = np.random.default_rng(1).standard_normal(10_000)
    >>> chance_of_equal(3, noise, noise) < 1e-9, chance_of_equal(3, noise, noise.astype(np.float32)) > 0.99
    (True, True)
    """
    spread = float(np.median(np.abs(noise)))
    if spread == 0:
        return 0.0
    return _chance(equal, float(noise.size) ** 2 / 2 * grain_of(output) * _largest(output) / spread)


def chance_of_whole(whole: int, output: Array) -> float:
    """Return at most the chance that so many of the noises around 0, a float array, are whole numbers.

    >>> chance_of_whole(3, np.full(1_000, 5.0)) < 1e-9, chance_of_whole(3, np.full(1_000, 2.0**50)) > 0.99
    (True, True)
    """
    return _chance(whole, output.size * grain_of(output) * (1 + _largest(output)))


def grain_of(output: Array) -> float:
    """Return the relative distance of neighbouring numbers: of single precision, where all are such numbers.

    >>> grain_of(np.array([0.5])) == 2.0**-23, grain_of(np.array([0.1])) == 2.0**-52
    (True, True)
    """
    if output.dtype.itemsize < np.dtype(np.float32).itemsize:
        return float(np.finfo(output.dtype).eps)
    with np.errstate(all="ignore"):
        single = output.astype(np.float32)
    return float(np.finfo(np.float32 if np.array_equal(single, output, equal_nan=True) else np.float64).eps)


def _largest(output: Array) -> float:
    """Return the largest size."""
    return float(np.abs(output).max(initial=0.0))


def _chance(seen: int, expected: float) -> float:
    """Return the Poisson probability of at least so many."""
    return 1.0 if seen == 0 or not np.isfinite(expected) else float(pdtrc(seen - 1, expected))
