"""The check of a sampler or of shuffled orders: what was seen in the draws against the declared law, as one check."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dpaudit.checks import count, open_probability
from dpaudit.looks import Look, Search, binomial_tails
from dpaudit.model.mechanism import Array
from dpaudit.training.batch_checks import DrawnBatches, sights
from dpaudit.training.check import Check

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


_STRETCHES = (1, 2, 4, 8, 16)


def order_sights(orders: Sequence[Array], users: int) -> tuple[Look, ...]:
    """Return what is seen in independent orders; an order holds the number of the user at each place.

    Shape: (users,) each. Cells of users and places are compared with binomial counts, which spread more widely.
    Equal places and followers have the factorial moments of a Poisson variable of mean 1 an order, as far as they go,
    so that the bound of Chernoff for that variable holds of them.

    >>> [sight.name for sight in order_sights([np.arange(50)] * 3, 50) if sight.probability < 1e-9]
    ['users and places', 'who follows whom', 'the same place again']
    """
    numbers = [np.asarray(order, dtype=np.int64) for order in orders]
    wrong = sum(not np.array_equal(np.sort(order), np.arange(users)) for order in numbers)
    says = f"{wrong} of {len(numbers)} orders do not hold each of {users} users once." if wrong else ""
    everybody = Look(name="everybody once", probability=0.0 if wrong else 1.0, words=says)
    if wrong or not numbers:
        return (everybody,)
    return (everybody, *(sight for find in (_places, _followers, _again) for sight in find(numbers, users)))


def _places(orders: list[Array], users: int) -> Iterator[Look]:
    """Yield the stretch of places at which a stretch of users stands too often or too seldom."""
    search = Search()
    for stretches in (number for number in (*_STRETCHES, users) if number <= users and number**2 <= 1 << 16):
        of = np.arange(users) * stretches // users
        table = np.zeros((stretches, stretches))
        for order in orders:
            table += np.bincount(of * stretches + of[order], minlength=stretches**2).reshape(stretches, stretches)
        widths = np.bincount(of, minlength=stretches)
        if at := search.stranger(binomial_tails(table, len(orders) * widths[:, None], widths / users)):
            row, column = at
            expected = len(orders) * widths[row] * widths[column] / users
            search.words = (
                f"Stretch {column + 1} of {stretches} of the users stood {int(table[row, column])} times in stretch "
                f"{row + 1} of {stretches} of the places; {expected:.5g} are declared."
            )
    yield search.look("users and places")


def _followers(orders: list[Array], users: int) -> Iterator[Look]:
    """Yield the distance at which one user follows another too often, in the order of the data."""
    if users < 3:
        return
    steps = np.concatenate([np.diff(order) % users for order in orders])
    times = np.bincount(steps, minlength=users)[1:]
    most = int(times.max())
    tail = _more_than(most, len(orders))
    says = f"{most} of {len(steps)} users are followed by the one {int(times.argmax()) + 1} further on in the data."
    yield Look(name="who follows whom", probability=min(1.0, tail * (users - 1)), words=says)


def _again(orders: list[Array], users: int) -> Iterator[Look]:
    """Yield how many users stand at the same place in an order and in one so many orders later."""
    search = Search()
    for lag in range(1, min(len(orders), 64)):
        same = sum(int((earlier == later).sum()) for earlier, later in zip(orders[:-lag], orders[lag:], strict=True))
        pairs = len(orders) - lag
        if search.stranger(_more_than(same, pairs), sides=1) is not None:
            search.words = f"{same} of {pairs * users} users stand where they stood {lag} orders before."
    if search.looks:
        yield search.look("the same place again")


def _more_than(seen: int, mean: int) -> float:
    """Return the bound of Chernoff on the probability that a Poisson variable is so much above its mean."""
    return math.exp(min(0.0, seen - mean - seen * math.log(seen / mean))) if seen > mean else 1.0
