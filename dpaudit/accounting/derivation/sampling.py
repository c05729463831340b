"""How a part on a random sample of the records concludes: each scheme under each move, above and below.

Everything inside one sample is composed first and sampled after. A pair of neighbours may be read in either order, so
that an upper side has an alternative for each order of the part's own loss.
"""

from collections.abc import Callable
from typing import TypeAlias

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation import maps
from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.groups import (
    chained,
    from_a_poisson_sample,
    from_a_set,
    on_a_poisson_sample,
    shifts_of_a_set,
)
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, each
from dpaudit.accounting.normal_form import Alternatives, both_orders, open_orders
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.accounting.samples.together import together_above, together_attained
from dpaudit.accounting.schemes import drawn_with_replacement, kept_rate
from dpaudit.accounting.zeroed import is_cut, zeroed_attained
from dpaudit.engines.gaussian import all_gaussian, total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Billboard, Declaration, Local, Parallel, PostProcess, Release, Subsample, walk
from dpaudit.model.losses import Composition, Loss, MixtureLoss
from dpaudit.model.mechanism import is_opposed, is_plugged_in
from dpaudit.model.moves import Move

Drawn: TypeAlias = Callable[[Composition, Subsample], Composition]
"""What becomes of one order of a part on a sample."""
Orders: TypeAlias = Callable[[Alternatives], Alternatives]
"""The orders of a part that are read."""


def removed_from_poisson(judgement: Judgement) -> Alternatives:
    """Return a record that a Poisson sample holds or lacks; of several a binomial number, for Gaussian releases."""
    alone, records = _drawn(judgement, maps.present, open_orders), judgement.move.records
    if records > 1 and _sample(judgement).rate > 0 and all(map(on_a_poisson_sample, alone)):
        return tuple(from_a_poisson_sample(composition, records) for composition in alone)
    return chained(alone, records)


def replaced_on_poisson(judgement: Judgement) -> Alternatives:
    """Return a record that a Poisson sample holds or lacks against another one, which may move the answer back."""
    node, inside = _sample(judgement), judgement.part.above
    drawn = node.rate > 0 and any(alternative.parts for alternative in inside)
    if drawn and (opposed := _opposed(node)):
        replaced: Alternatives = (Composition.of(opposed[0]),)
    elif drawn and not maps.one_shift(inside) and (joint := together_above(node)):
        replaced = (joint,)
    else:
        replaced = _drawn(judgement, maps.apart)
    return chained(replaced, judgement.move.records)


def removed_from_a_set(judgement: Judgement) -> Alternatives:
    """Return a record whose place another one takes; of several a hypergeometric number."""
    alone, node, records = _drawn(judgement, maps.present), _sample(judgement), judgement.move.records
    if records == 1 or node.rate == 0:
        return alone
    return tuple(dict.fromkeys(from_a_set(composition, node, records) for composition in judgement.part.above))


def replaced_in_a_set(judgement: Judgement) -> Alternatives:
    """Return a record of a set of fixed size that has another value."""
    return chained(_drawn(judgement, maps.exchanged), judgement.move.records)


def zeroed_in_a_set(judgement: Judgement) -> Alternatives:
    """Return a record of a set of fixed size that is zeroed; against other records it moves twice as far."""
    return chained(_drawn(judgement, maps.zeroed), judgement.move.records)


def removed_from_a_cut_sample(judgement: Judgement) -> Alternatives:
    """Return a record that is added to a cut Poisson sample while there is room, and else replaces another one."""
    return _of_one_record(judgement, _drawn(judgement, maps.cut))


def replaced_with_replacement(judgement: Judgement) -> Alternatives:
    """Return a record of which draws with replacement hold a binomial number of copies."""
    return _of_one_record(judgement, _drawn(judgement, maps.copied))


def _of_one_record(judgement: Judgement, alone: Alternatives) -> Alternatives:
    """Return what is known of one record; refuse several, whose removals fall on other populations."""
    node = _sample(judgement)
    if judgement.move.records > 1 and node.rate > 0:
        raise UnsupportedError(
            f"'group' over {node.scheme!r} is not covered: the population falls with each record that is removed, and "
            "a sample may hold any number of them. Sample persons, and put the group inside the sample."
        )
    return alone


def _drawn(judgement: Judgement, drawn: Drawn, orders: Orders = both_orders) -> Alternatives:
    """Return what becomes of each order of a part on a sample; nothing at rate 0, and nothing of nothing.

    Where parallel parts lie in a sample that is cut, one part loses a record and another one gains one. Each set of
    other records may have its own order where the part is read for another record in a record's place.
    """
    node, inside = _sample(judgement), judgement.part.above
    if node.rate == 0:
        return (Composition(),)
    if node.scheme == "truncated_poisson" and _holds(node, Parallel):
        inside = (join(inside),)
    if not any(alternative.parts for alternative in inside):
        return (Composition(),)
    if judgement.part.move.relation == "replace_one":
        inside = tuple(map(maps.in_any_order, inside))
    return tuple(dict.fromkeys(drawn(order, node) if order.parts else order for order in orders(inside)))


def poisson_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains that a Poisson sample holds or lacks, or all records of a person.

    Of records that send a message each one counts: their moves do not add up in one answer.
    """

    def pair(composition: Composition, node: Subsample) -> Composition:
        alone = maps.sampled(composition, node.rate, upwards=False)
        several = asked.records(judgement.move) > 1 and on_a_poisson_sample(alone) and not _holds(node, Local)
        return from_a_poisson_sample(alone, judgement.move.records) if several else alone

    return _drawn_attained(judgement, asked, pair)


def apart_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains against one that moves the answer as far back, on a Poisson sample."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        if opposed := _opposed(node):
            return Composition.of(opposed[1])
        if not maps.one_shift((composition,)) and (joint := together_attained(node, asked.labels)):
            return joint
        moved = maps.shift_of(composition, upwards=False) if maps.even(composition) else None
        return Composition() if moved is None else maps.moved_apart(moved, node.rate)

    return _drawn_attained(judgement, asked, pair, one_pair=False)


def set_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record of a set of fixed size attains beside copies of one; several are hypergeometrically many."""
    removed = judgement.move.name == "remove" and asked.records(judgement.move) > 1

    def pair(composition: Composition, node: Subsample) -> Composition:
        if not (removed and all_gaussian(composition)):
            return maps.sampled(composition, node.rate, upwards=False)
        shifts = shifts_of_a_set(node, judgement.move.records, total_mu(composition)[0], above=False)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),)))

    return _drawn_attained(judgement, asked, pair)


def zeroed_in_a_set_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains against its zero among opposite records, or where nothing is known of others."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        mu = total_mu(composition)[0] if all_gaussian(composition) else 0.0
        if asked.together and node.rate < 1 and is_cut(mu, node.rate):
            return Composition.of(zeroed_attained(mu, node.rate))
        return maps.sampled(composition, node.rate, upwards=False)

    return _drawn_attained(judgement, asked, pair, beside=True)


def cut_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains in a cut Poisson sample beside others that move nothing."""
    return _drawn_attained(judgement, asked, lambda part, node: maps.sampled(part, kept_rate(node), upwards=False))


def copied_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what the copies of a record attain beside copies of another one, of Gaussian releases."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        gaussian = all_gaussian(composition)
        return Composition.of(drawn_with_replacement(node, total_mu(composition)[0])) if gaussian else Composition()

    return _drawn_attained(judgement, asked, pair)


def _drawn_attained(
    judgement: Judgement, asked: Asked, pair: Drawn, *, beside: bool = False, one_pair: bool = True
) -> Found:
    """Return what `pair` attains on a sample, by the query, if some pair attains the part without it.

    The move counts as attained whatever else the sample holds. Other records that the pair needs exist by assumption,
    or are not needed at all (`beside`): by definition only copies of a record that moves the answer do, or none.
    Edge cases: nothing where no pair is known, as for a part whose loss depends on the order of the neighbours, unless
    `pair` knows its own (`one_pair`). Of a finite one of unknown order the smaller curve of both orders counts. Which
    of a sample's messages is the record's depends on who else is in a sample of bounded size, so that nothing is known
    of them.
    """
    node = _sample(judgement)
    lacks = not (asked.together or beside) and judgement.rule.needs_others(node)
    unknown = lacks or node.rate == 0 or (node.scheme != "poisson" and _holds(node, Local))

    def attained(composition: Composition) -> Composition:
        if unknown or not composition.parts:
            return Composition()
        either_order = in_either_order(composition)
        return pair(either_order, node) if maps.even(either_order) or not one_pair else Composition()

    return each(judgement.part.below(asked), attained)


def removal_leaves_a_set(node: Declaration, move: Move) -> str:
    """Refuse a removal of more records than a set of fixed size leaves over, or from one of unknown size."""
    if not isinstance(node, Subsample) or node.population is None or node.batch_size is None:
        return (
            "'without_replacement' under remove: no rule for a rate alone. Another record takes the removed one's "
            "place if there is one: give population and batch_size."
        )
    if node.batch_size > node.population - move.records:
        return (
            f"'without_replacement' under remove: no rule for batch_size={node.batch_size} of "
            f"population={node.population} where {move.records} of its records are removed, so that no set of this "
            "size is left. Take smaller batches, or claim 'replace_one'."
        )
    return ""


def _sample(judgement: Judgement) -> Subsample:
    """Return the judgement's node, which is a sample."""
    return node_of(judgement, Subsample)


def _holds(node: Subsample, kind: type[Declaration]) -> bool:
    """Return whether a node of some kind lies below a sample."""
    return any(isinstance(below, kind) for _, below in walk(node.part))


def _opposed(node: Subsample) -> tuple[Loss, Loss] | None:
    """Return both sides of one release that knows its loss where a sampled record is replaced; None of any other."""
    part = node.part
    while isinstance(part, PostProcess | Billboard):
        part = part.part
    if not isinstance(part, Release) or is_plugged_in(part.mechanism) or not is_opposed(part.mechanism):
        return None
    return part.mechanism.opposed(node.rate)
