"""Limits on the error rates of every threshold at once: one local level for all Clopper-Pearson limits of a sample.

With U_(1) < ... < U_(n) the order statistics of n uniform numbers, the tail probability of the i-th largest score is
at most U_(i). Upper limits that hold for all thresholds together are numbers b_1 < b_2 < ... with
P(U_(i) <= b_i for all i) >= 1 - significance. The probability is exact: a Poisson process, conditioned on n points,
stays above the boundary. Ties only widen the limits.
Source: Moscovich and Nadler (2017) for the computation; Aldor-Noiman et al. (2013) for equal local levels.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, xlogy

from audits.bounds.binomial import proportion_upper
from dpaudit.checks import count, open_probability
from dpaudit.model.mechanism import Array

_EVERY = 1_000
"""Up to so many scores every threshold has a limit of its own."""
_SPREAD = 200
_NEGLIGIBLE = 1e-13
_SAFETY = 1e-6


@lru_cache(maxsize=64)
def local_level(scores: int, significance: float) -> float:
    """Return the level of each limit such that all limits of `scores` scores hold with 1 - `significance`.

    For more than 1,000 scores limits stand at about 400 ranks, and other counts take the next one above.
    Raises: ValueError: no score, or `significance` outside (0, 1).

    >>> round(local_level(20, 0.025), 6)
    0.002378
    """
    count("scores", scores)
    open_probability("significance", significance)
    ranks = _ranks(scores)

    def surplus(log_level: float) -> float:
        return _crossing(scores, ranks, math.exp(log_level)) / significance - 1

    low, high = math.log(significance / len(ranks)), math.log(significance)
    if len(ranks) == 1 or surplus(low) >= 0:
        return math.exp(low)
    log_root = float(brentq(surplus, low, high, xtol=1e-7))
    return math.exp(log_root) * (1 - _SAFETY)


def tail_limits(counts: Array, scores: int, significance: float) -> Array:
    """Return upper limits on P(score >= t) at every threshold t, from how many of `scores` scores reach it.

    Shape: as `counts`. Guarantee: all limits, at all thresholds together, hold with probability at least
    1 - `significance`, for independent scores of any law. Edge cases: 1 where every score reaches the threshold.
    """
    ranks = _ranks(scores)
    reached = np.asarray(counts, dtype=int)
    index = np.searchsorted(ranks, reached + 1)
    used = np.where(index < len(ranks), ranks[np.minimum(index, len(ranks) - 1)] - 1, scores)
    limits_at, where = np.unique(used, return_inverse=True)
    return proportion_upper(limits_at, float(scores), local_level(scores, significance))[where]


def _ranks(scores: int) -> Array:
    """Return the ranks that have limits of their own, in increasing order."""
    if scores <= _EVERY:
        return np.arange(1, scores + 1)
    near = np.unique(np.geomspace(1, scores / 2, _SPREAD).astype(int))
    return np.unique(np.concatenate([near, scores + 1 - near]))


def _crossing(scores: int, ranks: Array, level: float) -> float:
    """Return P(U_(i) > b_i for some i in `ranks`), b_i the limit of level `level`.

    States are the numbers of points so far; those of negligible probability are dropped, which counts as a crossing.
    """
    ends = proportion_upper(ranks - 1, float(scores), level)
    state, first, before = np.ones(1), 0, 0.0
    final = float(_poisson(np.array(scores), float(scores)))
    for rank, end in zip(ranks.tolist(), ends.tolist(), strict=True):
        state = np.convolve(state, _increments(scores * (end - before)))
        before = end
        if rank > first:
            state, first = state[rank - first :], rank
        if first + len(state) > scores + 1:
            state = state[: scores + 1 - first]
        heavy = np.flatnonzero(state > _NEGLIGIBLE * final)
        if len(heavy) == 0:
            return 1.0
        state, first = state[heavy[0] : heavy[-1] + 1], first + int(heavy[0])
    missing = scores - first - np.arange(len(state))
    staying = float((state * _poisson(missing, scores * (1 - before))).sum())
    return min(1.0, max(0.0, 1 - staying / final))


def _increments(mean: float) -> Array:
    """Return the probabilities of 0, 1, 2, ... points of a Poisson variable, up to a negligible tail."""
    if mean <= 0:
        return np.ones(1)
    last = int(mean + 12 * math.sqrt(mean) + 30)
    return _poisson(np.arange(last + 1), mean)


def _poisson(points: Array, mean: float) -> Array:
    """Return the probabilities of numbers of points of a Poisson variable."""
    return np.exp(xlogy(points, mean) - mean - gammaln(points + 1.0))
