"""Numbers that both calibrations use: the exact mu of a claim, and the paper's count of tree nodes."""

from dpaudit import Claim
from mechanisms import Gaussian

SAFETY = 1 + 1e-9
"""Relative margin above the exact scale, so that rounding in the sum of losses does not exceed the claim."""


def nodes_printed(horizon: int) -> int:
    """Return the number of nodes that the paper lets a prefix use: ceil(log2(horizon) + 1) (Appendix F.4).

    >>> nodes_printed(1000), nodes_printed(1024)
    (11, 11)
    """
    return (horizon - 1).bit_length() + 1


def exact_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu for which N(mu, 1) against N(0, 1) is (epsilon, delta)-private.

    >>> round(exact_mu(1.0, 1e-5), 6)
    0.268051
    """
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    return 1 / float(Gaussian.calibrated(claim, l2_sensitivity=1.0).stddev)
