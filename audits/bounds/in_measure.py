"""What one event shows against a claim in rho, mu, Renyi divergences or points of a profile."""

import math

import numpy as np
from scipy.special import ndtri

from audits.bounds.renyi_region import coin_divergence, coin_rho
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array

_ROUNDING = 1e-12
_NEAR_ONE = 1e-13
"""More than the rounding of a logarithm, which is divided by the order less 1."""


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
