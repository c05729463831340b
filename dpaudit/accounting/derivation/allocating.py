"""How a part that a record takes part in at secret steps concludes, above and below."""

from collections.abc import Callable

from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.groups import chain
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.maps import even, joint, plain
from dpaudit.accounting.derivation.plans import Asked, Found, each
from dpaudit.accounting.normal_form import Alternatives, both_orders, open_orders
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.accounting.samples.split import LEAST, LONGEST, MOST, split_above
from dpaudit.engines.gaussian import all_gaussian, total_mu
from dpaudit.model.declaration import Allocate
from dpaudit.model.losses import AllocatedLoss, Composition, GaussianLoss


def removed_from_steps(judgement: Judgement) -> Alternatives:
    """Return a record that is met at secret steps or at none.

    Several places in an epoch are composed as so many blocks of steps with one place each: a uniform set of places is a
    uniform choice in random blocks, and the curve is convex. A part that may be one of several kinds, which earlier
    steps may pick, counts as if its steps were known: there are laws of each step for known steps only.
    """
    node = node_of(judgement, Allocate)
    return tuple(dict.fromkeys(_at_some_steps(order, node) for order in open_orders(judgement.part.of_the_run)))


def replaced_at_steps(judgement: Judgement) -> Alternatives:
    """Return a record as one that is removed and one that is added, at one secret step of Gaussian releases.

    Elsewhere its steps count as known.
    """
    node = node_of(judgement, Allocate)
    return tuple(dict.fromkeys(_replaced(order, node) for order in both_orders(judgement.part.of_the_run)))


def steps_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a record attains at secret steps; a zeroed one that counts as absent, if such a one is known of."""
    return _attained(judgement, asked, _at_places)


def apart_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what the sum of an epoch's Gaussian answers shows of two opposite records, where these are known of."""

    def summed(composition: Composition, node: Allocate) -> Composition:
        if not all_gaussian(composition):
            return Composition()
        mu = total_mu(composition)[0] * 2 * node.per_epoch / node.steps**0.5 * (1 - 2.0**-50)
        return Composition.of(GaussianLoss(mu=mu)) * node.epochs

    return _attained(judgement, asked, summed)


def _attained(judgement: Judgement, asked: Asked, pair: Callable[[Composition, Allocate], Composition]) -> Found:
    """Return what `pair` attains, by the query, if some pair attains the part at a known step; else nothing."""
    node = node_of(judgement, Allocate)
    lacks = not asked.together and judgement.rule.needs_others(node)

    def attained(composition: Composition) -> Composition:
        either_order = in_either_order(composition)
        return pair(either_order, node) if either_order.parts and even(either_order) and not lacks else Composition()

    return each(judgement.part.below(asked), attained)


def _at_places(composition: Composition, node: Allocate) -> Composition:
    """Return what a record attains at all its places of an epoch, fresh in every epoch or the same ones again."""
    if node.per_epoch == 1:
        return _placed(composition, node, node.steps, upwards=False)
    if node.per_epoch == node.steps:
        return composition * (node.steps * node.epochs)
    again = node.positions == "repeated"
    inside = joint(composition * node.epochs if again else composition, upwards=False)
    loss = AllocatedLoss(inside=inside.parts, steps=node.steps, places=node.per_epoch)
    return Composition.of(loss) * (1 if again else node.epochs)


def at_one_secret_step(composition: Composition, steps: int) -> Composition:
    """Return the releases of one epoch, met at one secret step out of `steps`."""
    if steps == 1 or not composition.parts:
        return composition
    return Composition.of(AllocatedLoss(inside=composition.parts, steps=steps))


def _at_some_steps(composition: Composition, node: Allocate) -> Composition:
    """Return what dominates one order of a part for a record that is there or not."""
    if not plain(composition):
        return composition * (node.per_epoch * node.epochs)
    size, longer = divmod(node.steps, node.per_epoch)
    parts = [_placed(composition, node, size)] * (node.per_epoch - longer)
    return Composition.total([*parts, *[_placed(composition, node, size + 1)] * longer])


def _replaced(composition: Composition, node: Allocate) -> Composition:
    """Return two records, each at one secret step of Gaussian releases; at known steps otherwise."""
    again = node.positions == "repeated"
    once = node.per_epoch == 1 and (again or node.epochs == 1)
    if once and all_gaussian(composition):
        mu = total_mu(composition * node.epochs)[1]
        if LEAST <= mu <= MOST and 1 < node.steps <= LONGEST:
            return Composition.of(split_above(mu, node.steps))
    return chain(composition, 2) * (node.per_epoch * node.epochs)


def _placed(composition: Composition, node: Allocate, steps: int, *, upwards: bool = True) -> Composition:
    """Return one place among `steps` in every epoch: drawn anew, or the same one again, where what is met adds up."""
    if node.positions == "repeated":
        return at_one_secret_step(joint(composition * node.epochs, upwards=upwards), steps)
    return at_one_secret_step(joint(composition, upwards=upwards), steps) * node.epochs
