"""E-values against a whole trade-off curve, by the reverse information projection of predicted rates.

A fair coin b picks the neighbour of a run; x says whether its score passes a threshold that earlier runs chose. The
rates (a, c) that a trade-off f allows, c <= 1 - f(a), are convex, and so are the laws of (b, x). For predicted rates
(a1, c1) outside, the allowed law that is nearest in relative entropy gives the e-value of largest growth,
E = P1(b, x) / P*(b, x): its mean is at most 1 under every allowed law. Rates of complementary events lie on the other
side of the diagonal; they are turned over first.
Source: Gruenwald, de Heide and Koolen (2024), Theorem 1; Turner, Ly and Gruenwald (2024) for two samples.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from audits.bounds.trade_offs import TradeOff
from dpaudit.model.mechanism import Array

_GOLDEN = (np.sqrt(5) - 1) / 2
_STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projection:
    """Predicted rates and the nearest allowed ones, each of shape (events,).

    `false` and `true` are the predicted rates of passing without and with the record, `nearest_false` and
    `nearest_true` the projected ones; inside the allowed region they agree, and the e-value is 1. `excess` is what
    rounding adds to the largest mean.
    """

    false: Array
    true: Array
    nearest_false: Array
    nearest_true: Array
    excess: Array

    @property
    def growth(self) -> Array:
        """The expected logarithm of the e-value at the predicted rates. Shape: (events,)."""
        return (_divergence(self.false, self.nearest_false) + _divergence(self.true, self.nearest_true)) / 2

    def log_e_values(self, passes: Array, labels: Array) -> Array:
        """Return the logarithm of the e-value of each run for each event.

        Shape: `passes` (runs, events), `labels` (runs,), result (runs, events).
        """
        second = labels[:, None]
        predicted = np.where(second, self.true, self.false)
        nearest = np.where(second, self.nearest_true, self.nearest_false)
        with np.errstate(divide="ignore"):
            passed, failed = np.log(predicted) - np.log(nearest), np.log1p(-predicted) - np.log1p(-nearest)
        gained = np.where(predicted == nearest, 0.0, np.where(passes, passed, failed))
        return gained - self.excess


def project(false: Array, true: Array, trade_off: TradeOff) -> Projection:
    """Return the nearest rates that a trade-off allows to predicted rates strictly between 0 and 1.

    Shape: the same for both, as (events,). Guarantee: the e-value's mean is at most 1 at all allowed rates: the mean is
    linear in the rates, its maximum over the region is known in closed form, and what it exceeds 1 by is divided out.

    >>> from audits.bounds.trade_offs import GaussianTradeOff
    >>> found = project(np.array([0.1587]), np.array([0.8413]), GaussianTradeOff(mu=1.0))
    >>> found.nearest_false.round(4).tolist(), found.growth.round(5).tolist()
    ([0.3085], [0.0595])
    """
    turned = true < false
    a, c = np.where(turned, 1 - false, false), np.where(turned, 1 - true, true)
    low, high = a, c  # the nearest rate lies between both, as no curve is below the diagonal
    for _ in range(_STEPS):
        width = _GOLDEN * (high - low)
        first, second = high - width, low + width
        left = _distance(a, c, first, trade_off) < _distance(a, c, second, trade_off)
        low, high = np.where(left, low, first), np.where(left, second, high)
    middle = (low + high) / 2
    outside = c > trade_off(a)
    nearest_a = np.where(outside, middle, a)
    nearest_c = np.where(outside, np.minimum(trade_off(middle), c), c)
    excess = np.where(outside, np.log(np.maximum(1.0, _largest_mean(a, c, nearest_a, nearest_c, trade_off))), 0.0)
    return Projection(
        false=false,
        true=true,
        nearest_false=np.where(turned, 1 - nearest_a, nearest_a),
        nearest_true=np.where(turned, 1 - nearest_c, nearest_c),
        excess=excess,
    )


def _distance(a: Array, c: Array, candidate: Array, trade_off: TradeOff) -> Array:
    """Return the relative entropy of predicted rates to those on the curve; convex in the candidate."""
    return _divergence(a, candidate) + _divergence(c, np.minimum(trade_off(candidate), c))


def _divergence(p: Array, q: Array) -> Array:
    """Return the relative entropy of Bernoulli laws; 0 where both are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy: Array = xlogy(p, p) + xlogy(1 - p, 1 - p) - xlogy(p, q) - xlogy(1 - p, 1 - q)
    return np.where(p == q, 0.0, entropy)


def _largest_mean(a: Array, c: Array, nearest_a: Array, nearest_c: Array, trade_off: TradeOff) -> Array:
    """Return the largest mean of the e-value over all allowed rates: a linear function over a convex region.

    Inside the region both parts are 1 and so is the mean; the slopes are then 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = (1 - a) / (1 - nearest_a) - a / nearest_a
        rising = c / nearest_c - (1 - c) / (1 - nearest_c)
        start = ((1 - a) / (1 - nearest_a) + (1 - c) / (1 - nearest_c)) / 2
        slope = np.where(rising > 0, falling / np.where(rising > 0, rising, 1.0), np.inf)
        largest = start + rising / 2 * trade_off.support(np.where(np.isfinite(slope), slope, 0.0))
    return np.where(rising > 0, np.nan_to_num(largest, nan=np.inf, posinf=np.inf), 1.0)
