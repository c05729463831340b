"""Renyi divergences of a Poisson sample of any losses, from above."""

import math
from collections.abc import Callable

import numpy as np

from dpaudit.engines.renyi import excess_terms
from dpaudit.model.losses import SampledLoss, SimpleLoss

_LARGEST = 1024
_MARGIN = 1e-12


def sampled_divergence(loss: SampledLoss, order: float, inner: Callable[[SimpleLoss, float], float]) -> float:
    """Return an upper bound on the Renyi divergence of a sample; `inner` bounds that of one loss at a whole order.

    At a whole order n the moment of the mixture is the binomial sum of (1 - rate)^(n - k) rate^k times the moments of
    order k; (order - 1) times the divergence is convex in the order, so that chords lie above it. Where what is inside
    is the same in both orders of the neighbours, adding a record costs no more than removing it.
    Edge cases: infinity at orders above 1,024, and for an added record where what is inside differs in both orders.
    Source: Mironov, Talwar and Zhang (2019), Section 3.3 and Theorem 5.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> sample = SampledLoss(inside=((GaussianLoss(mu=1.0), 1),), rate=0.1)
    >>> round(sampled_divergence(sample, 3.0, lambda part, order: order * part.mu**2 / 2), 10)
    0.0317123003
    """
    symmetric = all(part == part.reversed() for part, _ in loss.inside)
    if order > _LARGEST or (loss.order == "add" and not symmetric):
        return math.inf
    below = math.floor(order)
    orders = [max(2, below), below + 1] if order > below else [max(2, below)]
    moments = [_log_moment(loss, whole_order, inner) for whole_order in orders]
    first, start = (0.0, 1) if below < 2 else (moments[0], below)  # the logarithm of the moment of order 1 is 0
    value = first + (moments[-1] - first) * (order - start)
    return value / (order - 1) * (1 + _MARGIN * order)


def _log_moment(loss: SampledLoss, order: int, inner: Callable[[SimpleLoss, float], float]) -> float:
    """Return ln of the moment of a whole order: what lies above 1 is a sum of terms that are not negative."""
    growth = [
        (k - 1) * math.fsum(times * inner(part, float(k)) for part, times in loss.inside) for k in range(2, order + 1)
    ]
    excess = np.logaddexp.reduce(sum(excess_terms(np.array(growth), loss.rate)))
    return float(np.logaddexp(0.0, excess))
