"""Alternatives that hold for a whole run: the orders in which a sampled part meets the neighbours."""

import math
from itertools import product

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import (
    Allocate,
    Billboard,
    Cells,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Shuffle,
    Stated,
    Subsample,
)
from dpaudit.model.losses import Composition
from dpaudit.model.sampled_relations import relation_inside

_MOST = 16


def of_the_run(node: Declaration, neighbours: Neighbours, alternatives: Alternatives) -> Alternatives:
    """Return what a run may meet of `node`, each of it all along: its orders where they are fixed, else all joined.

    Whether a record is there is settled before the run, and a part is stated for that pair in one order. So the larger
    of both orders is taken after composition. Where the other neighbour holds another record in its place, queries may
    take turns, and alternatives may be picked step by step.
    Source: Lebeda, Regehr, Kamath and Steinke (2024); Zhu, Dong and Wang (2022), Theorem 10.

    >>> from dpaudit.model.declaration import Stated
    >>> of_the_run(Stated(epsilon=1.0, source="a supplier"), "add_remove", (Composition(), Composition()))
    (Composition(parts=()),)
    """
    alone = len(alternatives) == 1 or orders_alone(node, neighbours)
    return alternatives if alone else (join(alternatives),)


def in_sequence(parts: list[Alternatives]) -> Alternatives:
    """Return every sum of one alternative from each part; where these are many, all of each part joined.

    >>> in_sequence([(Composition(),), (Composition(), Composition())])
    (Composition(parts=()),)
    """
    if math.prod(map(len, parts)) > _MOST:
        parts = [(join(part),) for part in parts]
    return tuple(dict.fromkeys(map(Composition.total, product(*parts))))


def orders_alone(node: Declaration, neighbours: Neighbours) -> bool:
    """Return whether the alternatives of `node` are the orders of sampled parts, and nothing that a step may pick.

    >>> from dpaudit.model.declaration import Stated
    >>> orders_alone(Subsample(part=Stated(epsilon=1.0, source="a supplier"), rate=0.1), "add_remove")
    True
    """
    match node:
        case Subsample(part=part) | Allocate(part=part):
            ordered = "replace_one" not in (neighbours, relation_inside(node, neighbours))
            return ordered and _one_alternative(part)
        case Repeat(part=part) | PostProcess(part=part) | Billboard(part=part):
            return orders_alone(part, neighbours)
        case Sequential(parts=parts):
            return all(_one_alternative(part) or orders_alone(part, neighbours) for part in parts)
        case _:
            return False


def _one_alternative(node: Declaration) -> bool:
    """Return whether a part has one alternative, as it holds no sample, no cells and no parts in parallel."""
    match node:
        case Release() | Stated():
            return True
        case Sequential(parts=parts):
            return all(map(_one_alternative, parts))
        case Repeat(part=part) | PostProcess(part=part) | Billboard(part=part) | Local(part=part) | Group(part=part):
            return _one_alternative(part)
        case Parallel() | Cells() | Subsample() | Allocate() | Shuffle():
            return False
