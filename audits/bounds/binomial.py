"""Exact one-sided limits of a binomial proportion, and binomial tails."""

import numpy as np
from scipy.special import betainc, betaincinv

from audits.bounds.bisection import least_count
from dpaudit.model.mechanism import Array


def proportion_lower(successes: Array | float, trials: Array | float, significance: Array | float) -> Array:
    """Return the lower limit of a proportion that is wrong with probability at most `significance`.

    Edge cases: 0 for no success. Broadcasts over arrays; counts need not be whole (for predictions).
    Source: Clopper and Pearson (1934), one-sided.

    >>> float(proportion_lower(10, 10, 0.05).round(4))
    0.7411
    """
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    return np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, significance), 0.0)


def proportion_upper(successes: Array | float, trials: Array | float, significance: Array | float) -> Array:
    """Return the upper limit of a proportion that is wrong with probability at most `significance`.

    Edge cases: 1 when every trial succeeds, 1 - significance^(1/n) for no success.
    Source: Clopper and Pearson (1934), one-sided.
    """
    n = np.asarray(trials, dtype=float)
    return 1 - proportion_lower(n - np.asarray(successes, dtype=float), n, significance)


def tail(successes: Array | float, trials: Array | float, probability: Array | float) -> Array:
    """Return P(B >= successes) for B ~ Bin(trials, probability)."""
    k, n, p = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (successes, trials, probability)))
    inside = (k > 0) & (k <= n)
    middle = betainc(np.where(inside, k, 1.0), np.where(inside, n - k + 1, 1.0), p)
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, middle))


def tail_quantile(trials: int, probability: float, significance: float) -> int:
    """Return the smallest k with P(B > k) <= significance for B ~ Bin(trials, probability).

    >>> tail_quantile(20_000, 1e-5, 0.005)
    2
    """
    if probability == 0:
        return 0
    return least_count(lambda k: bool(tail(k + 1, trials, probability) <= significance), -1, trials)
