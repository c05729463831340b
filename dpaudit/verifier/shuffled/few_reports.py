"""Shuffled k-ary responses of few users, derived again: what the counts show, for every data set of the others.

The others hold the first answer, the second, or third ones, which are worst where all are the same (the theorem is in
`dpaudit.accounting.few_reports`). A law has axes for the counts of first and second answers and of true third ones.
"""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dpaudit.verifier.refusals import Array

_UP, _SEEN = 1e-10, 1e-40  # relative: more than rounding makes of sums; cells that are less likely are left out


def worst_of_few(users: int, epsilon: float, answers: int, x: Array) -> Array:
    """Return delta at each x = e^epsilon, in increasing order, for the worst data set; no more than rounding below."""
    first, second, third = _chances(epsilon, answers)
    heights, alike = np.zeros(len(x)), np.ones((1, 1, 1))
    for same in range(users):
        laws = [alike]
        for _ in range(users - same):
            laws = [*(_beside(law, *first) for law in laws), _beside(laws[-1], *second)]
        for before, after in pairwise(_shown(law, answers) for law in laws):
            likely = before > _SEEN  # the other law has at least e^-30 as much there
            places = np.searchsorted(x, before[likely] / after[likely])
            p, q = (np.bincount(places, law[likely], len(x) + 1)[::-1].cumsum()[::-1][1:] for law in (before, after))
            heights = np.maximum(heights, p * (1 + _UP) - x * q * (1 - _UP))
        alike = _beside(alike, *third)
    return heights


def shown_beside(users: int, epsilon: float, answers: int, common_answer: int) -> tuple[Array, Array]:
    """Return what the counts show of both answers where all others hold one of them, 0 or 1, or a third one, 2."""
    chances = _chances(epsilon, answers)
    law = np.ones((1, 1, 1))
    for _ in range(users - 1):
        law = _beside(law, *chances[common_answer])
    return _shown(_beside(law, *chances[0]), answers), _shown(_beside(law, *chances[1]), answers)


def _chances(epsilon: float, answers: int) -> list[tuple[float, float, float, float]]:
    """Return how likely a first, a second, a random third and a true third answer are, by what a user holds."""
    lie = 1 / (math.exp(epsilon) + answers - 1)
    truth, third = math.exp(epsilon) * lie, (answers - 2) * lie
    return [(truth, lie, third, 0.0), (lie, truth, third, 0.0), (lie, lie, third, truth - lie)]


def _beside(law: Array, first: float, second: float, third: float, true: float) -> Array:
    """Return a law with one user more."""
    deep = law.shape[2]
    longer = np.zeros((len(law) + 1, len(law) + 1, deep + bool(true)))
    shifts = ((1, 0, 0, first), (0, 1, 0, second), (0, 0, 0, third), (0, 0, 1, true))
    for down, right, inwards, chance in shifts:
        if chance:
            longer[down : len(law) + down, right : len(law) + right, inwards : deep + inwards] += chance * law
    return longer


def _shown(law: Array, answers: int) -> Array:
    """Return the law of both counts, and of how many of the third responses differ from the common answer.

    Third responses beyond the number of users who hold the common answer are told apart as random ones.
    """
    users, same = len(law) - 1, law.shape[2] - 1
    left = np.minimum(same, users - np.add.outer(np.arange(users + 1), np.arange(users + 1)))
    cells = (law[left == third][:, : third + 1] @ _differing(third, answers) for third in range(same + 1))
    return np.concatenate([np.ravel(cell) for cell in cells])


@lru_cache(maxsize=64)
def _differing(third: int, answers: int) -> Array:
    """Return how likely each number of different answers is, by how many of the third responses are true (rows)."""
    leaves, numbers = (answers - 3) / (answers - 2), range(third + 1)
    return np.array([[_binomial(n, third - true, leaves) for n in numbers] for true in numbers])


def _binomial(count: int, trials: int, rate: float) -> float:
    """Return the probability of a binomial number; 0 of an impossible one."""
    return math.comb(trials, count) * rate**count * (1 - rate) ** (trials - count) if count <= trials else 0.0
