"""Disclosure risks of one synthetic table: singling out, linkability and attribute inference, with their base rates.

The table is made from some records; control records, which it was not made from, are attacked in the same way. What an
attack gets right about controls it knows from the population. Each record is a target once at most: a rate is a share
of records, and differs from its base rate by chance alone where the table tells nothing of which records it has.
Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), a framework for quantifying privacy risk in synthetic data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from audits.bounds.binomial import proportion_lower, proportion_upper
from audits.synthetic.columns import OTHER, Column, table_columns
from dpaudit.model.mechanism import Array
from dpaudit.model.synthesizer_result import AttackRate, DisclosureRisk, RiskName

_CLOSE = 0.05
"""A guessed number is right within this share of the range of its column."""

_MOST_CONDITIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Rows as codes and numbers. Shape: (rows, columns)."""

    codes: Array
    numbers: Array

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """A synthetic table, the records that it was made from, and control records, read by the same columns."""

    columns: tuple[Column, ...]
    synthetic: Rows
    records: Rows
    controls: Rows

    @classmethod
    def of(cls, table: Any, records: Any, controls: Any) -> "Attacked":
        """Return three tables as codes; columns are those that the synthetic table has as well."""
        shown, own, others = map(table_columns, (table, records, controls))
        columns = tuple(Column.of(name, [*values, *others[name]]) for name, values in own.items() if name in shown)
        if not columns:
            nothing = Rows(codes=np.zeros((0, 0)), numbers=np.zeros((0, 0)))
            return cls(columns=(), synthetic=nothing, records=nothing, controls=nothing)
        synthetic, first, second = (_rows(columns, values_of) for values_of in (shown, own, others))
        return cls(columns=columns, synthetic=synthetic, records=first, controls=second)

    def distances(self, target: tuple[Array, Array], among: Array) -> Array:
        """Return the distance of each synthetic row to a target's (codes, numbers) in some columns. Shape: (rows,)."""
        total = np.zeros(len(self.synthetic))
        for index in among:
            column = self.columns[index]
            if column.edges:
                width = column.edges[-1] - column.edges[0] or 1.0
                gap = np.abs(self.synthetic.numbers[:, index] - target[1][index]) / width
                total += np.minimum(np.nan_to_num(gap, nan=1.0), 1.0)
            else:
                total += self.synthetic.codes[:, index] != target[0][index]
        return total


def disclosure_risks(
    table: Any, records: Any, controls: Any, *, attacks: int, significance: float, rng: Generator
) -> tuple[DisclosureRisk, ...]:
    """Return the disclosure risks of a synthetic table that was made from `records`; `controls` are other records.

    At most `attacks` records and as many controls are targets. *Singling out*: a target is the only one that meets
    some condition on up to four columns; as many conditions as targets are read off synthetic rows. *Linkability*: a
    synthetic row that is nearest to a target in half of the columns is nearest in the other half too. *Attribute
    inference*: the nearest synthetic row in all other columns has the target's value in one column; numbers within a
    twentieth of their range. The last two need two columns.
    Guarantee: if targets succeed independently of each other, each limit is wrong with probability at most half of
    `significance`. For linkability and inference this is so, given the table, for controls that are drawn
    independently from a population, and for records of which the table tells nothing.
    Edge cases: no risks for a table without rows or without columns of the records.
    """
    attacked = Attacked.of(table, records, controls)
    number = min(attacks, len(attacked.records), len(attacked.controls))
    if not number or not len(attacked.synthetic):
        return ()
    targets, single, link, infer = rng.spawn(4)
    samples = tuple(_sample(rows, number, targets) for rows in (attacked.records, attacked.controls))
    hits: list[tuple[RiskName, list[int]]] = [
        ("singling out", _singled_out(attacked, samples, single)),
        ("linkability", [_right(attacked, _linked, rows, link) for rows in samples]),
        ("attribute inference", [_right(attacked, _inferred, rows, infer) for rows in samples]),
    ]
    return tuple(
        DisclosureRisk(
            name=name,
            rate=_rate(right, number, significance),
            base=_rate(base, number, significance),
            significance=significance,
        )
        for name, (right, base) in hits[: None if len(attacked.columns) > 1 else 1]
    )


def _rate(right: int, attacks: int, significance: float) -> AttackRate:
    """Return the rate of right attacks with its exact limits."""
    limits = (
        float(proportion_lower(right, attacks, significance / 2)),
        float(proportion_upper(right, attacks, significance / 2)),
    )
    return AttackRate(attacks=attacks, right=right, limits=limits)


def _rows(columns: tuple[Column, ...], values_of: dict[str, list[Any]]) -> Rows:
    """Return the rows of a table by the columns."""
    codes, numbers = zip(*(column.read(values_of[column.name]) for column in columns), strict=True)
    return Rows(codes=np.column_stack(codes), numbers=np.column_stack(numbers))


def _singled_out(attacked: Attacked, samples: tuple[Rows, ...], rng: Generator) -> list[int]:
    """Return how many targets of each sample are the only ones there that meet some condition."""
    middle = [_median(column) for column in attacked.synthetic.numbers.T]
    alone = [set[int]() for _ in samples]
    for _ in range(len(samples[0])):
        row = int(rng.integers(len(attacked.synthetic)))
        most = min(_MOST_CONDITIONS, len(attacked.columns))
        among = rng.choice(len(attacked.columns), int(rng.integers(1, most + 1)), replace=False)
        for rows, singled in zip(samples, alone, strict=True):
            met = np.flatnonzero(_met(attacked, rows, row, among, middle))
            singled.update(map(int, met if len(met) == 1 else ()))
    return list(map(len, alone))


def _met(attacked: Attacked, rows: Rows, row: int, among: Array, middle: list[float]) -> Array:
    """Return which rows have the categories of a synthetic row, and numbers at least as far from the middle as its."""
    met = np.ones(len(rows), dtype=bool)
    for index in among:
        if attacked.columns[index].edges:
            value, numbers = attacked.synthetic.numbers[row, index], rows.numbers[:, index]
            met &= numbers >= value if value >= middle[index] else numbers <= value
        else:
            met &= rows.codes[:, index] == attacked.synthetic.codes[row, index]
    return met


def _median(numbers: Array) -> float:
    """Return the median of what is a number; 0 where nothing is."""
    finite = numbers[np.isfinite(numbers)]
    return float(np.median(finite)) if len(finite) else 0.0


def _sample(rows: Rows, size: int, rng: Generator) -> Rows:
    """Return some rows, each at most once."""
    chosen = rng.choice(len(rows), size, replace=False)
    return Rows(codes=rows.codes[chosen], numbers=rows.numbers[chosen])


def _right(
    attacked: Attacked, attack: Callable[[Attacked, tuple[Array, Array], Generator], bool], rows: Rows, rng: Generator
) -> int:
    """Return of how many targets an attack is right."""
    return sum(attack(attacked, target, rng) for target in zip(rows.codes, rows.numbers, strict=True))


def _linked(attacked: Attacked, target: tuple[Array, Array], rng: Generator) -> bool:
    """Return whether one synthetic row is the nearest in the first half of the columns and in the second half."""
    del rng
    half = len(attacked.columns) // 2
    halves = np.arange(half), np.arange(half, len(attacked.columns))
    first, second = (attacked.distances(target, among) for among in halves)
    return bool(((first == first.min()) & (second == second.min())).any())


def _inferred(attacked: Attacked, target: tuple[Array, Array], rng: Generator) -> bool:
    """Return whether a synthetic row that is nearest in all columns but one has the target's value in that one."""
    secret = int(rng.integers(len(attacked.columns)))
    far = attacked.distances(target, np.delete(np.arange(len(attacked.columns)), secret))
    row = int(rng.choice(np.flatnonzero(far == far.min())))
    column = attacked.columns[secret]
    if column.edges:
        gap = abs(attacked.synthetic.numbers[row, secret] - target[1][secret])
        return bool(gap <= _CLOSE * (column.edges[-1] - column.edges[0]))
    code = attacked.synthetic.codes[row, secret]
    return bool(code == target[0][secret] and code != OTHER)
