"""Binomial probabilities, from SciPy's statistics, which take half of a command's start and few declarations need."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def binomial_pmf(counts: NDArray[Any], trials: int, chance: float) -> NDArray[Any]:
    """Return the probability of each of `counts` successes in `trials` independent trials.

    Shape: that of `counts`. Edge cases: 0 where a count is negative or above `trials`.

    >>> binomial_pmf(np.arange(4), 2, 0.5).round(9).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    from scipy.stats import binom

    return np.asarray(binom.pmf(counts, trials, chance))


def binomial_cdf(count: int, trials: int, chance: float) -> float:
    """Return the probability of at most `count` successes in `trials` independent trials.

    >>> binomial_cdf(1, 2, 0.5)
    0.75
    """
    from scipy.stats import binom

    return float(binom.cdf(count, trials, chance))


def binomial_tail(counts: NDArray[Any], trials: int, chance: float) -> NDArray[Any]:
    """Return the probability of more than each of `counts` successes in `trials` independent trials.

    Shape: that of `counts`.

    >>> binomial_tail(np.array([-1, 1, 2]), 2, 0.5).tolist()
    [1.0, 0.25, 0.0]
    """
    from scipy.stats import binom

    return np.asarray(binom.sf(counts, trials, chance))
