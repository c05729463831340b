"""The loss of a release whose queries may choose which of both laws the record has."""

from dpaudit.model.claim import Neighbours
from dpaudit.model.losses.both_orders import larger_order
from dpaudit.model.losses.composed import ChoiceLoss, ComposedLoss, Loss, SimpleLoss
from dpaudit.model.losses.discrete import DiscreteLoss


def in_any_order(loss: Loss, neighbours: Neighbours) -> Loss:
    """Return what dominates the releases of a run, each of which may have `loss` or its reverse.

    A finite loss that is not symmetric becomes the larger curve of both orders, unless its author says that it has one
    order (`DiscreteLoss.one_order`). Of a loss of another kind that is not symmetric the record's law is the first one,
    so that only a replaced record has both orders. Symmetric losses are returned as they are.

    >>> sided = DiscreteLoss(atoms=((-0.5, 0.5),), infinite_mass=0.5, reverse_infinite_mass=0.1756393646499359)
    >>> in_any_order(sided.reversed(), "add_remove").infinite_mass
    0.5
    >>> from dataclasses import replace
    >>> in_any_order(replace(sided, one_order=True).reversed(), "add_remove").infinite_mass
    0.1756393646499359
    """
    if isinstance(loss, ComposedLoss):
        return ComposedLoss(parts=tuple((_each(part, neighbours), times) for part, times in loss.parts))
    return _each(loss, neighbours)


def _each(loss: SimpleLoss, neighbours: Neighbours) -> SimpleLoss:
    """Return the same for a loss that is not composed."""
    if isinstance(loss, DiscreteLoss):
        return loss if loss.symmetric or loss.one_order else larger_order(loss)
    back = loss.reversed()
    if isinstance(loss, ChoiceLoss) or neighbours != "replace_one" or back == loss or isinstance(back, ChoiceLoss):
        return loss
    return ChoiceLoss(options=(loss, back))
