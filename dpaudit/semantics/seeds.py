"""Tiny declarations that the game plays: tables, the ways in which records reach a part, and an instance of each node.

A leaf is `Stated` by the name of its table.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from dpaudit.model import declaration as nodes
from dpaudit.semantics.data import Move
from dpaudit.semantics.tables import Law, Table, geometric, laws

ANY: dict[Move, int] = {"remove": 1, "drop": 1, "zero": 1, "replace": 1, "exchange": 1}
"""Every move changes an answer by at most one step."""

FAR: dict[Move, int] = {"remove": 2, "drop": 2, "zero": 2, "replace": 2, "exchange": 2}
"""Every move changes an answer into any of three."""

SIZE: dict[Move, int] = {"remove": 1, "zero": 0, "replace": 0}
"""What the number of records obeys."""


def ratio(small: Fraction) -> tuple[Law, Law]:
    """Return two laws of which each has an output with probability `small`, and the other output with the rest."""
    return (1 - small, small), (small, 1 - small)


def lost(small: Fraction) -> tuple[Law, Law]:
    """Return two laws of which each has an output of its own, with probability `small`."""
    return (small, 1 - small, Fraction(0)), (Fraction(0), 1 - small, small)


HALF, TEN = Fraction(1, 2), Fraction(10)
TABLES: dict[str, Table] = {
    "two": Table(ratio(HALF / 2), ANY),
    "sharp": Table(ratio(1 / TEN), ANY),
    "skew": Table(laws("0.6 0.4", "0.1 0.9"), ANY),
    "three": Table(laws("1/2 3/10 1/5", "1/5 1/5 3/5"), ANY),
    "response": Table(laws("3/5 1/5 1/5", "1/5 3/5 1/5", "1/5 1/5 3/5"), FAR),
    "sided": Table(laws("1 0", "3/4 1/4"), ANY),
    "mirrored": Table(laws("3/4 1/4", "1 0"), ANY),
    "open": Table(laws("1 0", "0 1"), SIZE),
    "geometric": Table(geometric(HALF, 4), ANY),
    "size": Table(tuple(tuple(Fraction(int(k == n)) for k in range(4)) for n in range(4)), SIZE),
    **{f"loss 1e{n}": Table(ratio(HALF - TEN**n / 2), ANY) for n in (-300, -60, -16, -8)},
    **{f"ratio 1e{n}": Table(ratio(1 / (1 + TEN**n)), ANY) for n in (1, 8, 60, 300)},
    **{f"delta 1e{n}": Table(lost(TEN**n), ANY) for n in (-300, -60, -16, -8)},
}
"""Laws that are alike in both orders, or have two curves, one-sided or without noise, and at the ends of floats."""


def leaf(name: str) -> nodes.Stated:
    """Return a release of a table, as what bounds it: the largest loss of any two answers."""
    ratios = [max(column) / min(column) if min(column) else math.inf for column in zip(*TABLES[name].laws, strict=True)]
    return nodes.Stated(epsilon=math.log(max(ratios)), source=name)


TWO, SHARP, SKEW, SIDED = map(leaf, ("two", "sharp", "skew", "sided"))


def sample(
    part: nodes.Declaration, records: int, batch: int, scheme: nodes.Scheme = "without_replacement"
) -> nodes.Subsample:
    """Return a part on `batch` of `records` records."""
    return nodes.Subsample(part=part, rate=batch / records, scheme=scheme, population=records, batch_size=batch)


def truncated(part: nodes.Declaration, rate: float, records: int, bound: int) -> nodes.Subsample:
    """Return a part on a Poisson sample that is cut to `bound` records."""
    return nodes.Subsample(part=part, rate=rate, scheme="truncated_poisson", population=records, batch_bound=bound)


def parallel(*parts: nodes.Declaration, key: str = "an arm") -> nodes.Parallel:
    """Return parts of which a record touches one."""
    return nodes.Parallel(parts=parts, key=key)


def both(*parts: nodes.Declaration) -> nodes.Sequential:
    """Return parts one after another."""
    return nodes.Sequential(parts=parts)


WAYS: dict[str, Callable[[nodes.Declaration], nodes.Declaration]] = {
    "poisson": lambda part: nodes.Subsample(part=part, rate=0.3),
    "fixed 1 of 2": lambda part: sample(part, 2, 1),
    "fixed 1 of 3": lambda part: sample(part, 3, 1),
    "fixed 2 of 3": lambda part: sample(part, 3, 2),
    "truncated": lambda part: truncated(part, 0.5, 3, 1),
    "with replacement 2 of 3": lambda part: sample(part, 3, 2, "with_replacement"),
    "with replacement 1 of 2": lambda part: sample(part, 2, 1, "with_replacement"),
    "allocate 1 of 2": lambda part: nodes.Allocate(part=part, steps=2),
    "parallel": lambda part: parallel(part, part),
    "secret parallel": lambda part: nodes.Parallel(parts=(part, part), key="an order", visibility="secret"),
    "cells": lambda part: nodes.Cells(inside=part, touched=part),
    "local": lambda part: nodes.Local(part=part),
    "group 2": lambda part: nodes.Group(part=part, size=2),
    "repeat 2": lambda part: nodes.Repeat(part=part, times=2),
}
"""Every way in which records reach a part, with at most three records."""


def seeds() -> dict[str, nodes.Declaration]:
    """Return the tiny instances of all nodes and schemes by their names.

    >>> "poisson over sharp" in seeds()
    True
    """
    return {f"{name} over sharp": way(SHARP) for name, way in WAYS.items()} | {
        "table sharp": SHARP,
        "two in sequence": both(SHARP, SHARP),
        "filter over sharp": nodes.Filtered(parts=(SHARP,), rho=4.0),
        "filter of each record over sharp": nodes.Filtered(parts=(SHARP,), rho=2.0, per="record"),
        "group 2 over geometric": WAYS["group 2"](leaf("geometric")),
        "shuffle 3": nodes.Shuffle(part=TWO, users=3),
        "best of 2 over sharp": nodes.BestOf(part=SHARP, law="fixed", runs=2, scores="any"),
        "billboard over poisson": nodes.Billboard(part=WAYS["poisson"](SHARP)),
        "post-process": nodes.PostProcess(part=SHARP),
    }
