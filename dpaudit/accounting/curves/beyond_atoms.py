"""Moments and rho of a loss that is known by atoms, and beyond the largest one by the moments of another pair.

The moment of order a is 1 + a (a - 1) times the integral of x^(a - 2) h(x) + x^(-a - 1) h'(x) over x >= 1, where h'
is the curve of the reversed pair. Atoms, and the mass m beyond the largest loss ln X, have no more than
S + a m X^(a - 1), S being the sum over atoms. Beyond X h is at most r h_0(c x), where the integral of y^(b - 2) h_0
over all y is E_0^b / (b (b - 1)), E_0^b being the moment of order b. So what is beyond adds at most
a (a - 1) r c^(1 - a) (c X)^(a - b) E_0^b / (b (b - 1)) for each b >= a; without atoms the moment is at most
a + r c^(1 - a) E_0^a.
Source: Sason and Verdu (2016) for the integral; docs/theory/selection.md.
"""

import math

import numpy as np

from dpaudit.accounting.curves.renyi_divergence import largest_ratio
from dpaudit.engines.renyi import log_moment
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.losses.moment_tail import MomentTail

_LEAST, _STEPS = 1e-4, 400
_ROUNDED = 1e-11  # more than rounding makes of a logarithm of a sum


def renyi_beyond(loss: DiscreteLoss, order: float) -> float:
    """Return an upper bound on the Renyi divergence of a loss with a tail."""
    return math.inf if loss.tail is None else float(_highs(loss, loss.tail, np.array([order - 1.0]))[0])


def rho_beyond(loss: DiscreteLoss, tail: MomentTail, rho: float) -> float:
    """Return an upper bound on the rho of a loss with a tail, where `rho` is that of the pair of the tail.

    Beyond the last order a the divergence over the order is at most rho + (ln(2 a r) / (a - 1) - ln c) / a.
    """
    last = tail.moments[-1][0]
    powers = np.geomspace(_LEAST, last, _STEPS)
    highs = _highs(loss, tail, powers)
    far = rho + (math.log(2 * (1 + last)) + tail.log_runs - tail.log_share * last) / last / (1 + last)
    return max(float(highs[0]), largest_ratio(1 + powers, powers, highs), far) * (1 + _ROUNDED)


def _highs(loss: DiscreteLoss, tail: MomentTail, powers: Floats) -> Floats:
    """Return upper bounds on the divergences of orders 1 + powers."""
    at, logs = np.array(tail.moments).T
    s, end = powers[:, None], loss.supremum
    with np.errstate(divide="ignore"):
        left = np.logaddexp(log_moment(loss, powers), np.log1p(powers) + math.log(loss.infinite_mass) + powers * end)
        beyond = np.log1p(s) + np.log(s) + tail.log_runs - s * tail.log_share + (s - at) * (end + tail.log_share)
    beyond = np.where(at >= s, beyond + logs - np.log(at) - np.log1p(at), math.inf).min(axis=1)
    alone = tail.log_runs - powers * tail.log_share + np.interp(powers, at, logs, right=math.inf)
    log_bounds = np.minimum(np.logaddexp(left, beyond), np.logaddexp(np.log1p(powers), alone))
    return np.asarray((log_bounds + _ROUNDED) / powers)
