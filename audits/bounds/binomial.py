"""Bisection, exact one-sided limits of a binomial proportion, and binomial tails."""

from collections.abc import Callable

import numpy as np
from scipy.special import betainc, betaincinv

from dpaudit.model.mechanism import Array


def bisected(holds: Callable[[float], bool], low: float, high: float, steps: int) -> tuple[float, float]:
    """Return the interval that `steps` halvings leave of [low, high]: `holds` at the lower end, not at the upper end.

    `holds` must be true at `low`, false at `high`, and change once; the ends themselves are not evaluated.

    >>> bisected(lambda x: x * x < 2, 0.0, 2.0, 20)[0].__round__(5)
    1.41421
    """
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def largest_refuted(refuted: Callable[[float], bool], limit: float, steps: int) -> float:
    """Return the upper end, up to `limit`, of the refuted numbers from 0, rounded down by `steps` halvings, or 0.

    >>> round(largest_refuted(lambda number: number < 2, 8.0, 30), 6)
    2.0
    """
    return bisected(refuted, 0.0, limit, steps)[0] if refuted(0.0) else 0.0


def least_count(accepts: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest whole number above `low` that is accepted, or `high` where none below `high` is.

    `accepts` must change once, from false to true; the ends themselves are not evaluated.

    >>> least_count(lambda k: k * k >= 10, -1, 100)
    4
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(middle) else (middle, high)
    return high


def proportion_lower(successes: Array | float, trials: Array | float, significance: float) -> Array:
    """Return the lower limit of a proportion that is wrong with probability at most `significance`.

    Edge cases: 0 for no success. Broadcasts over arrays; counts need not be whole (for predictions).
    Source: Clopper and Pearson (1934), one-sided.

    >>> float(proportion_lower(10, 10, 0.05).round(4))
    0.7411
    """
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    return np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, significance), 0.0)


def proportion_upper(successes: Array | float, trials: Array | float, significance: float) -> Array:
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
