"""Random allocation: what a part delivers when a record takes part in it at secret steps."""

from collections.abc import Iterator

from dpaudit.accounting.normal_form import Alternatives, in_both_orders, in_open_orders
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.accounting.samples.split import LEAST, LONGEST, MOST, split_above
from dpaudit.engines.gaussian import total_mu
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Allocate
from dpaudit.model.losses import AllocatedLoss, ChoiceLoss, Composition, GaussianLoss
from dpaudit.model.sampled_relations import needs_others


def allocated_above(alternatives: Alternatives, node: Allocate, neighbours: Neighbours) -> Alternatives:
    """Return upper alternatives for a part at the secret steps of `node`, read for `neighbours`.

    Several places in an epoch are composed as so many blocks of steps with one place each: a uniform set of places is a
    uniform choice in random blocks, and the curve is convex. A replaced record counts as one that is removed and one
    that is added where it meets one secret step of Gaussian releases, else as if its steps were known. So does a part
    that may be one of several kinds, which earlier steps may pick: there are laws of each step for known steps only.
    """
    orders = in_both_orders if neighbours == "replace_one" else in_open_orders
    return orders(alternatives, lambda order: _above(order, node, neighbours))


def allocated_attained(
    composition: Composition, node: Allocate, neighbours: Neighbours, *, beside: bool = True
) -> Composition:
    """Return what a pair attains at the secret steps of `node`, if some pair attains `composition` at a known one.

    With a replaced record it is what the sum of an epoch's Gaussian answers shows of two opposite records. `beside`
    says that what a pair needs is there (`needs_others`): the opposite record, or a zeroed one that counts as absent.
    Edge cases: nothing where no pair is known.
    """
    composition = in_either_order(composition)
    if not composition.parts or composition != composition.reversed():
        return Composition()
    if not beside and needs_others(node, neighbours):
        return Composition()
    if any(isinstance(loss, ChoiceLoss) for loss, _ in composition.parts):
        return Composition()
    if neighbours != "replace_one":
        return _at_places(composition, node)
    if not all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts):
        return Composition()
    mu = total_mu(composition)[0] * 2 * node.per_epoch / node.steps**0.5 * (1 - 2.0**-50)
    return Composition.of(GaussianLoss(mu=mu)) * node.epochs


def _at_places(composition: Composition, node: Allocate) -> Composition:
    """Return what a record attains at all its places of an epoch, fresh in every epoch or the same ones again."""
    if node.per_epoch == 1:
        return _placed(composition, node, node.steps, upwards=False)
    if node.per_epoch == node.steps:
        return composition * (node.steps * node.epochs)
    again = node.positions == "repeated"
    inside = _joint(composition * node.epochs if again else composition, upwards=False)
    loss = AllocatedLoss(inside=inside.parts, steps=node.steps, places=node.per_epoch)
    return Composition.of(loss) * (1 if again else node.epochs)


def at_one_secret_step(composition: Composition, steps: int) -> Composition:
    """Return the releases of one epoch, met at one secret step out of `steps`."""
    if steps == 1 or not composition.parts:
        return composition
    return Composition.of(AllocatedLoss(inside=composition.parts, steps=steps))


def _above(composition: Composition, node: Allocate, neighbours: Neighbours) -> Iterator[Composition]:
    """Yield what dominates one order of a part."""
    if neighbours == "replace_one":
        yield _replaced(composition, node)
        return
    if any(isinstance(loss, ChoiceLoss) for loss, _ in composition.parts):
        yield composition * (node.per_epoch * node.epochs)
        return
    size, longer = divmod(node.steps, node.per_epoch)
    parts = [_placed(composition, node, size)] * (node.per_epoch - longer)
    yield Composition.total([*parts, *[_placed(composition, node, size + 1)] * longer])


def _replaced(composition: Composition, node: Allocate) -> Composition:
    """Return two records, each at one secret step of Gaussian releases; at known steps otherwise."""
    again = node.positions == "repeated"
    once = node.per_epoch == 1 and (again or node.epochs == 1)
    if once and all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts):
        mu = total_mu(composition * node.epochs)[1]
        if LEAST <= mu <= MOST and 1 < node.steps <= LONGEST:
            return Composition.of(split_above(mu, node.steps))
    return composition.group(2) * (node.per_epoch * node.epochs)


def _placed(composition: Composition, node: Allocate, steps: int, *, upwards: bool = True) -> Composition:
    """Return one place among `steps` in every epoch: drawn anew, or the same one again, where what is met adds up."""
    if node.positions == "repeated":
        return at_one_secret_step(_joint(composition * node.epochs, upwards=upwards), steps)
    return at_one_secret_step(_joint(composition, upwards=upwards), steps) * node.epochs


def _joint(composition: Composition, *, upwards: bool) -> Composition:
    """Return Gaussian losses as one."""
    if all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts):
        return Composition.of(GaussianLoss(mu=total_mu(composition)[1 if upwards else 0]))
    return composition
