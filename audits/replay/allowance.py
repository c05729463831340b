"""What a claim allows to laws that replays show, where draws of other kinds are made beside the noise."""

from dataclasses import replace
from math import exp, log1p

from dpaudit import Claim

_LARGEST_DELTA = 1 - 1e-9


def beside_others(claim: Claim, share: float) -> Claim:
    """Return what a claim allows to laws of which a `share` of runs, at most, has the law of the other data set.

    Draws that choose records, say, may give either law. If (1 - share) P + share Q beside Q keeps the claim, then P
    beside Q keeps the one that is returned: that of a Poisson sample, read backwards.
    Edge cases: `claim` itself for a share of 0.

    >>> round(beside_others(Claim(epsilon=1.0, neighbours="add_remove"), 0.05).epsilon, 4)
    1.0328
    """
    epsilon = claim.epsilon + log1p(-share * exp(-claim.epsilon)) - log1p(-share)
    return replace(claim, epsilon=epsilon, delta=min(claim.delta / (1 - share), _LARGEST_DELTA))
