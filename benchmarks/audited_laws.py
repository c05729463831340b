"""Functions of known epsilon, each on a pair that attains it, with the log likelihood ratio of its outputs.

Each returns run(data, rng, n_runs), the pair and score(outputs).
"""

from functools import partial

import numpy as np


def laplace(columns, epsilon):
    """Return Laplace noise on columns that all move by one."""
    scale = columns / epsilon

    def score(outputs):
        return ((np.abs(outputs) - np.abs(outputs - 1)) / scale).sum(axis=1)

    pair = np.zeros(columns), np.ones(columns)
    return lambda x, r, n: x + r.laplace(0, scale, (n, columns)), pair, score


def bits(columns, epsilon):
    """Return randomised bits that all change."""
    keep = 1 / (1 + np.exp(-epsilon / columns))

    def score(outputs):
        return (2.0 * outputs - 1).sum(axis=1) * epsilon / columns

    pair = np.zeros(columns, int), np.ones(columns, int)
    return lambda x, r, n: np.where(r.random((n, columns)) < keep, x, 1 - x), pair, score


def response(answers, epsilon):
    """Return a randomised response of so many answers."""
    keep = np.exp(epsilon) / (np.exp(epsilon) + answers - 1)

    def run(x, r, n):
        kept, others = r.random(n) < keep, r.integers(0, answers - 1, n)
        return np.where(kept, x, others + (others >= x))

    return run, (0, 1), partial(first_or_second, epsilon)


def histogram(cells, epsilon):
    """Return Laplace noise on the cells of a histogram, of which one moves by one."""

    def score(outputs):
        return epsilon * (np.abs(outputs[:, 0]) - np.abs(outputs[:, 0] - 1))

    pair = np.zeros(cells), np.eye(cells)[0]
    return lambda x, r, n: x + r.laplace(0, 1 / epsilon, (n, cells)), pair, score


def single(changed, epsilon):
    """Return Laplace noise on one number, which is `changed` afterwards."""
    return lambda x, r, n: changed(x + r.laplace(0, 1 / epsilon, n)), (0.0, 1.0), partial(nearer_one, epsilon)


def geometric(epsilon):
    """Return two-sided geometric noise on a whole number."""
    share = 1 - np.exp(-epsilon)
    return lambda x, r, n: x + r.geometric(share, n) - r.geometric(share, n), (0, 1), partial(nearer_one, epsilon)


def nearer_one(epsilon, outputs):
    """Return epsilon for outputs beyond 1, -epsilon for those below 0, and what lies between for the others."""
    return epsilon * (np.abs(outputs) - np.abs(outputs - 1))


def first_or_second(epsilon, outputs):
    """Return epsilon for the second answer, -epsilon for the first one and 0 for all others."""
    return epsilon * ((outputs == 1) * 1.0 - (outputs == 0))


def clipped(outputs):
    """Return outputs within -1 and 2."""
    return np.clip(outputs, -1, 2)


def rounded(outputs):
    """Return outputs in tenths."""
    return np.round(outputs, 1)
