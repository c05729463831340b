"""The largest mu that pairs refute: how often the score of a run with the record exceeds that of a run without.

Within a trade-off f, P(in > out) is at most the area 1 - integral of f; under mu-Gaussian privacy Phi(mu / sqrt 2).
Disjoint pairs are independent, so a binomial limit is exact: no threshold is chosen and no run is spent on a choice.
"""

import math

import numpy as np
from scipy.special import ndtri

from audits.bounds.binomial import proportion_lower
from audits.bounds.trade_offs import TradeOff
from dpaudit.checks import count, open_probability
from dpaudit.model.mechanism import Array

_ROUNDING = 1e-12
"""More than the error of the incomplete beta function and of the normal quantile, relative to their values."""


def pair_wins(ins: Array, outs: Array, rng: np.random.Generator) -> tuple[int, int]:
    """Return in how many disjoint pairs, drawn by chance, the score with the record is larger, and the number of pairs.

    Shape: (n1,), (n0,); min(n0, n1) pairs, the other scores are not used. Equal scores are lost. The pairs are drawn by
    `rng`, so that the order of the scores, which may be sorted, does not matter.
    Edge cases: (0, 0) where one side has no score.

    >>> pair_wins(np.array([2.0, 2.0, 5.0]), np.array([2.0, 1.0, 3.0, 0.0]), np.random.default_rng(2))[1]
    3
    """
    pairs = min(len(ins), len(outs))
    first, second = rng.permutation(np.asarray(ins))[:pairs], rng.permutation(np.asarray(outs))[:pairs]
    return int((first > second).sum()), pairs


def pair_mu(wins: int, pairs: int, significance: float) -> float:
    """Return the largest mu that `wins` of `pairs` pairs refute, or 0.

    Guarantee: above mu with probability at most `significance` for every pair of laws within the trade-off of mu, for
    independent scores whose direction was fixed before. It bounds no other measure: a law may refute mu and have a
    smaller rho than mu^2 / 2. Edge cases: 0 for no pair; finite where every pair is won.
    Raises: ValueError: more wins than pairs, or `significance` outside (0, 1).
    Source: Dong, Roth and Su (2022), Definition 2.6; Clopper and Pearson (1934).

    >>> round(pair_mu(760, 1000, 0.01), 4)
    0.8542
    """
    share = _least_share(wins, pairs, significance)
    return max(0.0, math.sqrt(2) * float(ndtri(share)) * (1 - _ROUNDING)) if share > 0 else 0.0


def pairs_refute(wins: int, pairs: int, trade_off: TradeOff, significance: float) -> bool:
    """Return whether the pairs refute a trade-off; a true one with probability at most `significance`.

    >>> from audits.bounds.trade_offs import GaussianTradeOff
    >>> pairs_refute(760, 1000, GaussianTradeOff(mu=0.8), 0.01), pairs_refute(760, 1000, GaussianTradeOff(mu=0.9), 0.01)
    (True, False)
    """
    return _least_share(wins, pairs, significance) > trade_off.area


def _least_share(wins: int, pairs: int, significance: float) -> float:
    """Return the lower limit of P(in > out), rounded down."""
    open_probability("significance", significance)
    count("pairs", pairs, at_least=0)
    if not 0 <= wins <= pairs:
        raise ValueError(f"Expected wins={wins} to be between 0 and pairs={pairs}.")
    return float(proportion_lower(wins, pairs, significance)) * (1 - _ROUNDING) if wins else 0.0
