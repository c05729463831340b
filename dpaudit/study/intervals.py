"""Student intervals of a mean, and of the mean of paired differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean of `count` values with its standard error, and the ends of its interval at error `alpha`.

    Guarantee: the interval covers the mean of the values' law with probability 1 - alpha where the values are
    independent and normal; else it is approximate. With one value the ends are infinite.
    """

    mean: float
    error: float
    lower: float
    upper: float
    count: int


def student(values: Sequence[float], alpha: float) -> Interval:
    """Return the Student interval of a mean, with as many degrees of freedom as values less one.

    Edge cases: equal values give an interval of width 0; one value gives an infinite one.
    Raises: ValueError: no value.

    >>> round(student([1.0, 3.0], 0.5).lower, 9)
    1.0
    """
    if not values:
        raise ValueError("Expected one value or more for an interval.")
    sample = np.asarray(values, dtype=np.float64)
    mean, number = float(sample.mean()), len(sample)
    if number == 1:
        return Interval(mean=mean, error=math.nan, lower=-math.inf, upper=math.inf, count=1)
    error = float(sample.std(ddof=1)) / math.sqrt(number)
    reach = float(special.stdtrit(number - 1, 1 - alpha / 2)) * error
    return Interval(mean=mean, error=error, lower=mean - reach, upper=mean + reach, count=number)


def paired(first: Sequence[float], second: Sequence[float], alpha: float) -> Interval:
    """Return the Student interval of the mean of first - second, value by value.

    Raises: ValueError: sequences of different lengths, or empty ones.
    """
    return student([a - b for a, b in zip(first, second, strict=True)], alpha)
