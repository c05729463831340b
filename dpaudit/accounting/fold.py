"""The one place where composition is defined: from a declaration to what engines compute with.

A declaration folds into a `NormalForm`: alternatives, each a multiset of losses. A neighbouring pair meets
one alternative, so the worst of them counts. The upper side is folded here; the lower one is what a single pair
attains.
"""

import math
from typing import assert_never

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.allocating import allocated_above
from dpaudit.accounting.attained import Attained, attained_by_one_pair
from dpaudit.accounting.dominance import worst
from dpaudit.accounting.nests.rules import require_rules
from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.accounting.orders import in_sequence, of_the_run
from dpaudit.accounting.samples.several_records import chained, of_a_person
from dpaudit.accounting.shuffling import shuffled_above
from dpaudit.accounting.subsampling import sampled_above
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
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
from dpaudit.model.losses import LOST, ApproximateLoss, Composition
from dpaudit.model.losses.any_order import in_any_order
from dpaudit.model.sampled_relations import relation_inside


def fold(node: Declaration, neighbours: Neighbours, conditions: tuple[Condition, ...] = ()) -> NormalForm:
    """Return the normal form of `node` for data sets related by `neighbours`.

    The lower side is the loss that one pair attains: that of the worst query, or of all queries that a checked
    condition of kind "attained" names.

    Raises:
        DeclarationError: a mechanism's sensitivity is stated for other neighbours.
        UnsupportedError: a node that no rule here covers, named in the message.

    >>> told = Stated(epsilon=0.5, source="a supplier")
    >>> fold(Repeat(part=told, times=3), "replace_one").upper[0].parts
    ((ApproximateLoss(epsilon=0.5, delta=0.0), 3),)
    """
    return folded(above(node, neighbours), attained_by_one_pair(node, neighbours, conditions))


def folded(upper: Alternatives, attained: tuple[Attained, ...]) -> NormalForm:
    """Return the normal form of what bounds from above and of what single pairs attain, if any."""
    return NormalForm(upper=upper, lower=tuple(found.composition for found in attained) or (Composition(),))


def above(node: Declaration, neighbours: Neighbours) -> Alternatives:
    """Return alternatives of which one dominates the loss of any pair of neighbours.

    Raises: as for `fold`.
    """
    require_rules(node, neighbours)
    return _above(node, neighbours, 1)


def _above(node: Declaration, neighbours: Neighbours, records: int) -> Alternatives:
    """Return the same for so many records of one person that change together."""
    match node:
        case Release(label=label, mechanism=mechanism):
            _require_neighbours(label, mechanism.neighbours, neighbours)
            return (Composition.of(in_any_order(mechanism.loss(), neighbours)).group(records),)
        case Stated(epsilon=epsilon, delta=delta, source=source, neighbours=stated):
            _require_neighbours(source, stated or neighbours, neighbours)
            told = LOST if epsilon == math.inf else ApproximateLoss(epsilon=epsilon, delta=delta)
            return (Composition.of(told).group(records),)
        case Sequential(parts=parts):
            return in_sequence([of_the_run(part, neighbours, _above(part, neighbours, records)) for part in parts])
        case Repeat(part=part, times=times):
            held = of_the_run(part, neighbours, _above(part, neighbours, records))
            return tuple(alternative * times for alternative in held)
        case Parallel(parts=parts):
            each = worst(tuple(alternative for part in parts for alternative in _above(part, neighbours, 1)))
            return chained(each, records)
        case Cells(inside=inside, touched=touched):
            return chained(_cells(inside, touched, neighbours), records)
        case Group(part=part, size=size):
            return _above(part, neighbours, records * size)
        case Subsample() | Allocate() | Shuffle():
            return _amplified(node, neighbours, records)
        case PostProcess(part=part) | Billboard(part=part) | Local(part=part):
            return _above(part, neighbours, records)
        case _:
            assert_never(node)


def _amplified(node: Subsample | Allocate | Shuffle, neighbours: Neighbours, records: int) -> Alternatives:
    """Return alternatives for a part whose records, places or order stay secret."""
    if isinstance(node, Shuffle):
        return chained((shuffled_above(join(_above(node.part, neighbours, 1)), node),), records)
    relation = relation_inside(node, neighbours)
    inside = _above(node.part, relation, 1)
    if isinstance(node, Allocate):
        return allocated_above(of_the_run(node.part, relation, inside), node, neighbours)
    return of_a_person(inside, sampled_above(inside, node, neighbours), node, neighbours, records)


def _require_neighbours(label: str, stated: Neighbours, wanted: Neighbours) -> None:
    """Refuse a sensitivity that is stated for another relation than the one it is read under."""
    if stated != wanted:
        raise DeclarationError(
            f"'{label}' states its sensitivity for neighbours={stated!r}, but is read for "
            f"neighbours={wanted!r}. State the sensitivity for {wanted!r} (a clipped sum moves twice as far "
            "when a record is replaced as when it is removed), or change the claim."
        )


def _cells(inside: Declaration, touched: Declaration, neighbours: Neighbours) -> Alternatives:
    """Return the alternatives of a cell array: the same cell, or one cell emptied and another filled."""
    alone = _above(touched, "add_remove", 1)
    if neighbours == "add_remove":
        return alone
    return worst((*_above(inside, neighbours, 1), join(alone) + join(alone).reversed()))
