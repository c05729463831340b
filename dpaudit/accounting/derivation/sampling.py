"""How a part on a random sample of the records concludes: each scheme under each move, above and below.

Everything inside one sample is composed first and sampled after. A pair of neighbours may be read in either order, so
that an upper side has an alternative for each order of the part's own loss.
"""

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.groups import (
    chain,
    chained,
    from_a_poisson_sample,
    from_a_set,
    on_a_poisson_sample,
    shifts_of_a_set,
)
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, each
from dpaudit.accounting.normal_form import Alternatives, in_both_orders, in_open_orders
from dpaudit.accounting.samples.black_box import black_box
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.accounting.samples.together import together_above, together_attained
from dpaudit.accounting.schemes import drawn_counts, drawn_with_replacement, kept_rate, truncated_shares
from dpaudit.accounting.zeroed import is_cut, zeroed_above, zeroed_attained
from dpaudit.engines.gaussian import total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Billboard, Declaration, Local, Parallel, PostProcess, Release, Subsample, walk
from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
    larger_order,
    outer_losses,
    sampled_atoms,
)
from dpaudit.model.losses.sampled_ratios import absent, sampled_loss
from dpaudit.model.mechanism import is_opposed, is_plugged_in
from dpaudit.model.moves import Move

_LARGEST_MU, _LARGEST_SHIFT = 20.0, 300.0  # of what is moved apart


Drawn: TypeAlias = Callable[[Composition, Subsample], Composition]
"""What becomes of one order of a part on a sample."""
Orders: TypeAlias = Callable[[Alternatives, Callable[[Composition], Iterator[Composition]]], Alternatives]
"""The orders of a part that are read."""


def removed_from_poisson(judgement: Judgement) -> Alternatives:
    """Return a record that a Poisson sample holds or lacks; of several a binomial number, for Gaussian releases."""
    alone, records = _drawn(judgement, _present, in_open_orders), judgement.move.records
    if records > 1 and _sample(judgement).rate > 0 and all(map(on_a_poisson_sample, alone)):
        return tuple(from_a_poisson_sample(held, records) for held in alone)
    return chained(alone, records)


def replaced_on_poisson(judgement: Judgement) -> Alternatives:
    """Return a record that a Poisson sample holds or lacks against another one, which may move the answer back."""
    node, inside = _sample(judgement), judgement.part.above
    one = node.rate > 0 and any(held.parts for held in inside)
    if one and (opposed := _opposed(node)):
        known: Alternatives = (Composition.of(opposed[0]),)
    elif one and not _one_shift(inside) and (whole := together_above(node)):
        known = (whole,)
    else:
        known = _drawn(judgement, _apart, in_both_orders)
    return chained(known, judgement.move.records)


def removed_from_a_set(judgement: Judgement) -> Alternatives:
    """Return a record whose place another one takes; of several a hypergeometric number."""
    alone, node, records = _drawn(judgement, _present, in_both_orders), _sample(judgement), judgement.move.records
    if records == 1 or node.rate == 0:
        return alone
    return tuple(dict.fromkeys(from_a_set(held, node, records) for held in judgement.part.above))


def replaced_in_a_set(judgement: Judgement) -> Alternatives:
    """Return a record of a set of fixed size that has another value."""
    return chained(_drawn(judgement, _exchanged, in_both_orders), judgement.move.records)


def zeroed_in_a_set(judgement: Judgement) -> Alternatives:
    """Return a record of a set of fixed size that is zeroed; against other records it moves twice as far."""
    return chained(_drawn(judgement, _zeroed, in_both_orders), judgement.move.records)


def removed_from_a_cut_sample(judgement: Judgement) -> Alternatives:
    """Return a record that is added to a cut Poisson sample while there is room, and else replaces another one."""
    return _of_one_record(judgement, _drawn(judgement, _truncated, in_both_orders))


def replaced_with_replacement(judgement: Judgement) -> Alternatives:
    """Return a record of which draws with replacement hold a binomial number of copies."""
    return _of_one_record(judgement, _drawn(judgement, _copied, in_both_orders))


def _of_one_record(judgement: Judgement, alone: Alternatives) -> Alternatives:
    """Return what is known of one record; refuse several, whose removals fall on other populations."""
    node = _sample(judgement)
    if judgement.move.records > 1 and node.rate > 0:
        raise UnsupportedError(
            f"'group' over {node.scheme!r} is not covered: the population falls with each record that is removed, and "
            "a sample may hold any number of them. Sample persons, and put the group inside the sample."
        )
    return alone


def _drawn(judgement: Judgement, drawn: Drawn, orders: Orders) -> Alternatives:
    """Return what becomes of each order of a part on a sample; nothing at rate 0, and nothing of nothing.

    Where parallel parts lie in a sample that is cut, one part loses a record and another one gains one. Each set of
    other records may have its own order where the part is read for another record in a record's place.
    """
    node = _sample(judgement)
    if node.rate == 0:
        return (Composition(),)
    inside = judgement.part.above
    if node.scheme == "truncated_poisson" and _holds(node, Parallel):
        inside = (join(inside),)
    if not any(held.parts for held in inside):
        return (Composition(),)
    if judgement.part.move.relation == "replace_one":
        inside = tuple(map(_in_any_order, inside))

    def above(order: Composition) -> Iterator[Composition]:
        yield drawn(order, node) if order.parts else order

    return orders(inside, above)


def _present(composition: Composition, node: Subsample) -> Composition:
    """Return all losses together on one sample that holds the record with its rate."""
    if not _plain(composition):
        return _amplified(composition, node.rate)
    return _sampled(composition, node.rate, upwards=True)


def _apart(composition: Composition, node: Subsample) -> Composition:
    """Return a record against another one, of which a Poisson sample may lack either."""
    if not _plain(composition):
        return _amplified(chain(composition, 2), node.rate)
    moved = _shift(composition, upwards=True)
    return _both(chain(composition, 2), node.rate) if moved is None else _moved_apart(moved, node.rate)


def _exchanged(composition: Composition, node: Subsample) -> Composition:
    """Return a record in the place of another one."""
    return _both(composition, node.rate) if _plain(composition) else _amplified(composition, node.rate)


def _zeroed(composition: Composition, node: Subsample) -> Composition:
    """Return a record or its zero in the place of another record, which moves twice as far as to zero."""
    if node.rate == 1:
        return _present(composition, node)
    if not _plain(composition):
        return _amplified(chain(composition, 2), node.rate)
    if _gaussian(composition) and is_cut(mu := total_mu(composition)[1], node.rate):
        return Composition.of(zeroed_above(mu, node.rate))
    return _both(chain(composition, 2), node.rate)


def poisson_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains that a Poisson sample holds or lacks, or all records of a person."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        alone = _sampled(composition, node.rate, upwards=False) if _even(composition) else Composition()
        several = asked.records(judgement.move) > 1 and on_a_poisson_sample(alone)
        return from_a_poisson_sample(alone, judgement.move.records) if several else alone

    return _drawn_attained(judgement, asked, pair)


def apart_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains against one that moves the answer as far back, on a Poisson sample."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        if opposed := _opposed(node):
            return Composition.of(opposed[1])
        if not _one_shift((composition,)) and (whole := together_attained(node, asked.labels)):
            return whole
        moved = _shift(composition, upwards=False) if _even(composition) else None
        return Composition() if moved is None else _moved_apart(moved, node.rate)

    return _drawn_attained(judgement, asked, pair)


def set_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record of a set of fixed size attains beside copies of one; several are hypergeometrically many."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        alone = _sampled(composition, node.rate, upwards=False) if _even(composition) else Composition()
        removed = judgement.move.name == "remove" and asked.records(judgement.move) > 1
        if not (removed and alone.parts and _gaussian(composition)):
            return alone
        shifts = shifts_of_a_set(node, judgement.move.records, total_mu(composition)[0], above=False)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),)))

    return _drawn_attained(judgement, asked, pair)


def zeroed_in_a_set_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains against its zero among opposite records, or where nothing is known of others."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        if not _even(composition):
            return Composition()
        if asked.together and node.rate < 1 and _gaussian(composition):
            return _zeroed_attained(composition, node.rate)
        return _sampled(composition, node.rate, upwards=False)

    return _drawn_attained(judgement, asked, pair, beside=True)


def cut_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains in a cut Poisson sample beside others that move nothing."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        return _sampled(composition, kept_rate(node), upwards=False) if _even(composition) else Composition()

    return _drawn_attained(judgement, asked, pair)


def copied_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what the copies of a record attain beside copies of another one, of Gaussian releases."""

    def pair(composition: Composition, node: Subsample) -> Composition:
        if not (_even(composition) and _gaussian(composition)):
            return Composition()
        return Composition.of(drawn_with_replacement(node, total_mu(composition)[0]))

    return _drawn_attained(judgement, asked, pair)


def _drawn_attained(judgement: Judgement, asked: Asked, pair: Drawn, *, beside: bool = False) -> Found:
    """Return what `pair` attains on a sample, by the query, if some pair attains the part without it.

    The move counts as attained whatever else the sample holds. Other records that the pair needs exist by assumption,
    or are not needed at all (`beside`): by definition only copies of a record that moves the answer do, or none.
    Edge cases: nothing where no pair is known, as for a part whose loss depends on the order of the neighbours. Of a
    finite one of unknown order the smaller curve of both orders counts. Which of a sample's messages is the record's
    depends on who else is in a sample of bounded size, so that nothing is known of them.
    """
    node = _sample(judgement)
    lacks = not (asked.together or beside) and judgement.rule.needs_others(node)
    unknown = lacks or node.rate == 0 or (node.scheme != "poisson" and _holds(node, Local))

    def attained(composition: Composition) -> Composition:
        if unknown or not composition.parts:
            return Composition()
        return pair(in_either_order(composition), node)

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


def _even(composition: Composition) -> bool:
    """Return whether losses are known of one pair in both orders."""
    return _plain(composition) and composition == composition.reversed()


def _opposed(node: Subsample) -> tuple[Loss, Loss] | None:
    """Return both sides of one release that knows its loss where a sampled record is replaced; None of any other."""
    part = node.part
    while isinstance(part, PostProcess | Billboard):
        part = part.part
    if not isinstance(part, Release) or is_plugged_in(part.mechanism) or not is_opposed(part.mechanism):
        return None
    return part.mechanism.opposed(node.rate)


def _in_any_order(composition: Composition) -> Composition:
    """Return one finite loss as the larger curve of both orders: each set of other records may have its own order."""
    if composition.events != 1:
        return composition
    ((loss, _),) = composition.parts
    return Composition.of(larger_order(loss)) if isinstance(loss, DiscreteLoss) and not loss.symmetric else composition


def _zeroed_attained(composition: Composition, rate: float) -> Composition:
    """Return what a record against its zero attains where all others are opposite, of Gaussian losses."""
    mu = total_mu(composition)[0]
    return Composition.of(zeroed_attained(mu, rate)) if is_cut(mu, rate) else _sampled(composition, rate, upwards=False)


def _plain(composition: Composition) -> bool:
    """Return whether no loss is a choice, of which a sample has no law."""
    return not any(isinstance(loss, ChoiceLoss) for loss, _ in composition.parts)


def _one_shift(alternatives: Alternatives) -> bool:
    """Return whether a part is one shift of Gaussian or Laplace noise, whose pair on a sample has a closed form."""
    return all(_plain(held) and held.parts and _shift(held, upwards=True) for held in alternatives)


def _gaussian(composition: Composition) -> bool:
    """Return whether every loss is Gaussian."""
    return all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)


def _sampled(composition: Composition, rate: float, *, upwards: bool) -> Composition:
    """Return all losses together on one sample that holds the record with probability `rate`."""
    if _gaussian(composition):
        mu = total_mu(composition)[1 if upwards else 0]
        return Composition.of(SampledGaussianLoss(mu=mu, rate=rate) if rate < 1 else GaussianLoss(mu=mu))
    if rate == 1:
        return composition
    ((loss, times), *rest) = composition.parts
    if isinstance(loss, DiscreteLoss) and times == 1 and not rest:
        return Composition.of(outer_losses(sampled_atoms(loss, rate), above=upwards))
    return Composition.of(SampledLoss(inside=composition.parts, rate=rate))


def _joint(composition: Composition) -> Composition:
    """Return Gaussian losses as one, from above."""
    return Composition.of(GaussianLoss(mu=total_mu(composition)[1])) if _gaussian(composition) else composition


def _both(composition: Composition, rate: float) -> Composition:
    """Return what dominates a pair of which either may be the worse: one map for each sign of epsilon.

    Source: Balle, Barthe and Gaboardi (2018), Theorem 1, and joint convexity.
    """
    if rate == 1:
        return composition
    positive = SampledLoss(inside=_joint(composition).parts, rate=rate)
    negative = SampledLoss(inside=_joint(composition.reversed()).parts, rate=rate).reversed()
    return Composition.of(StitchedLoss(positive=positive, negative=negative))


def _shift(composition: Composition, *, upwards: bool) -> GaussianLoss | LaplaceLoss | None:
    """Return the one shift that a part is, or None; None also of one so large that densities there are no numbers."""
    if _gaussian(composition):
        mu = total_mu(composition)[1 if upwards else 0]
        return GaussianLoss(mu=mu) if mu <= _LARGEST_MU else None
    ((loss, times), *rest) = composition.parts
    fits = isinstance(loss, LaplaceLoss) and times == 1 and not rest and loss.shift <= _LARGEST_SHIFT
    return loss if fits and isinstance(loss, LaplaceLoss) else None


def _moved_apart(loss: GaussianLoss | LaplaceLoss, rate: float) -> Composition:
    """Return a sampled record that moves the answer one way against one that moves it the other way.

    Half lines attain both trade-offs at once, against the sample without the record and against the other record.
    Source: Balle, Barthe and Gaboardi (2018), Theorem 1; Neyman and Pearson (1933).
    """
    if rate == 1:
        return chain(Composition.of(loss), 2)
    if isinstance(loss, GaussianLoss):
        above, below = ((0.0, absent(rate)), (loss.mu, rate)), ((-loss.mu, rate), (0.0, absent(rate)))
        return Composition.of(MixtureLoss(above=above, below=below))
    above, below = ((0.0, absent(rate)), (loss.shift, rate)), ((-loss.shift, rate), (0.0, absent(rate)))
    return Composition.of(MixtureLoss(above=above, below=below, noise="laplace"))


def _truncated(composition: Composition, node: Subsample) -> Composition:
    """Return the average over the size of the sample before it was cut.

    While there is room, the record is added to the sample; else it replaces another one.
    """
    if not _plain(composition):
        composition = Composition.of(_boxed(composition))
    if not composition.parts:
        return composition
    replaced = chain(composition, 2)
    options: list[tuple[float, SimpleLoss]] = []
    for weight, rate, room in truncated_shares(node):
        if rate == 1:
            raise UnsupportedError("'subsample' with scheme='truncated_poisson' is covered for a rate below 1.")
        options.append((weight, SampledLoss(inside=_joint(composition if room else replaced).parts, rate=rate)))
    return Composition.of(AverageLoss(options=tuple(options)))


def _copied(composition: Composition, node: Subsample) -> Composition:
    """Return draws with replacement: a binomial number of copies of the record is replaced.

    Source: Balle, Barthe and Gaboardi (2018), Theorem 10.
    """
    if not _plain(composition):
        composition = Composition.of(_boxed(composition))
    if not composition.parts:
        return composition
    options: list[tuple[float, SimpleLoss]] = []
    for weight, copies in drawn_counts(node):
        moved = chain(composition, copies) if copies else Composition.of(LOST)
        if _gaussian(moved):
            options.append((weight, GaussianLoss(mu=total_mu(moved)[1])))
        elif len(moved.parts) == 1 and moved.parts[0][1] == 1:
            options.append((weight, moved.parts[0][0]))
        else:
            raise UnsupportedError(
                "'subsample' with scheme='with_replacement' is covered for one release, or for Gaussian ones; sample "
                "the releases apart."
            )
    whole = AverageLoss(options=tuple(options))
    population, draws = node.population or 1, node.batch_size or 1
    drawn = -math.expm1(draws * math.log1p(-1 / population)) if population > 1 else 1.0
    return _both(Composition.of(whole), min(1.0, drawn * (1 + 1e-14)))


def _amplified(composition: Composition, rate: float) -> Composition:
    """Return a black box of ln(1 + rate (e^epsilon - 1)) and rate delta, either order being the worse one.

    Source: Balle, Barthe and Gaboardi (2018), Theorems 8 and 9.
    """
    box = _boxed(composition)
    epsilon, delta = box.supremum, box.infinite_mass * rate * (1 + 1e-14)
    return Composition.of(
        ApproximateLoss(
            epsilon=min(epsilon, sampled_loss(epsilon, rate) * (1 + 1e-14 + 2.0**-51 * epsilon) + 1e-300)
            * (1 + 2.0**-52),
            delta=min(delta, math.nextafter(1, 0)),
        )
    )


def _boxed(composition: Composition) -> ApproximateLoss | DiscreteLoss:
    """Return the black box that a part is, which also bounds records that are exchanged one after another.

    Raises: UnsupportedError: a part without a largest loss.
    """
    box = black_box(composition)
    if box is None:
        raise UnsupportedError(
            "'subsample' of a part that may be one of several kinds, without a largest loss, is not covered. Sample "
            "each kind apart, or state the part's (epsilon, delta) as a 'stated' node."
        )
    return box
