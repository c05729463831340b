"""A tree of tables as it is declared: each leaf stated for the relation that is asked of it there."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import lcm
from typing import ClassVar, Self

import numpy as np
from scipy.stats import laplace, norm

from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Allocate, Cells, Declaration, Release, Stated, Subsample, children, with_children
from dpaudit.model.losses import ChoiceLoss, DiscreteLoss, larger_of
from dpaudit.model.mechanism import Array, Mechanism
from dpaudit.model.moves import relation_below
from dpaudit.semantics import MOVE_OF, Table
from dpaudit.semantics.tables import Law
from mechanisms import Finite, Gaussian, Laplace, RandomisedResponse

Statement = Callable[[Table, Neighbours], Mechanism | None]
"""What states a table for a relation; None leaves the black box of its largest loss."""

_MU = 2.0
_CUTS = 1.0, 2.0, 3.0


def stated_for(
    tree: Declaration, tables: Mapping[str, Table], relation: Neighbours, statement: Statement
) -> Declaration:
    """Return the tree with each leaf stated for the relation that the accountant reads it for.

    Raises: DeclarationError: no relation is known inside a sample.
    """
    match tree:
        case Stated(source=name):
            mechanism = statement(tables[name], relation)
            return tree if mechanism is None else Release(label=name, mechanism=mechanism)
        case Cells(inside=inside, touched=touched):
            same = stated_for(inside, tables, relation, statement)
            return Cells(inside=same, touched=stated_for(touched, tables, "add_remove", statement))
        case Subsample() | Allocate():
            relation = relation_below(tree, 0, relation)
    return with_children(tree, tuple(stated_for(child, tables, relation, statement) for child in children(tree)))


def as_black_box(_: Table, relation: Neighbours) -> None:
    """Leave a leaf stated: the accountant knows its largest loss alone."""


def as_table(table: Table, relation: Neighbours) -> "Finite | Plugged | RandomisedResponse":
    """Return the shipped mechanism with the laws of a table, or a plug-in where floats do not hold its laws."""
    bound = table.bounds.get(MOVE_OF[relation], len(table.laws))
    scale = lcm(*(p.denominator for law in table.laws for p in law))
    if bound == 0:
        return Finite(first=(1.0,), second=(1.0,), neighbours=relation)
    if _is_response(table) and bound == table.top and relation == "replace_one":
        return RandomisedResponse(epsilon=math.log(table.laws[0][0] / table.laws[0][1]), categories=len(table.laws))
    if len(table.laws) > 2 or scale > 2**53:
        return Plugged(laws=table.laws, bound=bound, neighbours=relation)
    first, second = (tuple(float(p * scale) for p in law) for law in table.laws)
    return Finite(first=first, second=second, neighbours=relation)


def _is_response(table: Table) -> bool:
    """Return whether each answer of three or more is given truthfully, and any other one as often."""
    truth, lie = table.laws[0][0], table.laws[0][-1]
    answers = range(len(table.laws))
    told = tuple(tuple(truth if said == held else lie for said in answers) for held in answers)
    return len(table.laws) > 2 and table.laws == told


def as_gaussian(_: Table, relation: Neighbours) -> Gaussian:
    """Return Gaussian noise in the place of a table."""
    return Gaussian(stddev=1.0, l2_sensitivity=_MU, neighbours=relation)


def as_laplace(_: Table, relation: Neighbours) -> Laplace:
    """Return Laplace noise in the place of a table."""
    return Laplace(scale=1.0, l1_sensitivity=_MU, neighbours=relation)


def noise_cells(below: Callable[[float], float]) -> Table:
    """Return noise of which only the cell is seen: its game is a lower bound of that of all of it.

    The answers are 0, 1 and 2 sensitivities; each move may change the answer by one of them.
    """
    laws = []
    for answer in range(3):
        ends = [Fraction(0), *(Fraction(below(cut - _MU * answer)) for cut in _CUTS), Fraction(1)]
        laws.append(tuple(b - a for a, b in pairwise(ends)))
    return Table(tuple(laws), {"remove": 1, "drop": 0, "zero": 1, "replace": 1})


STATEMENTS: dict[str, tuple[Statement, Table | None]] = {
    "black boxes": (as_black_box, None),
    "tables": (as_table, None),
    "gaussian": (as_gaussian, noise_cells(lambda cut: float(norm.cdf(cut)))),
    "laplace": (as_laplace, noise_cells(lambda cut: float(laplace.cdf(cut)))),
}
"""What the accountant reads, and what is played in the place of each table, where that is something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugged:
    """A table as a mechanism that no package names: of answers at most `bound` apart, the worst ones count."""

    name: ClassVar[str] = "plugged_table"

    laws: tuple[Law, ...]
    bound: int
    neighbours: Neighbours

    def loss(self) -> DiscreteLoss | ChoiceLoss:
        return _loss(self.laws, self.bound)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        ends = np.cumsum([[float(p) for p in law] for law in self.laws], axis=1)
        return (rng.random(np.shape(value))[..., None] >= ends[np.asarray(value), :-1]).sum(axis=-1)

    def log_density(self, output: Array, value: Array) -> Array:
        with np.errstate(divide="ignore"):
            logs: Array = np.log([[float(p) for p in law] for law in self.laws])
        return np.asarray(logs[np.asarray(value), np.asarray(output)])

    def scaled(self, factor: float) -> Self:
        mean = [sum(column, start=Fraction(0)) / len(self.laws) for column in zip(*self.laws, strict=True)]
        share = 1 / Fraction(factor)
        laws = (tuple(m + (p - m) * share for p, m in zip(law, mean, strict=True)) for law in self.laws)
        return replace(self, laws=tuple(laws))


@lru_cache(maxsize=256)
def _loss(laws: tuple[Law, ...], bound: int) -> DiscreteLoss | ChoiceLoss:
    """Return the larger curve of both orders of answers, or a choice of several."""
    found = []
    for first, second in combinations(range(len(laws)), 2):
        if second - first <= bound and laws[first] != laws[second]:
            columns = [*zip(laws[first], laws[second], strict=True)]
            alone = [sum((row[i] for row in columns if not row[1 - i]), start=Fraction(0)) for i in (0, 1)]
            found.append(larger_of(tuple(row for row in columns if all(row)), *alone))
    options = tuple(dict.fromkeys(found))
    if len(options) == 1:
        return options[0]
    return ChoiceLoss(options=options) if options else DiscreteLoss(atoms=((0.0, 1.0),), symmetric=True)
