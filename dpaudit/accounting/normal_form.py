"""The normal form of a declaration: alternatives, each a multiset of privacy losses."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dpaudit.model.losses import Composition

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


def in_both_orders(alternatives: Alternatives, above: Callable[[Composition], Iterable[Composition]]) -> Alternatives:
    """Return what `above` yields for every alternative in both orders of the neighbours, each once."""
    orders = (order for held in alternatives for order in dict.fromkeys((held, held.reversed())))
    return tuple(dict.fromkeys(upper for order in orders for upper in above(order)))
