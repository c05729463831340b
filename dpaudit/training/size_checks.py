"""Tests of the sizes of batches: their whole distribution, its tails, and how much they vary, as counts of a record do.

Source: Massart (1990) for the distribution; Hoeffding (1956) for counts of batches whose laws are not all the same.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from dpaudit.looks import Look, Search, binomial_tails, worst
from dpaudit.model.mechanism import Array
from dpaudit.training.batch_law import BatchLaw, poisson_law

_LEVELS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
"""Shares of batches that are at most so large, for which small and large batches are counted."""


def _independent(law: BatchLaw, table: Array) -> Array:
    """Return the sizes of batches that are independent: of all, or of the first of each epoch where records are dealt.

    The sizes of one epoch add up to a fixed number, and each of them tells something of the others.
    """
    return table.sum(axis=1)[:: law.epoch or 1]


def sizes(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield how far sizes are from their declared law: the whole distribution and its tails, or sizes that are fixed.

    >>> from dpaudit.training.batch_law import poisson_law
    >>> kept = [np.ones((1, 50), np.int16), np.eye(50, dtype=np.int16)[:1]] * 40  # sizes of 50 and 1, 5 are expected
    >>> [sight] = sizes([poisson_law(50, 0.1)] * 80, kept)
    >>> sight.probability < 1e-9
    True
    """
    if laws[0].size_masses is None:
        numbers = [table.sum(axis=1) for table in tables]
        wrong = [int(n) for law, drawn in zip(laws, numbers, strict=True) for n in drawn if not _fits(law, int(n))]
        says = f"{len(wrong)} batches have a size of {wrong[0]} or another that is not declared." if wrong else ""
        yield Look(name="sizes of batches", probability=0.0 if wrong else 1.0, words=says)
        return
    numbers = [_independent(law, table) for law, table in zip(laws, tables, strict=True)]
    above = np.sort(np.concatenate([law.at_most(n) for law, n in zip(laws, numbers, strict=True)]))
    below = np.sort(np.concatenate([law.at_most(n - 1) for law, n in zip(laws, numbers, strict=True)]))
    ranks = np.arange(len(above))
    apart = max(0.0, float((ranks / len(above) - above).max()), float((below - (ranks + 1) / len(below)).max()))
    probability = min(1.0, 2 * math.exp(-2 * len(above) * apart**2))
    says = f"The sizes of {len(above)} batches are not distributed as declared: their distribution is {apart:.3g} away."
    distribution = Look(name="sizes of batches", words=says, probability=probability)
    yield worst([distribution, _tails(laws, numbers)])


def _tails(laws: list[BatchLaw], numbers: list[Array]) -> Look:
    """Return the look at how many batches are small, at the worst of some levels."""
    search = Search()
    for level in _LEVELS:
        seen = trials = most = 0
        expected = 0.0
        for law, sizes_of in zip(laws, numbers, strict=True):
            shares = law.at_most(np.arange(law.records + 1))
            most = int(np.searchsorted(shares, level))
            seen, trials = seen + int((sizes_of <= most).sum()), trials + len(sizes_of)
            expected += float(shares[min(most, law.records)]) * len(sizes_of)
        if search.stranger(binomial_tails(seen, trials, expected / max(1, trials))) is not None:
            many = f"{most} records or fewer" if len({law.records for law in laws}) == 1 else "few records"
            search.words = f"{seen} of {trials} batches hold {many}; {expected:.4g} are declared."
    return search.look("sizes of batches")


def _fits(law: BatchLaw, size: int) -> bool:
    """Return whether a batch may have this size."""
    return law.sizes is None or size in law.sizes


def spread(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield how much sizes vary, against records that are drawn one by one, by the bound of Chernoff.

    >>> from dpaudit.training.batch_law import poisson_law
    >>> always_five = np.repeat(np.eye(1, 50, dtype=np.int16), 80, axis=0) * 5
    >>> [sight] = spread([poisson_law(50, 0.1)], [always_five])
    >>> sight.probability < 1e-9
    True
    """
    yield from _varied("spread of sizes", "The sizes of {counted} batches have", list(zip(laws, tables, strict=True)))


def evenness(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield how much the number of batches of a record varies, over all records, where each is drawn by itself.

    Records of unequal rates vary more, and records that are dealt once an epoch do not vary.

    >>> from dpaudit.training.batch_law import poisson_law
    >>> [look] = evenness([poisson_law(50, 0.1)], [np.tile(np.eye(10, 50, dtype=np.int16), (8, 1))])
    >>> look.probability < 1e-9
    True
    """
    turned = [
        (poisson_law(len(table), law.share), table.T) for law, table in zip(laws, tables, strict=True) if law.apart
    ]
    yield from _varied("spread over records", "The numbers of batches of {counted} records have", turned)


def _varied(name: str, what: str, counts: list[tuple[BatchLaw, Array]]) -> Iterator[Look]:
    """Yield how much the sizes of the rows of tables vary, by the bound of Chernoff."""
    scaled = [_standardised(law, table) for law, table in counts if law.size_masses is not None]
    squares, counted = sum(float(seen.sum()) for seen, _, _ in scaled), sum(seen.size for seen, _, _ in scaled)
    if not counted or not all(np.isfinite(squared).all() for _, squared, _ in scaled):
        return
    index = squares / counted
    slopes = np.geomspace(1e-3, 0.5, 60) * (1.0 if index > 1 else -40.0)
    logs = np.zeros(len(slopes))
    for seen, squared, mass in scaled:
        possible = mass > 0
        exponents = slopes[:, None] * squared[possible] + np.log(mass[possible])
        logs = logs + seen.size * np.asarray(logsumexp(exponents, axis=1))
    bound = float(np.exp(min(0.0, float((logs - slopes * squares).min()))))
    says = f"{what.format(counted=counted)} {index:.3g} times the variance of records drawn one by one."
    yield Look(name=name, words=says, probability=min(1.0, 2 * bound))


def _standardised(law: BatchLaw, table: Array) -> tuple[Array, Array, Array]:
    """Return squared standardised sizes: those seen, all that are possible, and the probabilities of these."""
    numbers = np.arange(law.records + 1)
    mass = np.ones(len(numbers)) if law.size_masses is None else law.size_masses
    mean = float(mass @ numbers)
    variance = float(mass @ (numbers - mean) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (_independent(law, table) - mean) ** 2 / variance, (numbers - mean) ** 2 / variance, mass
