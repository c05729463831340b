"""The normal form of a declaration: alternatives, each a multiset of privacy losses."""

from dataclasses import dataclass

from dpaudit.model.losses import (
    AllocatedLoss,
    Composition,
    DiscreteLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
)

Alternatives = tuple[Composition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalForm:
    """Alternatives for the upper bound and for the lower one; a neighbouring pair meets one of them.

    Both speak of the releases themselves: what post-processing hides is not credited to either side.
    Guarantee: every pair of neighbouring data sets has a loss dominated by some member of `upper`, and every member
    of `lower` is the loss of one pair, if each stated sensitivity is attained by some pair.

    >>> from dpaudit import Release, fold
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> fold(Release(label="count", mechanism=noise), "replace_one").upper[0].parts
    ((LaplaceLoss(shift=0.5), 1),)
    """

    upper: Alternatives
    lower: Alternatives


def both_orders(alternatives: Alternatives) -> Alternatives:
    """Return the alternatives in both orders of the neighbours, each once."""
    return tuple(dict.fromkeys(order for way in alternatives for order in (way, way.reversed())))


def open_orders(alternatives: Alternatives) -> Alternatives:
    """Return the same where a record is there or not: what it has met of samples and steps has its law first already.

    A law of one order that a mechanism states may be that of the record or that without it, so that both are read.
    """
    orders = (order for way in alternatives for order in ((way, way.reversed()) if _open(way) else (way,)))
    return tuple(dict.fromkeys(orders))


def _open(composition: Composition) -> bool:
    """Return whether some loss does not say which of its laws is that of the record."""
    return any(not _known(loss) and loss != loss.reversed() for loss, _ in composition.parts)


def _known(loss: SimpleLoss) -> bool:
    """Return whether the first law is that of the record, if both laws differ."""
    if isinstance(loss, DiscreteLoss):
        return not loss.one_order
    return isinstance(loss, SampledGaussianLoss | SampledLoss | AllocatedLoss | MixtureLoss)
