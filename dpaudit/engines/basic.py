"""Basic composition: largest losses add up, masses at infinity accumulate. Covers every composition.

Source: Dwork, Kenthapadi, McSherry, Mironov and Naor (2006), Theorem 1, with the exact accumulation of
the masses. At delta equal to the accumulated mass, where that is a float, epsilon is the exact sum of the
largest losses; below it no epsilon exists; above it the sum is an upper bound only.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from dpaudit.checks import meant
from dpaudit.engines.engine import Ends
from dpaudit.engines.exact import exact_sum, exact_supremum, nearest, outwards
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    DerivedLoss,
    DiscreteLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
)

_ULP = 2.0**-52
_EXACT_MASSES = 1000
_RATIOS = (LaplaceLoss, ApproximateLoss, DiscreteLoss)
_Bounded: TypeAlias = ChoiceLoss | MixtureLoss | DerivedLoss
"""Losses of which the largest is known from above alone, unless `_reached`."""
_SAMPLED = Fraction(1, 10**12)
"""Relative; more than the bound on the largest loss of a sample is above it: 1e-14, and 2^-51 of at most 700."""
_TINY = 1e-280
"""Below it the 1e-300 that this bound adds is no longer far below the last digit."""
_LARGEST = math.nextafter(math.inf, 0)


@lru_cache(maxsize=32)
def total_supremum(composition: Composition) -> tuple[float, float]:
    """Return lower and upper bounds on the largest finite loss of all parts together.

    A sum of ratios, up to a thousand of them, is known exactly: both bounds are then the float that stands for it. Of
    more parts each is rounded to the floats next to it, outwards.
    """
    if any(loss.supremum == math.inf for loss, _ in composition.parts):
        return math.inf, math.inf
    if len(composition.parts) > _EXACT_MASSES:
        return _summed(composition)
    ratios = [(exact_supremum(loss), times) for loss, times in composition.parts]
    if all(isinstance(loss, _RATIOS) for loss, _ in composition.parts):
        near = nearest(sum((value * times for value, times in ratios), start=Fraction(0)))
        return min(near, _LARGEST), near
    high = sum((Fraction(outwards(value)[1]) * times for value, times in ratios), start=Fraction(0))
    low = sum((Fraction(outwards(value)[0]) * times for value, times in ratios), start=Fraction(0))
    return outwards(_surely(composition, low))[0], outwards(high)[1]


def _summed(composition: Composition) -> tuple[float, float]:
    """Return the same for many parts, each rounded outwards to a float."""
    near = [(nearest(exact_supremum(loss)), times) for loss, times in composition.parts]
    if any(value == math.inf for value, _ in near):
        return _LARGEST, math.inf
    low, high = (
        exact_sum((math.nextafter(value, end), 1, times) for value, times in near) for end in (-math.inf, math.inf)
    )
    return outwards(_surely(composition, low))[0], outwards(high)[1]


def _surely(composition: Composition, low: Fraction) -> Fraction:
    """Return of a sum of largest losses what is surely reached."""
    if any(isinstance(loss, _Bounded) and not _reached(loss) for loss, _ in composition.parts):
        return Fraction(0)  # the option with the largest mass at infinity may hide the largest loss of another
    if any(isinstance(loss, SampledLoss) for loss, _ in composition.parts):
        return low * (1 - _SAMPLED)
    rounded = any(isinstance(loss, SampledGaussianLoss) for loss, _ in composition.parts)
    return low * (1 - Fraction(32 * _ULP)) if rounded else low  # more than what the bound is above it


def _reached(loss: SimpleLoss) -> bool:
    """Return whether a bounded loss is as large as its bound: where the record is drawn, and each inside is largest."""
    if (
        not isinstance(loss, SampledLoss)
        or loss.order != "remove"
        or loss.infinite_mass
        or not _TINY < loss.supremum <= 700
    ):
        return False
    return all(isinstance(inner, _RATIOS) for inner, _ in loss.inside)


def total_infinite_mass(composition: Composition) -> tuple[float, float]:
    """Return lower and upper bounds on 1 - product of (1 - mass) over all parts.

    Exact rational arithmetic for up to a thousand masses, so that a claim that equals the mass is met;
    beyond that logarithms with a margin.
    """
    masses = [(loss.infinite_mass, times) for loss, times in composition.parts if loss.infinite_mass]
    if not masses:
        return 0.0, 0.0
    if any(mass == 1 for mass, _ in masses):
        return 1.0, 1.0
    if sum(times for _, times in masses) <= _EXACT_MASSES:
        near = nearest(1 - math.prod(((1 - meant(mass)) ** times for mass, times in masses), start=Fraction(1)))
        return near, near
    exponent = math.fsum(times * math.log1p(-mass) for mass, times in masses)
    margin = 8 * _ULP
    low = -math.expm1(exponent * (1 - margin)) * (1 - margin)
    return low, min(1.0, -math.expm1(exponent * (1 + margin)) * (1 + margin))


def pure_delta_upper(supremum: float, lowest: float, epsilon: float) -> float:
    """Return the largest delta(epsilon) of any loss between -`lowest` and `supremum`, rounded up.

    With u = e^-L, delta is the mean of the convex (1 - u e^epsilon)_+ over u of mean 1, so that it is largest when
    only both ends occur: the upper one with probability (1 - e^-lowest) / (1 - e^(-lowest - supremum)).
    Edge cases: `lowest` infinite stands for any loss without a bound below, and for Q having mass where P has none.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3 with k = 1, for `lowest` equal to `supremum`.
    """
    if supremum == math.inf:
        return 1.0
    if epsilon >= supremum:
        return 0.0
    share = math.expm1(-lowest) / math.expm1(-lowest - supremum) if lowest > 0 else 0.0
    return min(1.0, -math.expm1(epsilon - supremum) * share * (1 + 16 * _ULP))


def _lowest(composition: Composition) -> float:
    """Return a bound on how negative the loss can be, infinite where Q may have more mass alone than P has."""
    other = composition.reversed()
    if other != composition and total_infinite_mass(other)[1] > total_infinite_mass(composition)[0]:
        return math.inf
    return total_supremum(other)[1]


def delta_ends(composition: Composition, epsilon: float) -> Ends:
    """Return bounds on delta(epsilon) from the largest loss and the mass at infinity alone."""
    _, supremum = total_supremum(composition)
    floor, ceiling = total_infinite_mass(composition)
    pure = pure_delta_upper(supremum, _lowest(composition), epsilon) if epsilon < supremum else 0.0
    return floor, min(1.0, (ceiling + pure * (1 - floor)) * (1 + 4 * _ULP))


def epsilon_ends(composition: Composition, delta: float) -> Ends:
    """Return bounds on the smallest epsilon with delta(epsilon) <= delta."""
    low, high = total_supremum(composition)
    floor, ceiling = total_infinite_mass(composition)
    if delta < floor:
        return math.inf, math.inf
    return max(0.0, low) if delta <= floor else 0.0, max(0.0, high) if delta >= ceiling else math.inf
