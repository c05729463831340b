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
from dpaudit.accounting.dominance import consists_of, worst
from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.accounting.orders import in_sequence, of_the_run
from dpaudit.accounting.samples.black_box import black_box
from dpaudit.accounting.samples.own_samples import require_declared_samples
from dpaudit.accounting.shuffling import shuffled_above
from dpaudit.accounting.subsampling import sampled_above
from dpaudit.errors import DeclarationError, UnsupportedError
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
from dpaudit.model.losses import LOST, ApproximateLoss, Composition, GaussianLoss
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
    match node:
        case Release(label=label, mechanism=mechanism):
            _require_neighbours(label, mechanism.neighbours, neighbours)
            return (Composition.of(in_any_order(mechanism.loss(), neighbours)),)
        case Stated(epsilon=epsilon, delta=delta, source=source, neighbours=stated):
            _require_neighbours(source, stated or neighbours, neighbours)
            told = LOST if epsilon == math.inf else ApproximateLoss(epsilon=epsilon, delta=delta)
            return (Composition.of(told),)
        case Sequential(parts=parts):
            return in_sequence([of_the_run(part, neighbours, above(part, neighbours)) for part in parts])
        case Repeat(part=part, times=times):
            return tuple(held * times for held in of_the_run(part, neighbours, above(part, neighbours)))
        case Parallel(parts=parts):
            return worst(tuple(alternative for part in parts for alternative in above(part, neighbours)))
        case Cells(inside=inside, touched=touched):
            return _cells(inside, touched, neighbours)
        case Group(part=part, size=size):
            if size > 1:
                require_declared_samples(part)
            return _grouped(above(part, neighbours), size)
        case Subsample() | Allocate() | Shuffle():
            return _amplified(node, neighbours)
        case PostProcess(part=part) | Billboard(part=part) | Local(part=part):
            return above(part, neighbours)
        case _:
            assert_never(node)


def _amplified(node: Subsample | Allocate | Shuffle, neighbours: Neighbours) -> Alternatives:
    """Return alternatives for a part whose records, places or order stay secret."""
    if isinstance(node, Shuffle):
        if neighbours != "replace_one":
            raise DeclarationError(
                f"'shuffle' is proved where a user's data are replaced, but is read for neighbours={neighbours!r}; "
                "its number of users is public."
            )
        return (shuffled_above(join(above(node.part, neighbours)), node),)
    relation = relation_inside(node, neighbours)
    inside = above(node.part, relation)
    if isinstance(node, Allocate):
        return allocated_above(of_the_run(node.part, relation, inside), node, neighbours)
    return sampled_above(inside, node, neighbours)


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
    alone = above(touched, "add_remove")
    if neighbours == "add_remove":
        return alone
    if neighbours == "zero_out":
        raise UnsupportedError("'cells' are covered for 'add_remove' and 'replace_one'; zero fills no cell.")
    return worst((*above(inside, neighbours), join(alone) + join(alone).reversed()))


def _grouped(alternatives: Alternatives, size: int) -> Alternatives:
    """Return upper alternatives for `size` records of one person.

    With one alternative every release moves `size` times as far. With several, the records may spread over
    them: for Gaussian losses putting all into one is worst (sum of squares). For losses with a largest one the group
    property of a black box is used, of which every alternative is an instance; anything else is refused.
    """
    if size == 1:
        return worst(alternatives)
    if len(alternatives) == 1 or all(consists_of(GaussianLoss, a) for a in alternatives):
        return worst(tuple(a.group(size) for a in alternatives))
    boxes = [box for a in alternatives if (box := black_box(a)) is not None]
    if len(boxes) < len(alternatives):
        raise UnsupportedError(
            "'group' over 'parallel' parts of different kinds is not covered where one has no largest loss: one "
            "person's records may spread over the parts. Put the group inside each part, or use one kind of noise."
        )
    delta = max(box.infinite_mass for box in boxes)
    if delta == 1:
        return (Composition.of(LOST),)
    box = ApproximateLoss(epsilon=max(box.supremum for box in boxes), delta=delta)
    return (Composition.of(box.group(size)),)
