"""A replaced record at a secret step: removed and another one added, by the best split of a likelihood ratio."""

import math
from functools import lru_cache

import numpy as np

from dpaudit.accounting.curves.connected import connected
from dpaudit.engines.gaussian import gaussian_delta
from dpaudit.engines.pairs.looks import derived_delta
from dpaudit.model.bracket import smallest_epsilon
from dpaudit.model.losses import AllocatedLoss, DiscreteLoss, GaussianLoss

LEAST, MOST, LONGEST = 0.01, 8.0, 10**5
"""The moves and the number of steps for which the split is computed; beyond, steps count as known."""
_CELLS = 1 << 12  # of a secret step
_KNOTS, _FAR = 500, 120  # knots where a secret step helps, and beyond
_RARE, _RAREST = 1e-11, 1e-30
_RAISED = 1e-8  # relative, by which heights are raised so that rounding of masses cannot lower the curve


@lru_cache(maxsize=16)
def split_above(mu: float, steps: int) -> DiscreteLoss:
    """Return a loss that dominates one of two records, each at one secret step out of `steps` and moving it by `mu`.

    With A the outputs without both, P(S) - x Q(S) = (P(S) - y A(S)) + y (A(S) - (x / y) Q(S)) for every y, so that the
    curve is at most that of a removed record at y and y times that of an added one at x / y. Known steps bound it, too.
    Between knots of e^epsilon the curve is convex; it is symmetric.

    >>> split_above(1.0, 10).hockey_stick(5.0) < GaussianLoss(mu=2.0).hockey_stick(5.0) / 5
    True
    """
    step = GaussianLoss(mu=mu)
    removed = AllocatedLoss(inside=((step, 1),), steps=steps)
    twice_mu = GaussianLoss.exactly(2 * step.exact).mu
    ends = [_falls(loss) for loss in (removed, removed.reversed())]
    last = smallest_epsilon(lambda at: gaussian_delta(twice_mu, at)[1], _RAREST)
    near = np.linspace(0.0, min(math.fsum(ends), last), _KNOTS)
    removing, adding = (
        np.array([derived_delta(loss, float(at), _CELLS)[1] for at in near]) for loss in (removed, removed.reversed())
    )
    back = np.exp(near)
    split = np.array([float((removing[: j + 1] + back[: j + 1] * adding[j::-1]).min()) for j in range(_KNOTS)])
    knots = np.append(near, np.linspace(float(near[-1]), last, _FAR)[1:])
    apart = np.array([gaussian_delta(twice_mu, float(at))[1] for at in knots])
    heights = np.minimum(np.append(split, np.ones(len(knots) - _KNOTS)), apart) * (1 + _RAISED)
    return connected(np.asarray(np.exp(knots), np.float64), np.asarray(np.minimum(heights, 1.0), np.float64))


def _falls(loss: AllocatedLoss) -> float:
    """Return about the epsilon at which a secret step has a negligible delta, infinity where the transform has none."""
    return smallest_epsilon(lambda at: derived_delta(loss, at, _CELLS)[1], _RARE)
