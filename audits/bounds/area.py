"""The area under a ROC curve: the share of pairs in which the member scores higher, with limits."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """An area under a ROC curve with two-sided limits; each end is wrong with probability at most the significance.

    `lower` and `upper` hold for any number of scores. `delong` holds the asymptotic limits, which decide nothing.
    """

    value: float
    lower: float
    upper: float
    delong: tuple[float, float]


def area_under_roc(in_scores: Array, out_scores: Array, significance: float) -> Area:
    """Return P(in > out) + P(in = out) / 2 with limits, from independent scores of members and non-members.

    Shape: (n1,), (n0,). Guarantee: `lower` and `upper` are Hoeffding's limits for the means of two samples.
    Edge cases: a sample of one score has no DeLong interval: its ends are 0 and 1.
    Source: Hoeffding (1963), Section 5b; DeLong, DeLong and Clarke-Pearson (1988).

    >>> area_under_roc(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.05).value
    0.875
    """
    ins, outs = len(in_scores), len(out_scores)
    above = _below(in_scores, out_scores) / outs
    below = 1 - _below(out_scores, in_scores) / ins
    value = float(above.mean())
    reach = math.sqrt(math.log(1 / significance) / (2 * min(ins, outs)))
    return Area(
        value=value,
        lower=max(0.0, value - reach),
        upper=min(1.0, value + reach),
        delong=_delong(value, above, below, significance),
    )


def _below(scores: Array, others: Array) -> Array:
    """Return how many of the others lie below each score; equal ones count half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")) / 2


def _delong(value: float, above: Array, below: Array, significance: float) -> tuple[float, float]:
    """Return the asymptotic limits from the placements of members and of non-members."""
    if min(len(above), len(below)) < 2:
        return 0.0, 1.0
    spread = math.sqrt(float(above.var(ddof=1)) / len(above) + float(below.var(ddof=1)) / len(below))
    reach = -float(ndtri(significance)) * spread
    return max(0.0, value - reach), min(1.0, value + reach)
