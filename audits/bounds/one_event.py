"""Lower bounds on rho and on Renyi divergences from the counts of one event, by Clopper-Pearson limits of both rates.

A pair of coins with the event's two probabilities has no larger divergence than the outputs (data processing), and the
divergence of coins falls if the larger probability falls or the smaller one rises. The same holds of mu, and of the
points of a profile.
"""

import math

import numpy as np
from scipy.special import ndtri

from audits.bounds.binomial import proportion_lower, proportion_upper
from audits.bounds.renyi_region import coin_divergence, coin_rho
from audits.bounds.shared_error import shared_levels
from dpaudit.checks import count, open_probability
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array

_ROUNDING = 1e-12
"""More than the rounding of limits and of divergences, relative and absolute."""

_NEAR_ONE = 1e-13
"""More than the rounding of a logarithm, which is divided by the order less 1."""


def event_rho(hits: int, ins: int, alarms: int, outs: int, significance: float) -> float:
    """Return a lower bound on rho, the supremum of R_a / a, from the counts of one event.

    `hits` counts the event with the record, `alarms` without it; the larger of both orders of the data sets is taken.
    Guarantee: wrong with probability at most `significance`, for an event that was fixed on other runs together with
    its direction: the same limits serve every order. Edge cases: 0 where the limits do not separate, or one side
    has no run.
    Raises: ValueError: counts that are not possible, or `significance` outside (0, 1).
    Source: van Erven and Harremoes (2014), Theorem 9; Clopper and Pearson (1934).

    >>> round(event_rho(500, 1000, 68, 1000, 0.01), 4)
    0.5482
    """
    b, q = _limits(hits, ins, alarms, outs, shared_levels(significance))
    least = float(np.where(b > q, np.maximum(coin_rho(b, q), coin_rho(q, b)), 0.0).min())
    return max(0.0, least * (1 - _ROUNDING) - _ROUNDING)


def event_rates(hits: int, ins: int, alarms: int, outs: int, significance: float) -> tuple[float, float]:
    """Return a lower limit of the event's probability with the record, and an upper limit of the one without.

    Guarantee: both hold with probability at least 1 - `significance`. Edge cases: (0, 1) where a side has no run.
    Raises: ValueError: counts that are not possible, or `significance` outside (0, 1).
    """
    open_probability("significance", significance)
    low, high = _limits(hits, ins, alarms, outs, np.full(2, significance / 2))
    return float(low), float(high)


def shown_by(claim: MeasuredClaim, b: Array, q: Array) -> list[Array]:
    """Return, for each number of the claim, the least that allows an event of probabilities `b` and `q`; 0 if b <= q.

    Shape: as `b` and `q`. Never above the exact value: rounding is taken off.

    >>> from dpaudit import Claim
    >>> (found,) = shown_by(Claim(rho=1, neighbours="replace_one"), np.array([0.5]), np.array([0.0677]))
    >>> found.round(3).tolist()
    [0.727]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        values: list[Array] = []
        for at, _ in claim.rows:
            match claim:
                case RhoClaim(xi=xi):
                    values.append(np.maximum(coin_rho(b, q, xi), coin_rho(q, b, xi)))
                case MuClaim():
                    values.append(ndtri(b) - ndtri(q))
                case RenyiClaim():
                    order = float(at or 0.0)
                    shown = np.maximum(coin_divergence(order, b, q), coin_divergence(order, q, b))
                    values.append(shown - _NEAR_ONE / (order - 1))
                case _:
                    factor = math.exp(min(700.0, at or 0.0))
                    values.append(np.maximum(b - factor * q, 1 - q - factor * (1 - b)))
    return [np.where(b > q, np.maximum(0.0, value * (1 - _ROUNDING) - _ROUNDING), 0.0) for value in values]


def _limits(hits: int, ins: int, alarms: int, outs: int, levels: Array) -> tuple[Array, Array]:
    """Return the limits of both rates, each at its level. Shape: `levels` (2, ...), each limit (...).

    Raises: ValueError: counts that are not possible.
    """
    for name, value in (("ins", ins), ("outs", outs)):
        count(name, value, at_least=0)
    if not (0 <= hits <= ins and 0 <= alarms <= outs):
        raise ValueError(f"Expected hits={hits} of ins={ins} and alarms={alarms} of outs={outs} to be possible counts.")
    if min(ins, outs) == 0:
        return np.array(0.0), np.array(1.0)
    return proportion_lower(hits, ins, levels[0]) * (1 - _ROUNDING), proportion_upper(alarms, outs, levels[1])
