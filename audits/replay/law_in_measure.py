"""What a seen law shows against a claim in its own measure: rho, mu, Renyi divergences, points of a profile."""

from math import exp

import numpy as np
from scipy.special import ndtr

from audits.bounds.one_event import shown_by
from dpaudit.model.audit_result import MeasuredNumber
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array

_ORDERS = 1 + np.geomspace(1e-5, 1e4, 500)
_THRESHOLDS = np.linspace(0, 1, 65)


def gaussian_numbers(claim: MeasuredClaim, distance: float) -> list[float]:
    """Return, for each number of the claim, that of Gaussian laws whose centres are `distance` deviations apart.

    Source: Bun and Steinke (2016), Proposition 1.6; Dong, Roth and Su (2022); Balle and Wang (2018), Theorem 8.

    >>> gaussian_numbers(RhoClaim(rho=0.1, neighbours="add_remove"), 0.5)
    [0.125]
    """
    match claim:
        case RhoClaim():
            return [distance**2 / 2]
        case MuClaim():
            return [distance]
        case RenyiClaim():
            return [order * distance**2 / 2 for order, _ in claim.renyi]
        case ProfileClaim():
            return [_profile(epsilon, distance) for epsilon, _ in claim.profile]
        case _:
            return [0.0 for _ in claim.rows]


def _profile(epsilon: float, distance: float) -> float:
    """Return the delta at an epsilon of two Gaussian laws."""
    often, seldom = (float(ndtr(half - epsilon / distance)) for half in (distance / 2, -distance / 2))
    return often - exp(epsilon) * seldom if seldom > 0 else often


def laplace_numbers(claim: MeasuredClaim, moves: tuple[float, ...]) -> list[float]:
    """Return, for each number of the claim, a value that Laplace laws show whose centres are `moves` scales apart.

    Exact for Renyi divergences, and for rho but for its orders; the best threshold of the largest move for others.
    Source: Mironov (2017), Proposition 6.

    >>> [round(number, 4) for number in laplace_numbers(RhoClaim(rho=0.1, neighbours="add_remove"), (1.0,))]
    [0.3679]
    """
    sizes = np.abs(np.array(moves))
    match claim:
        case RhoClaim(xi=xi):
            return [float(((_laplace_divergence(_ORDERS, sizes) - xi) / _ORDERS).max())]
        case RenyiClaim():
            return [
                float(divergence)
                for divergence in _laplace_divergence(np.array([order for order, _ in claim.renyi]), sizes)
            ]
        case _:
            beyond = sizes.max() * _THRESHOLDS
            return event_numbers(claim, 1 - np.exp(beyond - sizes.max()) / 2, np.exp(-beyond) / 2)


def _laplace_divergence(orders: Array, sizes: Array) -> Array:
    """Return the Renyi divergence of independent Laplace laws, all together, at each order. Shape: as `orders`."""
    a, size = orders[:, None], sizes[None, :]
    terms = np.log(a / (2 * a - 1)) + (a - 1) * size, np.log((a - 1) / (2 * a - 1)) - a * size
    return (np.logaddexp(*terms) / (a - 1)).sum(axis=1)


def event_numbers(claim: MeasuredClaim, often: Array | float, seldom: Array | float) -> list[float]:
    """Return, for each number of the claim, the most that one of some events of these probabilities shows."""
    return [float(shown.max()) for shown in shown_by(claim, np.atleast_1d(often), np.atleast_1d(seldom))]


def numbers_beside(claim: MeasuredClaim, shown: list[float]) -> tuple[MeasuredNumber, ...]:
    """Return each claimed number beside the one that a law shows."""
    rows = zip(claim.rows, shown, strict=True)
    return tuple(MeasuredNumber(at=at, claimed=claimed, lower=max(0.0, lower)) for (at, claimed), lower in rows)


def excess(numbers: tuple[MeasuredNumber, ...], allowed: MeasuredClaim) -> float:
    """Return by which part, at most 1, of what is allowed a number exceeds it; 0 where none does."""
    pairs = [(number.lower, claimed) for number, (_, claimed) in zip(numbers, allowed.rows, strict=True)]
    return max(min(1.0, (lower - claimed) / claimed if claimed else float(lower > 0)) for lower, claimed in pairs)
