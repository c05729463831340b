"""Moments of losses made of others: by atoms that dominate them, and of Gaussian samples by sums of all terms.

A cumulant is ln E[e^(s L)], which is s times the Renyi divergence of order 1 + s.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, log_ndtr, xlog1py

from dpaudit.verifier.losses import Loss, drawn
from dpaudit.verifier.pairs import MOST, pair
from dpaudit.verifier.refusals import Array
from dpaudit.verifier.shifts import REACH, ends

Bounds = tuple[float, float]
_ORDER = 2048  # the largest order of which all terms are summed
_SLIP = 1e-9  # relative; more than rounding makes of a moment


def cumulants_of_sample(rate: float, mu: float, powers: Array) -> Array:
    """Return upper bounds for a Gaussian release on a Poisson sample, by chords between whole orders.

    Beyond the largest order that is summed it is that of the release itself.
    """
    whole_cumulants = _whole_orders(rate, mu)
    chords = np.interp(powers, np.arange(len(whole_cumulants)), whole_cumulants, right=math.inf)
    return np.asarray(np.minimum(powers * (1 + powers) * mu * mu / 2, chords * (1 + _SLIP) + 1e-13))


@lru_cache(maxsize=64)
def _whole_orders(rate: float, mu: float) -> Array:
    """Return the cumulants at the powers 0, 1, 2 and so on."""
    return np.array([0.0, *(_log_moment(rate, mu, order) for order in range(2, _ORDER))])


def divergence_of_cells(loss: Loss, s: float) -> Bounds:
    """Return bounds on the divergence of order 1 + s of a loss made of others, by atoms and labels."""
    sample = drawn(loss)
    closed = (0.0, math.inf) if sample is None else _divergence_of_sample(*sample, s, removed=len(loss[2]) > 1)
    atoms = pair(loss, MOST)
    labels, under = atoms.p > 0, np.log(np.maximum(atoms.q, 1e-320)) - atoms.told
    low = np.logaddexp.reduce(((1 + s) * np.log(np.maximum(atoms.p, 1e-320)) - s * under)[labels], initial=-700.0) / s
    tops = s * atoms.at + np.log(np.maximum(atoms.masses, 1e-320))
    if atoms.lost:
        tops = np.append(tops, _beyond(loss, s) if loss[:2] == ("mixture", "gaussian") else math.inf)
    high = float(np.logaddexp.reduce(tops)) / s
    low, high = max(0.0, float(low) * (1 - _SLIP) - 1e-12 / s), high * (1 + _SLIP) + 1e-12 / s
    return max(low, closed[0]), min(high, closed[1])


def _beyond(loss: Loss, s: float) -> float:
    """Return a bound on the logarithm of what outputs beyond all cells add to a moment.

    There P is at most a share of its highest shift's noise, and Q at least the weighted noise of its own highest shift:
    the moment of two normal laws is a third one's mass, times e^(a (a - 1) d^2 / 2).
    """
    (top, _), (last, weight), end = loss[2][-1], loss[3][-1], ends(loss)[1] + REACH[1]
    share = math.fsum(w * math.exp(-(top - shift) * (end - (top + shift) / 2)) for shift, w in loss[2])
    far = float(log_ndtr(last + (1 + s) * (top - last) - end))
    return far + (1 + s) * math.log(share) - s * math.log(weight) + s * (1 + s) * float(top - last) ** 2 / 2 + _SLIP


def _divergence_of_sample(rate: float, mu: float, s: float, *, removed: bool) -> Bounds:
    """Return bounds on the divergence of a Gaussian release on a Poisson sample; a whole order has a sum.

    Source: Mironov, Talwar and Zhang (2019), Theorems 4 and 5, and section 3.3.
    """
    high = float(cumulants_of_sample(rate, mu, np.array([s]))[0]) / s
    exact = removed and s == math.floor(s)  # a record that is added costs no more
    return exact * max(0.0, high * (1 - 3 * _SLIP) - 3e-13 / s), high


def _log_moment(rate: float, mu: float, order: int) -> float:
    """Return (order - 1) times the divergence of a sampled Gaussian release of a whole order."""
    k = np.arange(order + 1)
    rows = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1) + k * math.log(rate)
    return float(np.logaddexp.reduce(rows + xlog1py(order - k, -rate) + (k * k - k) * mu * mu / 2))
