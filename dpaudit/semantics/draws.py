"""What a draw that nobody sees makes of a data set: one function for each way to draw records.

A draw deals the records into turns: a sample has one turn, an allocation one for each step.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm
from typing import TypeAlias

from dpaudit.semantics.data import DataSet

Turns: TypeAlias = tuple[DataSet, ...]
Draw: TypeAlias = tuple[dict[Turns, int], int]
"""Whole weights of the turns that may be dealt, and their sum."""


def poisson(data: DataSet, rate: Fraction) -> Draw:
    """Each record is in the sample with probability `rate`, whatever the others do."""
    into, out = rate.numerator, rate.denominator - rate.numerator
    drawn: Counter[Turns] = Counter()
    for size in range(len(data) + 1):
        for chosen in combinations(data, size):
            drawn[(chosen,)] += into**size * out ** (len(data) - size)
    return drawn, rate.denominator ** len(data)


def truncated(data: DataSet, rate: Fraction, bound: int) -> Draw:
    """Of a Poisson sample above the bound a uniform subset of that many records is kept."""
    drawn: Counter[Turns] = Counter()
    shares = lcm(*(comb(size, bound) for size in range(bound, len(data) + 1)))
    weights, total = poisson(data, rate)
    for (chosen,), weight in weights.items():
        subsets = [*combinations(chosen, min(bound, len(chosen)))]
        for subset in subsets:
            drawn[(subset,)] += weight * shares // len(subsets)
    return drawn, total * shares


def fixed_size(data: DataSet, batch: int) -> Draw:
    """Every set of `batch` records is as probable as every other one."""
    return uniform((chosen,) for chosen in combinations(data, batch))


def with_replacement(data: DataSet, batch: int) -> Draw:
    """Each of `batch` draws may be any record; copies of a record share its slot."""
    return uniform((tuple(sorted(drawn)),) for drawn in product(data, repeat=batch))


def allocated(data: DataSet, steps: int, per_epoch: int, epochs: int) -> Draw:
    """Each record is in `per_epoch` of the steps, uniformly and whatever the others do; the same ones in each epoch."""
    places = [*combinations(range(steps), per_epoch)]
    return uniform(
        tuple(tuple(r for r, mine in zip(data, drawn, strict=True) if step in mine) for step in range(steps)) * epochs
        for drawn in product(places, repeat=len(data))
    )


def secret_parts(data: DataSet, parts: int) -> Draw:
    """Each slot draws one of the parts, uniformly and whatever the others do."""
    slots = sorted({slot for slot, _ in data})
    return uniform(
        tuple(tuple(r for r in data if drawn[slots.index(r.slot)] == part) for part in range(parts))
        for drawn in product(range(parts), repeat=len(slots))
    )


def uniform(drawn: Iterable[Turns]) -> Draw:
    """Return draws of equal probability."""
    weights = Counter(drawn)
    return weights, weights.total()
