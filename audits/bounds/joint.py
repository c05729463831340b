"""The exact joint test of both error rates against a trade-off curve.

A curve g gives the largest true positive rate g(p0) that a private mechanism leaves at false positive rate p0. For
each p0 the observed pair is compared through a statistic whose mean is, to first order, free of p0,

    T = p1_hat - g'(p0) p0_hat,

and the p-value is the largest over a (1 - gamma) interval for p0, plus gamma. The interval is cut into cells; in each,
P(T >= t) is bounded by taking p0 at the lower end and g at the upper end (it falls in the first, grows in the second),
so the maximum is never missed between grid points.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from audits.bounds.binomial import proportion_lower, proportion_upper, tail
from audits.bounds.gaussian import ASSUMPTION, gaussian_epsilon
from audits.bounds.trade_offs import GaussianTradeOff, PrivateTradeOff, TradeOff
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.mechanism import Array

_INTERVAL_SHARE = 0.002
_CELLS = 24
_GROUPS = 120
_NEAR = 1e-5


def joint_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the largest epsilon that the two error rates of one fixed test refute together.

    Guarantee: the p-value of the returned epsilon is valid for fixed numbers of runs on either side and a threshold
    fixed on other runs; no assumption. Not proved: that every smaller epsilon is refuted as well, as the p-value is
    not known to grow with epsilon; the coverage tables show no excess. Sharper than limits on each rate joined by a
    union.
    Source: Berger and Boos (1994) for the interval; the condition is Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    >>> from audits.examples import COUNTS
    >>> 1.2 < joint_bound(COUNTS, 0.0, 0.05).epsilon < 1.4
    True
    """
    epsilon = _largest_refuted(counts, lambda e: PrivateTradeOff.of(e, delta), significance, 16.0)
    return LowerBound(name="joint", epsilon=epsilon, significance=significance)


def joint_gaussian_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the epsilon at `delta` of the largest mu that the two error rates refute together.

    Guarantee: exact refutation of Gaussian claims, for any threshold fixed on other runs; an assumption otherwise.

    >>> from audits.examples import COUNTS
    >>> bound = joint_gaussian_bound(COUNTS, 1e-5, 0.05)
    >>> bound.epsilon > 4, bound.assumption != ""
    (True, True)
    """
    mu = _largest_refuted(counts, lambda mu: GaussianTradeOff(mu=mu), significance, 12.0)
    epsilon = gaussian_epsilon(mu, delta)
    return LowerBound(name="joint_gaussian", epsilon=epsilon, significance=significance, assumption=ASSUMPTION)


def joint_p_value(counts: Counts, curve: TradeOff, significance: float) -> float:
    """Return an upper bound on how likely rates so far above `curve` are, if the truth lies on or below it.

    The share of p0's interval is 0.2 % of `significance` and included. Edge cases: 1 where one side has no run.

    >>> from audits.examples import COUNTS
    >>> joint_p_value(COUNTS, PrivateTradeOff.of(1.0), 0.05) < 0.001
    True
    """
    if min(counts.positives, counts.negatives) == 0:
        return 1.0
    gamma = _INTERVAL_SHARE * significance
    low = float(proportion_lower(counts.false_positives, counts.negatives, gamma / 2))
    high = float(proportion_upper(counts.false_positives, counts.negatives, gamma / 2))
    ends = np.linspace(low, high, _CELLS + 1)
    return min(1.0, gamma + float(_cells(counts, ends[:-1], curve(ends)[:-1], ends[1:], curve(ends)[1:]).max()))


def _cells(counts: Counts, low: Array, allowed_low: Array, high: Array, allowed_high: Array) -> Array:
    """Return the largest P(T >= t) for p0 in each cell from `low` to `high`. Shape: (cells,)."""
    slope = ((allowed_high - allowed_low) / (high - low))[:, None]
    n0, n1 = counts.negatives, counts.positives
    observed = counts.true_positives / n1 - slope * counts.false_positives / n0
    spread = 7 * math.sqrt(n0 * float(low[-1]) * (1 - float(low[0]))) + 20
    first, last = max(0.0, n0 * float(low[0]) - spread), min(float(n0), n0 * float(low[-1]) + spread)
    edges = np.unique(np.linspace(first, last, _GROUPS).astype(int))
    tails = tail(edges[None, :], n0, low[:, None])
    weight = -np.diff(tails, axis=1, prepend=1.0, append=0.0)
    smallest = np.concatenate([[0], edges])
    needed = np.ceil(n1 * (observed + slope * smallest / n0) - 1e-9)
    return (weight * tail(needed, n1, allowed_high[:, None])).sum(axis=1)


def _largest_refuted(counts: Counts, curve: Callable[[float], TradeOff], significance: float, limit: float) -> float:
    """Return a parameter up to `limit` whose curve is refuted, within `_NEAR` of the largest, or 0."""

    def surplus(parameter: float) -> float:
        return math.log(max(joint_p_value(counts, curve(parameter), significance), 1e-300) / significance)

    if surplus(0.0) >= 0:
        return 0.0
    low, high = 0.0, 0.25
    while surplus(high) < 0:
        low, high = high, 2 * high
        if low >= limit:
            return limit
    near = float(brentq(surplus, low, high, xtol=_NEAR / 4)) - _NEAR / 2
    return near if near > low and surplus(near) < 0 else low
