"""Claims in epsilon and delta that follow from claims in rho, mu, Renyi divergences or points of a profile."""

import numpy as np

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.losses import Composition, GaussianLoss
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim

USUAL_DELTA = 1e-5
"""The delta at which epsilon is bounded beside a claim that has none."""

_ORDERS = 1 + np.geomspace(1e-3, 1e7, 2_000)
_ROUNDING = 1e-12


def implied_claim(claim: MeasuredClaim, delta: float | None = None) -> Claim:
    """Return a claim in epsilon and delta that follows from `claim`; it steers attacks and weighs other findings.

    Without `delta` it is at delta 1e-5, of a profile at the delta of its largest epsilon.
    Raises: ValueError: a `delta` below every one of a profile. UnsupportedError: a delta of 0, at which the claim
        bounds no epsilon.
    Source: Canonne, Kamath and Steinke (2020), Proposition 12, of Renyi divergences; Balle and Wang (2018) of mu.

    >>> implied = implied_claim(Claim(rho=0.5, neighbours="replace_one"), 1e-6)
    >>> round(implied.epsilon, 4)
    5.2215
    """
    used = delta
    if used is None:
        used = claim.profile[-1][1] if isinstance(claim, ProfileClaim) else USUAL_DELTA
    if used == 0 and not isinstance(claim, ProfileClaim):
        raise UnsupportedError(f"Expected delta=0 to be positive: at 0 the claim {claim.words} bounds no epsilon.")
    return Claim(epsilon=_implied_epsilon(claim, used), delta=used, **claim.whose)


def _implied_epsilon(claim: MeasuredClaim, delta: float) -> float:
    """Return an epsilon that follows from a claim at a delta, rounded up."""
    match claim:
        case MuClaim(mu=mu):
            alternatives = (Composition.of(GaussianLoss(mu=mu)),)
            return bracket_epsilon(NormalForm(upper=alternatives, lower=alternatives), delta).upper if mu else 0.0
        case ProfileClaim(profile=points):
            epsilons = [epsilon for epsilon, stated in points if stated <= delta]
            if not epsilons:
                raise ValueError(f"Expected delta={delta} at or above a delta of the claim {claim.words}.")
            return min(epsilons)
        case RhoClaim(rho=rho, xi=xi):
            orders, limits = _ORDERS, xi + rho * _ORDERS
        case RenyiClaim(renyi=points):
            orders, limits = np.array(points).T
        case _:
            raise UnsupportedError(f"A claim in {claim.measure} implies no epsilon here.")
    bounds = limits + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)
    return max(0.0, float(bounds.min()) * (1 + _ROUNDING))
