"""Shuffled k-ary responses of few users: the law of their counts, for every data set.

A response is the truth or, with the probability k w for w = 1 / (p + k - 1) and p = e^epsilon, one of the k answers at
random. The user in question holds the first or the second answer. Of the others some hold the first one, some the
second, and g third ones. How many responses name a third answer, t, is known from the counts. Those of the g users that
are true are not random; all others are, and name any third answer. So the user in question shows no more than how many
of the t are true.

At worst all g users hold the same third answer, which a random response leaves with probability (k - 3) / (k - 2). For
give the t responses to t of the g users, drawn at random, and swap the common answer with that of whoever is given one:
random responses stay random, and true ones become the truth of users who hold different answers. So the counts of any
other data set follow from those of the common one. Where t exceeds g, at least t - g are random; so many of these are
told apart first, which only adds to what is seen.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.accounting.reports import sticks
from dpaudit.engines.transform import Floats
from dpaudit.model.losses.binomial import binomial_pmf

Response: TypeAlias = tuple[float, float, float, float]
"""The probabilities of the first answer, of the second, of a random third one and of a true third one."""

_NOBODY = np.ones((1, 1, 1))
_ROUNDED, _TINY, _LEAST = 1e-10, 1e-34, 1e-40  # relative: more than rounding makes of sums; cells that are left out


def heights_of_few(*, epsilon: float, users: int, answers: int, at: Floats) -> Floats:
    """Return delta at each epsilon of `at`, increasing and 0 or more, for the worst data set of `users`; rounded up.

    `answers` is 3 or more. The time grows with the sixth power of `users`: about a second for 40.

    >>> float(heights_of_few(epsilon=1.0, users=5, answers=4, at=np.array([0.3]))[0])
    0.079580369...
    """
    largest = np.zeros(len(at))
    for p, q in _pairs(epsilon, users, answers):
        largest = np.maximum(largest, sticks(p, q, at, _ROUNDED))
    return np.minimum(1.0, largest + _TINY)


def counts_beside(*, epsilon: float, users: int, answers: int, held: int) -> tuple[Floats, Floats]:
    """Return the laws of all that the counts show where all others hold one answer: 0, 1, or a third one, 2.

    Beside a third one, one response is told apart where all are third: there both laws are the same, whatever is seen.
    """
    responses = _responses(epsilon, answers)
    law = _NOBODY
    for _ in range(users - 1):
        law = _longer(law, responses[held])
    p, q = (_seen(_longer(law, own), answers) for own in responses[:2])
    return p, q


def _pairs(epsilon: float, users: int, answers: int) -> Iterator[tuple[Floats, Floats]]:
    """Return for every data set of the others what is seen of it and the first answer, and of it and the second one.

    The laws of as many third answers follow one another, from the one with first answers alone to that with none.
    """
    first, second, third = _responses(epsilon, answers)
    alike = _NOBODY
    for same in range(users):
        laws = [alike]
        for _ in range(users - same):
            laws = [*(_longer(law, first) for law in laws), _longer(laws[-1], second)]
        for p, q in pairwise(_seen(law, answers) for law in laws):
            likely = p > _LEAST  # there q is at least e^-30 as much
            yield p[likely], q[likely]
        alike = _longer(alike, third)


def _responses(epsilon: float, answers: int) -> tuple[Response, Response, Response]:
    """Return the responses of users who hold the first answer, the second one, and a third one."""
    p = math.exp(epsilon)
    lie = 1 / (p + answers - 1)
    random = (answers - 2) * lie
    return (p * lie, lie, random, 0.0), (lie, p * lie, random, 0.0), (lie, lie, random, math.expm1(epsilon) * lie)


def _longer(law: Floats, response: Response) -> Floats:
    """Return the law of counts with one response more: of first and second answers, and of true third ones."""
    first, second, random, true = response
    users, _, thirds = law.shape
    longer = np.zeros((users + 1, users + 1, thirds + (true > 0)))
    longer[:-1, :-1, :thirds] = random * law
    longer[1:, :-1, :thirds] += first * law
    longer[:-1, 1:, :thirds] += second * law
    if true:
        longer[:-1, :-1, 1:] += true * law
    return longer


def _seen(law: Floats, answers: int) -> Floats:
    """Return the law of both counts and of how many third responses differ from the common one."""
    users, same = len(law) - 1, law.shape[2] - 1
    rows = _rows(users, same)
    return np.concatenate([(law[rows[n]][:, : n + 1] @ _differing(n, answers)).ravel() for n in range(same + 1)])


@lru_cache(maxsize=2)
def _rows(users: int, same: int) -> tuple[NDArray[np.bool_], ...]:
    """Return the counts of first and second answers by how many third responses are left, `same` at most."""
    first, second = np.indices((users + 1, users + 1))
    left = np.minimum(users - first - second, same)
    return tuple(left == n for n in range(same + 1))


@lru_cache(maxsize=64)
def _differing(left: int, answers: int) -> Floats:
    """Return the law of how many third responses of `left` differ from the common one, by how many are true (rows)."""
    numbers = np.arange(left + 1)
    return binomial_pmf(numbers, left - numbers[:, None], (answers - 3) / (answers - 2))
