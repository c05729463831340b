"""Trade-offs of claims in rho, or of Renyi divergences at listed orders: the events that such a claim allows.

One event of probability b on one data set and q on the other is itself a mechanism, a pair of coins. It is allowed
if the coins' own Renyi divergence d_a keeps the claim at every order, in both orders of the data sets; data processing
shows that no other event occurs. The regions are convex, as Renyi divergences are jointly quasi-convex, and they do not
change if data sets or event and complement change places.
Source: van Erven and Harremoes (2014), Theorems 9 and 13.
"""

from functools import lru_cache

import numpy as np
from scipy.special import xlogy

from dpaudit.arguments import settled
from dpaudit.checks import NonNegative, non_negative
from dpaudit.model.mechanism import Array

_COARSE = 1 + np.geomspace(1e-3, 1e4, 60)
_NEAR = np.linspace(-1.0, 1.0, 21)
_QUICK, _STEPS = 22, 46
_CELLS = 800
_FARTHEST = 34.0
_ROUNDING = 1e-12
"""More than the rounding of a divergence, relative and absolute; the region errs towards what is allowed."""


def coin_divergence(order: Array | float, b: Array | float, q: Array | float) -> Array:
    """Return the Renyi divergence d_a(b|q) of two coins, in nats; at order 1 the relative entropy. Broadcasts.

    Edge cases: infinite where one side alone is possible; 0 for equal coins.

    >>> float(coin_divergence(2.0, 0.5, 0.25).round(6))
    0.287682
    """
    a, first, second = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (order, b, q)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        heads, tails = _log_term(a, first, second), _log_term(a, 1 - first, 1 - second)
        above = np.logaddexp(heads, tails) / np.where(a > 1, a - 1, 1.0)
    if not (a > 1).all():
        above = np.where(a > 1, above, _relative_entropy(first, second))
    return np.maximum(0.0, np.where(first == second, 0.0, above))


def coin_rho(b: Array | float, q: Array | float, xi: float = 0.0) -> Array:
    """Return sup over orders a of (d_a(b|q) - xi) / a, the least rho that allows an event in this order of data sets.

    Guarantee: never above the supremum, since it is the value at some order; within 1e-5 of it, relatively.

    >>> float(coin_rho(0.5, 0.0677).round(3))
    0.727
    """
    first, second = np.broadcast_arrays(np.asarray(b, dtype=float), np.asarray(q, dtype=float))
    orders, largest = np.concatenate([[1.0], _COARSE]), np.zeros(first.shape)
    for _ in range(3):
        shown = (coin_divergence(orders, first[..., None], second[..., None]) - xi) / orders
        largest = np.maximum(largest, shown.max(axis=-1))
        orders = _around(np.broadcast_to(orders, shown.shape), np.argmax(shown, axis=-1))
    return largest


def rho_region(q: Array | float, rho: float, xi: float = 0.0) -> Array:
    """Return T(q): the largest probability of an event under rho-zCDP that has probability `q` on the other data set.

    Guarantee: an upper bound, within 1e-6 of the exact one; exact for the class, since a pair of coins is a mechanism.
    `xi` is the constant part of the claim: R_a <= xi + rho a at all orders a > 1.
    Edge cases: 0 at 0, 1 at 1; `q` itself where rho and xi are 0.
    Raises: ValueError: rho or xi negative, infinite or NaN.

    >>> rho_region(np.array([0.01, 0.1, 0.5]), 0.5).round(5).tolist()
    [0.12459, 0.48373, 0.89298]
    """
    non_negative("rho", rho)
    non_negative("xi", xi)
    rate = np.clip(np.asarray(q, dtype=float), 0.0, 1.0)
    flat = np.atleast_1d(rate).ravel()
    orders = np.concatenate([[1.0], _COARSE])
    highest = _highest(flat, orders, xi + rho * orders, _QUICK)
    for _ in range(2):
        most = np.maximum(_excess(flat, highest, orders, xi), _excess(highest, flat, orders, xi))
        orders = _around(np.broadcast_to(orders, most.shape), np.argmax(most, axis=-1))
        highest = np.minimum(highest, _highest(flat, orders, xi + rho * orders, _STEPS))
    return highest.reshape(rate.shape)


@settled
class RhoTradeOff:
    """The trade-off of a claim R_a <= xi + rho a at all orders a > 1: rho-zCDP where xi is 0.

    A polygon around the region stands for it: rates are never below those of `rho_region`, and within 1e-3 of them,
    relatively. The first call for a claim computes the polygon, in about half a second.
    Raises: ValueError: rho or xi negative, infinite or NaN.
    Source: Bun and Steinke (2016), Definitions 1.1 and 8.1.

    >>> RhoTradeOff(rho=0.5)(np.array(0.1)).round(3).item()
    0.484
    """

    rho: NonNegative
    xi: NonNegative = 0.0

    def __call__(self, rate: Array) -> Array:
        """Return the highest true positive rates at false positive rates of any shape."""
        false, true = _outer_corners(self)
        return np.interp(np.clip(np.asarray(rate, dtype=float), 0.0, 1.0), false, true)

    def inverse(self, rate: float) -> float:
        """Return the least false positive rate at which a true positive rate is allowed."""
        return max(0.0, 1.0 - float(self(np.asarray(1.0 - min(1.0, max(0.0, rate))))))

    def support(self, slope: Array) -> Array:
        """Return the largest value of (true positive rate) - slope (false positive rate), never below the exact one."""
        false, true = _outer_corners(self)
        return (true - np.asarray(slope, dtype=float)[..., None] * false).max(axis=-1)

    @property
    def area(self) -> float:
        """The largest area under a ROC curve, never below the exact one."""
        false, true = _outer_corners(self)
        return float(np.trapezoid(true, false))


@lru_cache(maxsize=64)
def _outer_corners(trade_off: RhoTradeOff) -> tuple[Array, Array]:
    """Return corners of a polygon around the region, from (0, 0) to (1, 1), rates increasing.

    On each cell a concave curve lies below the chords of both neighbouring cells, extended; they meet at the corner.
    """
    spread = np.linspace(-1.0, 1.0, _CELLS + 1)
    logits = _FARTHEST * spread * np.abs(spread)
    x = np.concatenate([[0.0], 1 / (1 + np.exp(-logits)), [1.0]])
    y = np.maximum.accumulate(rho_region(x, trade_off.rho, trade_off.xi))
    slopes = np.diff(y) / np.diff(x)
    left, right = slopes[:-2], slopes[2:]
    start, end = slice(1, -2), slice(2, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (y[end] - right * x[end] - y[start] + left * x[start]) / (left - right)
    meet = np.where(np.isfinite(meet), np.clip(meet, x[start], x[end]), x[end])
    height = np.maximum(np.minimum(y[start] + left * (meet - x[start]), y[end] + right * (meet - x[end])), y[start])
    height = np.maximum(height, np.interp(meet, x, y))
    false = np.concatenate([[0.0, 0.0], meet, [x[-2], 1.0]])
    true = np.concatenate([[0.0, y[1]], height, [1.0, 1.0]])
    return false, true


def _excess(b: Array, q: Array, orders: Array, xi: float) -> Array:
    """Return (d_a(b|q) - xi) / a at every order. Shape: (rates, orders)."""
    shown: Array = (coin_divergence(orders, b[:, None], q[:, None]) - xi) / orders
    return np.where(np.isnan(shown), np.inf, shown)


def _highest(rate: Array, orders: Array, limits: Array, steps: int) -> Array:
    """Return the largest b >= rate with d_a(b|q), d_a(q|b) <= limits at all orders. Shape: (rates,)."""
    low, high = rate.copy(), np.ones_like(rate)
    for _ in range(steps):
        middle = (low + high) / 2
        first = coin_divergence(orders, middle[:, None], rate[:, None])
        second = coin_divergence(orders, rate[:, None], middle[:, None])
        allowed = (np.maximum(first, second) <= limits * (1 + _ROUNDING) + _ROUNDING).all(axis=-1)
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    at_end = (rate <= 0) | (rate >= 1)
    return np.where(at_end, rate, high)


def _around(orders: Array, best: Array) -> Array:
    """Return orders close to the best one of each row, from one neighbour to the other. Shape: (..., orders)."""
    last = orders.shape[-1] - 1
    low = np.take_along_axis(orders, np.maximum(best - 1, 0)[..., None], axis=-1)
    middle = np.take_along_axis(orders, best[..., None], axis=-1)
    high = np.take_along_axis(orders, np.minimum(best + 1, last)[..., None], axis=-1)
    width = np.where(_NEAR < 0, middle - low, high - middle)
    return middle + _NEAR * width


def _relative_entropy(b: Array, q: Array) -> Array:
    """Return the relative entropy of two coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy: Array = xlogy(b, b) - xlogy(b, q) + xlogy(1 - b, 1 - b) - xlogy(1 - b, 1 - q)
    return entropy


def _log_term(order: Array, b: Array, q: Array) -> Array:
    """Return the logarithm of b^a q^(1-a); minus infinity where b is 0."""
    return np.where(b > 0, order * np.log(b) + (1 - order) * np.log(q), -np.inf)
