"""Exact tests of a trade-off at a threshold of fixed rank: the k-th largest score of the non-members.

The false positive rate of that threshold is at most a Beta(k, n0 + 1 - k) variable F, whatever the law of the scores.
F is independent of the members' scores, so the number v of members above the threshold has
P(V >= v) <= E P(Bin(n1, 1 - f(F)) >= v), which is the p-value.
"""

import numpy as np
from scipy.special import betainccinv, betaincinv, betaln, xlog1py, xlogy

from audits.bounds.binomial import tail
from audits.bounds.bisection import largest_refuted
from audits.bounds.gaussian import ASSUMPTION, gaussian_epsilon
from audits.bounds.trade_offs import GaussianTradeOff, PrivateTradeOff, TradeOff
from dpaudit.checks import count
from dpaudit.model.audit_result import LowerBound
from dpaudit.model.mechanism import Array

_TAILS = np.concatenate([10.0 ** np.arange(-16, -1), np.linspace(0.05, 0.5, 19)])
_FINE, _COARSE = (np.polynomial.legendre.leggauss(size) for size in (24, 20))
_STEPS = 40


def rank_p_value(rank: int, outs: int, hits: int, ins: int, trade_off: TradeOff) -> float:
    """Return how likely, at most, so many members lie above the `rank`-th largest of `outs` non-members' scores.

    `hits` of `ins` members lie strictly above it; equal scores do not count. Guarantee: valid for every law of the
    scores within `trade_off`, if scores are independent and `rank` was fixed before they were seen. The error of the
    integral, as the difference of two orders of quadrature, is added.
    Raises: ValueError: a rank above `outs`, or more hits than `ins`.

    >>> round(rank_p_value(10, 1000, 60, 1000, PrivateTradeOff.of(1.0)), 7)
    0.0041802
    """
    count("rank", rank)
    if not (rank <= outs and 0 <= hits <= ins):
        raise ValueError(f"Expected rank={rank} <= outs={outs} and hits={hits} <= ins={ins}.")
    fine, coarse = (_integral(rank, outs, hits, ins, trade_off, rule) for rule in (_FINE, _COARSE))
    return min(1.0, fine + abs(fine - coarse) + 1e-15)


def rank_bound(rank: int, outs: int, hits: int, ins: int, delta: float, significance: float) -> LowerBound:
    """Return the largest epsilon at `delta` that the members above a threshold of fixed rank refute.

    Guarantee: as for `rank_p_value`; no assumption on the mechanism.

    >>> round(rank_bound(10, 1000, 60, 1000, 0.0, 0.05).epsilon, 5)
    1.29092
    """
    epsilon = largest_refuted(
        lambda e: rank_p_value(rank, outs, hits, ins, PrivateTradeOff.of(e, delta)) <= significance, 40.0, _STEPS
    )
    return LowerBound(name="rank", epsilon=epsilon, significance=significance)


def rank_mu(rank: int, outs: int, hits: int, ins: int, significance: float) -> float:
    """Return the largest mu whose Gaussian trade-off the members above a threshold of fixed rank refute, or 0.

    >>> round(rank_mu(10, 1000, 60, 1000, 0.05), 5)
    0.56725
    """
    return largest_refuted(
        lambda mu: rank_p_value(rank, outs, hits, ins, GaussianTradeOff(mu=mu)) <= significance, 14.0, _STEPS
    )


def rank_gaussian_bound(rank: int, outs: int, hits: int, ins: int, delta: float, significance: float) -> LowerBound:
    """Return the epsilon at `delta` of the largest refuted mu; other claims than Gaussian rest on that assumption.

    >>> rank_gaussian_bound(10, 1000, 60, 1000, 1e-5, 0.05).assumption
    'the trade-off between neighbours is Gaussian'
    """
    epsilon = gaussian_epsilon(rank_mu(rank, outs, hits, ins, significance), delta)
    return LowerBound(name="rank_gaussian", epsilon=epsilon, significance=significance, assumption=ASSUMPTION)


def _integral(rank: int, outs: int, hits: int, ins: int, trade_off: TradeOff, rule: tuple[Array, Array]) -> float:
    """Return the p-value by Gauss quadrature between quantiles of the Beta law; what lies beyond them counts whole."""
    a, b = float(rank), float(outs + 1 - rank)
    ends = np.concatenate([betaincinv(a, b, _TAILS), betainccinv(a, b, _TAILS[::-1])])
    kinks = _kinks(trade_off)
    ends = np.unique(np.concatenate([ends, kinks[(kinks > ends[0]) & (kinks < ends[-1])]]))
    nodes, weights = rule
    half, middle = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    x = middle[:, None] + half[:, None] * nodes
    density = np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))
    inside = float((half[:, None] * weights * density * tail(hits, ins, trade_off(x))).sum())
    return inside + 2 * float(_TAILS[0])


def _kinks(trade_off: TradeOff) -> Array:
    """Return the rates at which the pieces of a trade-off may meet; none for a smooth one."""
    if not isinstance(trade_off, PrivateTradeOff):
        return np.empty(0)
    epsilon, delta = np.array(trade_off.points).T
    with np.errstate(over="ignore"):
        corners = (1 - delta) / (1 + np.exp(epsilon))
        edges = (1 - delta) * np.exp(-epsilon)
    return np.concatenate([corners, edges, 1 - delta])
