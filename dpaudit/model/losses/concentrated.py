"""The loss of everything that is known by its rho alone: concentrated differential privacy."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from dpaudit.checks import float_above, non_negative
from dpaudit.model.losses.of_size import LossOfSize

_ULP = 2.0**-52
_STEPS = 60
_LARGE = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedLoss(LossOfSize):
    """The loss of a pair whose Renyi divergence of every order a above 1 is at most rho a, in both orders.

    No law is known, and no pair has all of these divergences: moments alone bound it, and nothing is known from below.
    `exact` is rho as a ratio: the shortest decimal of `rho`, or what `exactly` was given; `rho` is not below it.
    Source: Bun and Steinke (2016), Definition 1.1.

    >>> ConcentratedLoss(rho=0.5).hockey_stick(5.2216) < 1e-6 < ConcentratedLoss(rho=0.5).hockey_stick(5.2215)
    True
    """

    size: ClassVar[str] = "rho"
    rounded: ClassVar[Callable[[Fraction], float]] = float_above
    rho: float
    exact: Fraction = field(init=False, repr=False, hash=False)

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return math.inf if self.rho > 0 else 0.0

    def hockey_stick(self, epsilon: float) -> float:
        """Return an upper bound on delta(epsilon); of an epsilon below 0 by that of the reverse, which is the same."""
        if epsilon < 0:
            return -math.expm1(epsilon) + math.exp(epsilon) * concentrated_delta(self.rho, -epsilon)
        return concentrated_delta(self.rho, epsilon)


def concentrated_delta(rho: float, epsilon: float) -> float:
    """Return a delta for which every rho-concentrated mechanism is (epsilon, delta)-private, near the best one.

    Guarantee: an upper bound, whatever order the search ends on, as it holds at each order by itself. The search is
    over the logarithm of s, the order less 1, for the root of the bound's derivative. Where delta underflows, the bound
    is the smallest positive float. Let L be the loss, M = e^(s (1 + s) rho), which bounds E_P[e^(s L)], and c e^(s L)
    the bound on (1 - e^(epsilon - L))_+ of the source. Where L exceeds epsilon, e^(s L) is at most
    g(L) / (1 - (1 + s) e^(-s epsilon)), g(L) = e^(s L) - 1 + s (e^-L - 1). g is nowhere negative, and has the mean
    M - 1 at most, so that M - 1 may stand in the place of M at this price.
    Source: Canonne, Kamath and Steinke (2020), Corollary 13; `engines.renyi` for g.

    >>> concentrated_delta(0.5, 5.2216) < 1e-6 < concentrated_delta(0.5, 5.2215)
    True
    """
    if non_negative("rho", rho) == 0:
        return 0.0
    low, high = -40.0, math.log(max(1.0, epsilon / rho)) + 40.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        power = math.exp(middle)
        rises = (1 + 2 * power) * rho > epsilon + math.log1p(1 / power)
        low, high = (low, middle) if rises else (middle, high)
    logarithm = _log_delta(rho, epsilon, low) + _log_gain(rho, epsilon, math.exp(low))
    return min(1.0, max(math.exp(min(0.0, logarithm)) * (1 + 8 * _ULP), math.nextafter(0, 1)))


def _log_delta(rho: float, epsilon: float, log_power: float) -> float:
    """Return ln delta by the power s = e^log_power, rounded up by the size of its terms."""
    power = math.exp(log_power)
    terms = (
        power * (1 + power) * rho,
        -power * epsilon,
        -log_power,
        -(1 + power) * math.log1p(1 / power),
    )
    return math.fsum(terms) + 8 * _ULP * math.fsum(map(abs, terms))


def _log_gain(rho: float, epsilon: float, power: float) -> float:
    """Return what the mean less 1 gains at a power, rounded up: ln(1 - 1/M) - ln(1 - (1 + s) e^(-s epsilon))."""
    price = (1 + power) * math.exp(-min(power * epsilon, _LARGE))
    moment = math.exp(-power * (1 + power) * rho * (1 + 8 * _ULP))
    if not price < moment < 1:
        return 0.0
    return math.log1p(-moment * (1 - 1e-9)) - math.log1p(-price * (1 + 1e-9))
