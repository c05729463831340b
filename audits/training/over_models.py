"""Numbers that were measured on each of several models: what is averaged over models, and how far off that may be."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from audits.scores.cuts import Cuts, Scores
from dpaudit.model.mechanism import Array

RATES = (0.01, 0.1)
"""False positive rates at which a true positive rate is given."""

_INTERVAL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OverModels:
    """The mean of a number over models, and Student's 95 % interval of the mean.

    The interval is approximate: it takes the mean as normal. It is absent for one model, and decides nothing.

    >>> OverModels.of([0.5, 0.7]).mean
    0.6
    """

    mean: float
    lower: float | None = None
    upper: float | None = None

    @classmethod
    def of(cls, values: list[float]) -> "OverModels":
        """Return the mean of `values`, one for each model, and the interval."""
        mean, models = float(np.mean(values)), len(values)
        if models < 2:
            return cls(mean=mean)
        reach = float(stdtrit(models - 1, 1 - _INTERVAL / 2) * np.std(values, ddof=1) / np.sqrt(models))
        return cls(mean=mean, lower=mean - reach, upper=mean + reach)


def true_positive_rate(ins: Array, outs: Array, false_positive_rate: float) -> float:
    """Return the largest true positive rate of a threshold with at most this false positive rate.

    >>> true_positive_rate(np.array([3.0, 1.0]), np.array([2.0, 0.0]), 0.5), true_positive_rate(
    ...     np.array([3.0, 1.0]), np.array([2.0, 0.0]), 0.1
    ... )
    (1.0, 0.5)
    """
    cuts = Cuts.of(Scores.of(ins, outs))
    allowed = cuts.false_positives <= false_positive_rate * cuts.outs
    return float(cuts.true_positives[allowed].max(initial=0) / cuts.ins)
