"""The one place where composition is defined: from a declaration to what engines compute with.

A declaration folds into a `NormalForm`: alternatives, each a multiset of losses. A neighbouring pair meets
one alternative, so the worst of them counts. Upper and lower bounds are folded side by side, because some
nodes are known from one side only (`Stated`, groups of black boxes).
"""

from functools import reduce
from typing import assert_never

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.dominance import consists_of, worst
from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.accounting.subsampling import subsampled
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import (
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
    Stated,
    Subsample,
)
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
)
from dpaudit.model.mechanism import DominatedMechanism


def fold(node: Declaration, neighbours: Neighbours) -> NormalForm:
    """Return the normal form of `node` for data sets related by `neighbours`.

    Raises:
        DeclarationError: a mechanism's sensitivity is stated for other neighbours.
        UnsupportedError: a node that no rule here covers, named in the message.

    >>> told = Stated(epsilon=0.5, source="a supplier")
    >>> fold(Repeat(part=told, times=3), "replace_one").upper[0].parts
    ((ApproximateLoss(epsilon=0.5, delta=0.0), 3),)
    """
    match node:
        case Release(label=label, mechanism=mechanism):
            _require_neighbours(label, mechanism.neighbours, neighbours)
            attained = mechanism.attained_loss() if isinstance(mechanism, DominatedMechanism) else mechanism.loss()
            return NormalForm(upper=(Composition.of(mechanism.loss()),), lower=(Composition.of(attained),))
        case Stated(epsilon=epsilon, delta=delta, source=source, neighbours=stated):
            _require_neighbours(source, stated or neighbours, neighbours)
            loss = ApproximateLoss(epsilon=epsilon, delta=delta)
            return NormalForm(upper=(Composition.of(loss),), lower=(Composition(),))
        case Sequential(parts=parts):
            folded = [fold(part, neighbours) for part in parts]
            return NormalForm(
                upper=(reduce(Composition.__add__, (join(form.upper) for form in folded)),),
                lower=reduce(_sums, (form.lower for form in folded)),
            )
        case Repeat(part=part, times=times):
            form = fold(part, neighbours)
            return NormalForm(
                upper=(join(form.upper) * times,),
                lower=worst(tuple(alternative * times for alternative in form.lower)),
            )
        case Parallel(parts=parts):
            forms = [fold(part, neighbours) for part in parts]
            return NormalForm(
                upper=worst(tuple(a for form in forms for a in form.upper)),
                lower=worst(tuple(a for form in forms for a in form.lower)),
            )
        case Cells(inside=inside, touched=touched):
            return _cells(inside, touched, neighbours)
        case Group(part=part, size=size):
            form = fold(part, neighbours)
            return NormalForm(
                upper=_grouped(form.upper, size),
                lower=worst(tuple(_group_attained(a, size) for a in form.lower)),
            )
        case Subsample(part=part, rate=rate, scheme=scheme):
            return subsampled(fold(part, neighbours), rate, scheme, neighbours)
        case PostProcess(part=part) | Billboard(part=part) | Local(part=part):
            return fold(part, neighbours)
        case _:
            assert_never(node)


def _require_neighbours(label: str, stated: Neighbours, wanted: Neighbours) -> None:
    """Refuse a sensitivity that is stated for another relation than the one it is read under."""
    if stated != wanted:
        raise DeclarationError(
            f"'{label}' states its sensitivity for neighbours={stated!r}, but is read for "
            f"neighbours={wanted!r}. State the sensitivity for {wanted!r} (a clipped sum moves twice as far "
            "when a record is replaced as when it is removed), or change the claim."
        )


def _sums(left: Alternatives, right: Alternatives) -> Alternatives:
    """Return every sum of one alternative from each side, without the dominated ones."""
    return worst(tuple(a + b for a in left for b in right))


def _cells(inside: Declaration, touched: Declaration, neighbours: Neighbours) -> NormalForm:
    """Return the alternatives of a cell array: the same cell, or one cell emptied and another filled."""
    alone = fold(touched, "add_remove")
    if neighbours == "add_remove":
        return alone
    same = fold(inside, neighbours)
    return NormalForm(
        upper=worst((*same.upper, join(alone.upper) + join(alone.upper).reversed())),
        lower=worst((*same.lower, *(a + a.reversed() for a in alone.lower))),
    )


def _grouped(alternatives: Alternatives, size: int) -> Alternatives:
    """Return upper alternatives for `size` records of one person.

    With one alternative every release moves `size` times as far. With several, the records may spread over
    them: for Gaussian losses putting all into one is worst (sum of squares), for bounded losses the group
    property of the whole is used, and anything else is refused.
    """
    if size == 1 or len(alternatives) == 1 or all(consists_of(GaussianLoss, a) for a in alternatives):
        return worst(tuple(a.group(size) for a in alternatives))
    epsilon = max(sum(loss.supremum * times for loss, times in a.parts) for a in alternatives)
    if epsilon == float("inf") or any(loss.infinite_mass for a in alternatives for loss, _ in a.parts):
        raise UnsupportedError(
            "'group' over 'parallel' parts of different kinds is not covered: one person's records may "
            "spread over the parts. Put the group inside each part, or use one kind of noise."
        )
    return (Composition.of(ApproximateLoss(epsilon=epsilon).group(size)),)


def _group_attained(composition: Composition, size: int) -> Composition:
    """Return what some group of `size` records attains: shifts add up, other losses count one record."""
    moved = (
        Composition.of(loss.group(size) if isinstance(loss, GaussianLoss | LaplaceLoss) else loss) * times
        for loss, times in composition.parts
    )
    return reduce(Composition.__add__, moved, Composition())
