"""What a claim allows to laws that replays show, where draws of other kinds are made beside the noise.

Draws that choose records, say, may give the law of either data set. If (1 - share) P + share Q beside Q keeps a claim,
then P beside Q keeps the one that is returned: amplification by a Poisson sample, read backwards.
"""

from dataclasses import replace
from math import exp, log1p

from dpaudit import Claim
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim

_LARGEST_DELTA = 1 - 1e-9


def beside_others(claim: Claim, share: float) -> Claim:
    """Return what a claim allows to laws of which a `share` of runs, at most, has the law of the other data set.

    Edge cases: `claim` itself for a share of 0.

    >>> round(beside_others(Claim(epsilon=1.0, neighbours="add_remove"), 0.05).epsilon, 4)
    1.0327
    """
    epsilon, delta = _point(claim.epsilon, claim.delta, share)
    return replace(claim, epsilon=epsilon, delta=delta)


def measured_beside_others(claim: MeasuredClaim, share: float) -> MeasuredClaim:
    """Return the same for a claim in its own measure.

    Exact for a profile. Of small losses rho and Renyi divergences fall with the square of the share that is left, and
    mu with that share; of larger losses they fall by less.

    >>> round(measured_beside_others(RhoClaim(rho=0.1, neighbours="add_remove"), 0.05).rho, 4)
    0.1108
    """
    left = 1 - share
    match claim:
        case RhoClaim():
            return replace(claim, rho=claim.rho / left**2)
        case MuClaim():
            return replace(claim, mu=claim.mu / left)
        case RenyiClaim():
            return replace(claim, renyi=tuple((order, value / left**2) for order, value in claim.renyi))
        case ProfileClaim():
            return replace(claim, profile=tuple(_point(*point, share) for point in claim.profile))
        case _:
            return claim


def _point(epsilon: float, delta: float, share: float) -> tuple[float, float]:
    """Return what one point of a profile allows."""
    return epsilon + log1p(-share * exp(-epsilon)) - log1p(-share), min(delta / (1 - share), _LARGEST_DELTA)
