"""The one place where composition is defined: from a declaration to what engines compute with.

A declaration folds into a `NormalForm`: alternatives, each a multiset of losses. A neighbouring pair meets
one alternative, so the worst of them counts. Upper and lower bounds are folded side by side, because some
nodes are known from one side only (`Stated`, groups of black boxes).
"""

import math
from fractions import Fraction
from functools import reduce
from typing import assert_never

from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.accounting.subsampling import subsampled
from dpaudit.engines.gaussian import total_mu
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import Model, Neighbours
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
    children,
)
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
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
                upper=(reduce(Composition.__add__, (_join(form.upper) for form in folded)),),
                lower=reduce(_sums, (form.lower for form in folded)),
            )
        case Repeat(part=part, times=times):
            form = fold(part, neighbours)
            return NormalForm(
                upper=(_join(form.upper) * times,),
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


def delivered_model(node: Declaration) -> Model:
    """Return the strongest model that the whole tree is proved for.

    Releases are central; `Local` makes a central part local, `Billboard` makes a part joint, and several parts
    are as strong as the weakest of them. What needs a billboard is no user's own message.
    """
    match node:
        case Local(part=part):
            inner = delivered_model(part)
            return "local" if inner == "central" else inner
        case Billboard():
            return "joint"
        case Release() | Stated():
            return "central"
        case _:
            order: tuple[Model, ...] = ("local", "central", "joint")
            return order[max(order.index(delivered_model(child)) for child in children(node))]


def worst(alternatives: Alternatives) -> Alternatives:
    """Return `alternatives` without those that another one dominates; the order is kept.

    Dropping a dominated alternative changes no bound. Dominance is decided exactly, family by family;
    where it cannot be decided, both stay.
    """
    kept: list[Composition] = []
    for alternative in alternatives:
        if any(_dominates(other, alternative) for other in kept):
            continue
        kept = [other for other in kept if not _dominates(alternative, other)]
        kept.append(alternative)
    return tuple(kept)


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


def _join(alternatives: Alternatives) -> Composition:
    """Return one composition that dominates every alternative, however it is picked.

    Next to other releases a record's alternative may be picked by their outputs, and an adaptive choice
    between alternatives can be worse than each of them: delta(epsilon) is then a mixture of their curves at
    different epsilons. Where one dominates the others it is the answer. Copies of one loss are paired with copies
    of another, each pair being a choice; for anything else all losses together are the answer.
    The longest come first and Gaussian ones last, as these can be cut into any number of pieces.
    """
    return reduce(_either, sorted(alternatives, key=lambda a: (_only(GaussianLoss, a), -a.events)))


def _either(left: Composition, right: Composition) -> Composition:
    """Return a multiset that dominates both; a dominating side is returned unchanged."""
    if _dominates(left, right):
        return left
    if _dominates(right, left):
        return right
    if _only(GaussianLoss, right) and len(left.parts) == 1:
        ((_, copies),) = left.parts
        mu = total_mu(right)[1] / math.sqrt(copies) * (1 + 2.0**-50)
        right = Composition.of(GaussianLoss(mu=mu)) * copies
    if len(left.parts) == len(right.parts) == 1:
        ((one, held), (other, met)) = (*left.parts, *right.parts)
        both = Composition.of(_choice(one, other)) * min(held, met)
        rest = Composition.of(one) * (held - min(held, met)) + Composition.of(other) * (met - min(held, met))
        return both + rest
    counts = dict(left.parts)
    for loss, times in right.parts:
        counts[loss] = max(times, counts.get(loss, 0))
    return reduce(Composition.__add__, (Composition.of(loss) * times for loss, times in counts.items()))


def _choice(left: SimpleLoss, right: SimpleLoss) -> SimpleLoss:
    """Return the loss of either, picked by what was seen before; of two of one kind it is the larger."""
    if _exceeds(left, right) or _exceeds(right, left):
        return left if _exceeds(left, right) else right
    options = (
        option for loss in (left, right) for option in (loss.options if isinstance(loss, ChoiceLoss) else (loss,))
    )
    return ChoiceLoss(options=tuple(options))


def _cells(inside: Declaration, touched: Declaration, neighbours: Neighbours) -> NormalForm:
    """Return the alternatives of a cell array: the same cell, or one cell emptied and another filled."""
    alone = fold(touched, "add_remove")
    if neighbours == "add_remove":
        return alone
    same = fold(inside, neighbours)
    return NormalForm(
        upper=worst((*same.upper, _join(alone.upper) + _join(alone.upper).reversed())),
        lower=worst((*same.lower, *(a + a.reversed() for a in alone.lower))),
    )


def _grouped(alternatives: Alternatives, size: int) -> Alternatives:
    """Return upper alternatives for `size` records of one person.

    With one alternative every release moves `size` times as far. With several, the records may spread over
    them: for Gaussian losses putting all into one is worst (sum of squares), for bounded losses the group
    property of the whole is used, and anything else is refused.
    """
    if size == 1 or len(alternatives) == 1 or all(_only(GaussianLoss, a) for a in alternatives):
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


def _only(family: type, composition: Composition) -> bool:
    """Return whether every part belongs to `family`."""
    return all(isinstance(loss, family) for loss, _ in composition.parts)


def _dominates(above: Composition, below: Composition) -> bool:
    """Return whether `above` provably dominates `below`, decided in exact arithmetic."""
    if _gaussian_square(above) < _gaussian_square(below):
        return False
    rest_above = [(loss, times) for loss, times in above.parts if not isinstance(loss, GaussianLoss)]
    rest_below = [(loss, times) for loss, times in below.parts if not isinstance(loss, GaussianLoss)]
    return all(
        sum(n for other, n in rest_below if _exceeds(other, loss))
        <= sum(n for other, n in rest_above if _exceeds(other, loss))
        for loss, _ in rest_below
    )


def _gaussian_square(composition: Composition) -> Fraction:
    """Return the sum of mu^2 over the Gaussian parts, exactly."""
    squares = (Fraction(loss.mu) ** 2 * n for loss, n in composition.parts if isinstance(loss, GaussianLoss))
    return sum(squares, start=Fraction(0))


def _exceeds(loss: SimpleLoss, other: SimpleLoss) -> bool:
    """Return whether `loss` is of the kind of `other` and at least as large; each kind is totally ordered."""
    match loss, other:
        case LaplaceLoss(shift=a), LaplaceLoss(shift=b):
            return a >= b
        case ApproximateLoss(epsilon=a, delta=p), ApproximateLoss(epsilon=b, delta=q):
            return a >= b and p == q
        case SampledGaussianLoss(mu=a, rate=p, order=left), SampledGaussianLoss(mu=b, rate=q, order=right):
            return a >= b and p == q and left == right
        case _:
            return loss == other
