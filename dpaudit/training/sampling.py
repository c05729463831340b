"""The check of a sampler: what was seen in its draws against the declared law, as one check."""

from collections.abc import Sequence

from dpaudit.checks import count, open_probability
from dpaudit.looks import Look
from dpaudit.model.mechanism import Array
from dpaudit.training.batch_checks import DrawnBatches, sights
from dpaudit.training.check import Check
from dpaudit.training.order_checks import order_sights

NAME = "draws of the sampler"

RULE = "DPA326"


def conform_batches(runs: Sequence[DrawnBatches], *, significance: float = 1e-6) -> Check:
    """Return whether the batches of independent runs were drawn as their law says.

    Sizes of batches, how often each record was drawn, in which batches, with which others, and again in later ones.
    Rule: `DPA326` a sampler that does not draw as declared.
    Guarantee: a sampler that draws as declared is flagged with probability at most `significance`, where counts are
    binomial, as those of single records in Poisson samples. Other counts spread less; that their tails are smaller
    was seen in simulation and is not proved.

    >>> import numpy as np
    >>> epoch = (np.arange(50), np.arange(50, 100))
    >>> conform_batches([DrawnBatches.dealt(epoch * 2, records=100, number=2)]).rule
    'DPA326'
    """
    return _check(sights(runs), open_probability("significance", significance))


def conform_orders(orders: Sequence[Array], users: int, *, significance: float = 1e-6) -> Check:
    """Return whether secret orders of users are uniform and fresh; an order holds the number of the user at each place.

    Everybody once; users and places; who follows whom in the data; the same places in later orders. Shape: (users,).
    Rule and guarantee: those of `conform_batches`.

    >>> import numpy as np
    >>> conform_orders([np.arange(50)] * 3, 50).rule
    'DPA326'
    """
    seen = order_sights(orders, count("users", users))
    return _check(seen, open_probability("significance", significance))


def _check(seen: Sequence[Look], significance: float) -> Check:
    """Return the check of all that was seen: wrong where one sight is too improbable, the first such one in words."""
    share = significance / max(1, len(seen))
    worst = min(seen, key=lambda sight: sight.probability)
    wrong = worst.probability < share
    looked = ", ".join(sight.name for sight in seen)
    return Check(
        name=NAME,
        observed=worst.probability,
        declared=share,
        rule=RULE if wrong else "",
        message=f"The sampler does not draw as declared: {worst.words}" if wrong else "",
        agrees=f"Batches were drawn as declared, as far as this was seen: {looked}.",
    )
