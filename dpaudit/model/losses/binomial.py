"""Binomial probabilities, from SciPy's statistics, which take half of a command's start and few declarations need."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.float64]


def _law() -> Any:
    """Return SciPy's binomial law."""
    from scipy.stats import binom

    return binom


def binomial_pmf(counts: NDArray[Any], trials: int | NDArray[Any], chance: float) -> NDArray[Any]:
    """Return the probability of each of `counts` successes in `trials` independent trials.

    Shape: that of `counts` and `trials`, broadcast. Edge cases: 0 where a count is negative or above `trials`.

    >>> binomial_pmf(np.arange(4), 2, 0.5).round(9).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    return np.asarray(_law().pmf(counts, trials, chance))


def binomial_cdf(count: int, trials: int, chance: float) -> float:
    """Return the probability of at most `count` successes in `trials` independent trials.

    >>> binomial_cdf(1, 2, 0.5)
    0.75
    """
    return float(_law().cdf(count, trials, chance))


def binomial_tail(counts: NDArray[Any], trials: int, chance: float) -> NDArray[Any]:
    """Return the probability of more than each of `counts` successes in `trials` independent trials.

    Shape: that of `counts`.

    >>> binomial_tail(np.array([-1, 1, 2]), 2, 0.5).tolist()
    [1.0, 0.25, 0.0]
    """
    return np.asarray(_law().sf(counts, trials, chance))


def binomial_groups(start: int, stop: int, trials: int, chance: float, most: int) -> tuple[Counts, Counts, Weights]:
    """Return the first and the last number of each group of `start` .. `stop` successes, and the groups' probabilities.

    Shape: of all three, as many groups as there are numbers, and `most` at most, which are then equally long.

    >>> [row.tolist() for row in binomial_groups(0, 3, 3, 0.5, 2)]
    [[0, 2], [1, 3], [0.5, 0.5]]
    """
    first = np.arange(start, stop + 1, -(-(stop + 1 - start) // most))
    last = np.append(first[1:] - 1, stop)
    if len(first) > stop - start:
        return first, last, binomial_pmf(first, trials, chance)
    above = binomial_tail(first - 1, trials, chance) - binomial_tail(last, trials, chance)
    below = binomial_tail(trials - last - 1, trials, 1 - chance) - binomial_tail(trials - first, trials, 1 - chance)
    return first, last, np.where(first > trials * chance, above, below)  # no digits cancel on either side
