"""Tests of secret orders: everybody once, everywhere equally often, beside nobody in particular, afresh each time."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dpaudit.looks import Look, Search, binomial_tails
from dpaudit.model.mechanism import Array

_STRETCHES = (1, 2, 4, 8, 16)


def order_sights(orders: Sequence[Array], users: int) -> tuple[Look, ...]:
    """Return what is seen in independent orders; an order holds the number of the user at each place.

    Shape: (users,) each. Cells of users and places are compared with binomial counts, which spread more widely.
    Equal places and followers have the factorial moments of a Poisson variable of mean 1 an order, as far as they go,
    so that the bound of Chernoff for that variable holds of them.

    >>> [sight.name for sight in order_sights([np.arange(50)] * 3, 50) if sight.probability < 1e-9]
    ['users and places', 'who follows whom', 'the same place again']
    """
    held = [np.asarray(order, dtype=np.int64) for order in orders]
    wrong = sum(not np.array_equal(np.sort(order), np.arange(users)) for order in held)
    says = f"{wrong} of {len(held)} orders do not hold each of {users} users once." if wrong else ""
    everybody = Look(name="everybody once", probability=0.0 if wrong else 1.0, words=says)
    if wrong or not held:
        return (everybody,)
    return (everybody, *(sight for find in (_places, _followers, _again) for sight in find(held, users)))


def _places(orders: list[Array], users: int) -> Iterator[Look]:
    """Yield the stretch of places at which a stretch of users stands too often or too seldom."""
    search = Search()
    for count in (number for number in (*_STRETCHES, users) if number <= users and number**2 <= 1 << 16):
        of = np.arange(users) * count // users
        table = np.zeros((count, count))
        for order in orders:
            table += np.bincount(of * count + of[order], minlength=count**2).reshape(count, count)
        widths = np.bincount(of, minlength=count)
        if at := search.stranger(binomial_tails(table, len(orders) * widths[:, None], widths / users)):
            row, column = at
            expected = len(orders) * widths[row] * widths[column] / users
            search.words = (
                f"Stretch {column + 1} of {count} of the users stood {int(table[row, column])} times in stretch "
                f"{row + 1} of {count} of the places; {expected:.5g} are declared."
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
        same = sum(int((one == other).sum()) for one, other in zip(orders[:-lag], orders[lag:], strict=True))
        pairs = len(orders) - lag
        if search.stranger(_more_than(same, pairs), sides=1) is not None:
            search.words = f"{same} of {pairs * users} users stand where they stood {lag} orders before."
    if search.looks:
        yield search.look("the same place again")


def _more_than(seen: int, mean: int) -> float:
    """Return the bound of Chernoff on the probability that a Poisson variable is so much above its mean."""
    return math.exp(min(0.0, seen - mean - seen * math.log(seen / mean))) if seen > mean else 1.0
