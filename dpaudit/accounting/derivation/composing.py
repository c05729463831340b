"""How releases, and nodes without a hidden draw, conclude: each from the judgements of its parts, above and below."""

import math
from dataclasses import replace
from itertools import product
from typing import TypeVar

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation.groups import chain, chained
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, Plan, each, either, entered, in_sequence, keyed
from dpaudit.accounting.dominance import worst
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.engines.limits import options_of
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Filtered, Group, Parallel, Release, Repeat, Stated, walk
from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    Composition,
    ConcentratedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SimpleLoss,
)
from dpaudit.model.losses.any_order import in_any_order
from dpaudit.model.mechanism import (
    Mechanism,
    attained_loss,
    changes_the_law,
    dominating_loss,
    is_additive,
    is_plugged_in,
    moves_alone,
    of_records,
    with_leaves,
)
from dpaudit.model.moves import Exchange, Move, name_of

Node = TypeVar("Node")
_MOST = 16  # sums of alternatives that are told apart


def released(judgement: Judgement) -> Alternatives:
    """Return a release's own loss, in both orders unless its law has one, of records that change one after another."""
    node, move = node_of(judgement, Release), judgement.move
    _require_neighbours(node.label, node.mechanism.neighbours, move)
    _require_own_law(node)
    _require_one_loss(node)
    together = of_records(node.mechanism, move.records)
    if together is not None:
        return (Composition.of(in_any_order(dominating_loss(together), move.relation)),)
    return (chain(Composition.of(in_any_order(dominating_loss(node.mechanism), move.relation)), move.records),)


def _require_own_law(node: Release) -> None:
    """Refuse a class that has a shipped mechanism's name and another law: the name says which law a checker derives."""
    for mechanism in with_leaves(node.mechanism):
        if changes_the_law(type(mechanism)):
            raise UnsupportedError(
                f"'{node.label}': {type(mechanism).__name__} has the name {mechanism.name!r} of a shipped mechanism, "
                "and changes what its loss is computed from, or adds a field. Give it a `name` of its own."
            )


def _require_one_loss(node: Release) -> None:
    """Refuse a supplier's loss of several parts, or of a choice between Gaussian and other noise.

    It bounds each pair of neighbours. For two records that change one after another it allows more than the parts do,
    each for both: nothing says that every part is a release of its own. Gaussian parts are one shift.
    """
    for mechanism in filter(is_plugged_in, with_leaves(node.mechanism)):
        losses = Composition.of(mechanism.loss())
        gaussian = [isinstance(option, GaussianLoss) for loss, _ in losses.parts for option in options_of(loss)]
        if not all(gaussian) and (losses.events > 1 or any(gaussian)):
            raise UnsupportedError(
                f"'{node.label}': a plug-in's loss of several parts, or of a choice between Gaussian and other "
                "noise, has no rule. Declare each part as a release of its own, in sequence or in parallel."
            )


def release_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what the worst pair of one query attains; below a sample, where a record moves it beside no other one."""
    node = node_of(judgement, Release)
    alone = asked.together or not judgement.sampled or moves_alone(node.mechanism)
    query = asked.query(node) if alone else None
    return {} if query is None else {query: (Plan(composition=_moved(node.mechanism, judgement.move, asked)),)}


def _moved(mechanism: Mechanism, move: Move, asked: Asked) -> Composition:
    """Return what one release attains; a shift of noise adds up over records, any other loss counts one record.

    The records of a person may enter different nodes of a tree, so that a composed loss does not grow as a whole. Of
    several queries that a pair moves together nobody said which law of a table each of them has.
    """
    together = of_records(mechanism, asked.records(move)) if is_additive(mechanism) else None
    loss = attained_loss(mechanism if together is None else together)
    if isinstance(loss, GaussianLoss | LaplaceLoss):
        return chain(Composition.of(loss), asked.records(move))
    if not asked.together or not isinstance(loss, DiscreteLoss):
        return Composition.of(loss)
    one_pair = replace(loss, span=None, once=None)  # nor which of several pairs
    return Composition.of(one_pair) if loss.one_order else in_either_order(Composition.of(one_pair))


def told(judgement: Judgement) -> Alternatives:
    """Return somebody else's claim, for the move that it is stated for: a black box, or what its mu or rho says.

    Below a sample nothing is known of a rho: no law says what a rare record shows.
    """
    node, move = node_of(judgement, Stated), judgement.move
    _require_neighbours(node.source, node.neighbours or move.relation, move)
    return (chain(Composition.of(_stated_loss(node, sampled=judgement.sampled)), move.records),)


def _stated_loss(node: Stated, *, sampled: bool) -> SimpleLoss:
    """Return the loss of a stated part for one record."""
    if node.mu is not None:
        return GaussianLoss(mu=node.mu)
    if node.rho is not None and not sampled:
        return ConcentratedLoss(rho=node.rho)
    return LOST if node.epsilon == math.inf else ApproximateLoss(epsilon=node.epsilon, delta=node.delta)


def _require_neighbours(label: str, stated: Neighbours, move: Move) -> None:
    """Refuse a sensitivity that is stated for another relation than the one it is read under."""
    if stated != move.relation:
        raise DeclarationError(
            f"'{label}' states its sensitivity for neighbours={stated!r}, but is read for "
            f"neighbours={move.relation!r}. State the sensitivity for {move.relation!r} (a clipped sum moves twice as "
            "far when a record is replaced as when it is removed), or change the claim."
        )


def nothing_known(judgement: Judgement, asked: Asked) -> Found:
    """Return that nothing is known from below."""
    return {}


def summed(judgement: Judgement) -> Alternatives:
    """Return every sum of one alternative from each part; where these are many, all of each part joined."""
    parts = [part.of_the_run for part in judgement.parts]
    if math.prod(map(len, parts)) > _MOST:
        parts = [(join(part),) for part in parts]
    return tuple(dict.fromkeys(map(Composition.total, product(*parts))))


def summed_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return every sum of one plan from each part that moves a query."""
    return in_sequence((part.below(asked) for part in judgement.parts), named=asked.named)


def repeated(judgement: Judgement) -> Alternatives:
    """Return a part as often as it is met."""
    return tuple(alternative * node_of(judgement, Repeat).times for alternative in judgement.part.of_the_run)


def repeated_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return the plans of a part as often as it is met."""
    times = node_of(judgement, Repeat).times
    return each(judgement.part.below(asked), lambda composition: composition * times)


def filtered(judgement: Judgement) -> Alternatives:
    """Return what is known of all that a budget pays for; k records of one person cost k times the epsilon or the mu.

    Raises: UnsupportedError: a part without a cost in the budget's measure, which no budget pays for.
    """
    measure, limit = node_of(judgement, Filtered).budget
    for part in judgement.parts:
        if not all(_has_cost(loss, measure) for alternative in part.above for loss, _ in alternative.parts):
            raise UnsupportedError(
                f"'filtered' over '{name_of(part.node)}': it has no finite {measure}, so that no budget of {measure} "
                f"pays for it. {_PAID_BY[measure]}"
            )
    match measure:
        case "epsilon":
            whole: SimpleLoss = ApproximateLoss(epsilon=limit)
        case "mu":
            whole = GaussianLoss(mu=limit)
        case _:
            whole = ConcentratedLoss(rho=limit)
    return (chain(Composition.of(whole), judgement.move.records),)


_PAID_BY = {
    "epsilon": "Use noise with a largest loss, or a budget of rho.",
    "rho": "Use noise without a delta of its own.",
    "mu": "Use Gaussian noise, or noise with a largest loss.",
}
"""What a budget pays for, by its measure."""


def _has_cost(loss: SimpleLoss, measure: str) -> bool:
    """Return whether a loss has a finite cost: by a theorem, or as no output belongs to one law alone."""
    if measure == "mu" and isinstance(loss, GaussianLoss):
        return True
    by_theorem = measure == "rho" and isinstance(loss, DiscreteLoss) and loss.rho is not None
    orders = (loss, loss.reversed())
    bounded = measure == "rho" or all(order.supremum < math.inf for order in orders)
    return by_theorem or (bounded and not any(order.infinite_mass for order in orders))


def as_the_part(judgement: Judgement) -> Alternatives:
    """Return what dominates the part."""
    return judgement.part.above


def as_the_part_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what the part attains."""
    return judgement.part.below(asked)


def sent_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return one message for each record: the last premise is the part for one record alone."""
    return each(judgement.premises[-1][0].below(asked), lambda composition: composition * asked.records(judgement.move))


def largest(judgement: Judgement) -> Alternatives:
    """Return the parts' alternatives, of which a record meets one; several records change one after another."""
    options = tuple(alternative for part in judgement.parts for alternative in part.above)
    return chained(worst(options), judgement.move.records)


def largest_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return the plans of all parts, of which all records enter one: the last group is read for all of them."""
    key, parts = node_of(judgement, Parallel).key, judgement.premises[-1 if asked.together else 0]
    ways = (entered(part.below(asked), judgement.path, i) for i, part in enumerate(parts))
    return either(keyed(way, (key, len(parts), i), asked) for i, way in enumerate(ways))


def one_after_another(judgement: Judgement) -> Alternatives:
    """Return what dominates the part for one record; several change one after another."""
    return chained(judgement.part.above, judgement.move.records)


def two_touched(judgement: Judgement) -> Alternatives:
    """Return the larger one of a record that stays, and of one that leaves a part beside one that enters another.

    The record that leaves and the one that enters meet parts that the view may pick.
    """
    removed = tuple(alternative for part in _read(judgement, "remove") for alternative in part.above)
    stays = tuple(alternative for part in _read(judgement, judgement.move.name) for alternative in part.above)
    apart = join(removed) + join(removed).reversed()
    return chained(worst((*stays, apart)), judgement.move.records)


def cell_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return the plans of the one cell that a record fills or leaves."""
    return keyed(entered(judgement.part.below(asked), judgement.path, 1), _value(judgement), asked)


def two_cells_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return the plans of a cell array: the same cell, or one cell emptied and another one filled.

    That a second cell exists, and that two cells reach the bound at once, is known, or assumed, of labels only.
    """
    inside = judgement.premises[1][0].below(asked)
    stays = keyed(entered(inside, judgement.path, 0), _value(judgement), asked)
    if not asked.together:
        return stays
    return either((stays, each(cell_attained(judgement, asked), lambda pair: pair + pair.reversed())))


def others_own_as_many(node: Declaration, move: Move) -> str:
    """Refuse persons of several records who take each other's place in a part that is stated for records that stay.

    Another person may own fewer records, and nothing is stated of a query that sees how many there are.
    """
    leaves = [leaf for _, leaf in walk(node) if isinstance(leaf, Release | Stated)]
    relations = {leaf.mechanism.neighbours if isinstance(leaf, Release) else leaf.neighbours for leaf in leaves}
    alone = isinstance(node, Group) and node.size == 1
    if alone or not isinstance(move, Exchange) or relations == {"add_remove"}:
        return ""
    return (
        "'group' under exchange: no rule for a part that is stated for records that stay. A person who takes another "
        "one's place may own fewer records, and may be told by their number: put the sample inside the group."
    )


def _read(judgement: Judgement, name: str) -> "tuple[Judgement, ...]":
    """Return the premises that are read under a move."""
    return tuple(part for group in judgement.premises for part in group if part.move.name == name)


def _value(judgement: Judgement) -> tuple[str, int, int]:
    """Return the key of an array of cells, which is the record's value."""
    return (f"the cells at {judgement.path}", 1, 0)


def node_of(judgement: Judgement, kind: type[Node]) -> Node:
    """Return the judgement's node, which is of a kind."""
    node = judgement.node
    if not isinstance(node, kind):
        raise TypeError(f"Expected a {kind.__name__}, got {type(node).__name__}.")
    return node
