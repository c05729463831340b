"""Exact sums of floats, and the floats next to an exact number."""

import math
from collections.abc import Iterable
from fractions import Fraction

from dpaudit.checks import meant
from dpaudit.model.losses import ApproximateLoss, ChoiceLoss, DiscreteLoss, LaplaceLoss, SimpleLoss


def exact_sum(terms: Iterable[tuple[float, int, int]]) -> Fraction:
    """Return the sum of times x^power over terms (x, power, times), exactly.

    Floats are added over one power of two, so that a hundred thousand of them take a fraction of a second.

    >>> exact_sum([(0.5, 2, 3), (0.25, 1, 3)])
    Fraction(3, 2)
    """
    total, bits = 0, 0
    for value, power, times in terms:
        numerator, denominator = value.as_integer_ratio()
        shift = power * (denominator.bit_length() - 1)
        if shift > bits:
            total, bits = total << shift - bits, shift
        total += numerator**power * times << bits - shift
    return Fraction(total, 1 << bits)


def exact_supremum(loss: SimpleLoss) -> Fraction:
    """Return a finite largest loss as the ratio that it stands for."""
    match loss:
        case LaplaceLoss(exact=exact):
            return exact
        case DiscreteLoss(largest=largest) if largest is not None:
            return largest
        case ApproximateLoss() | DiscreteLoss():
            return meant(loss.supremum)
        case ChoiceLoss(options=options):
            return max(map(exact_supremum, options))
        case _:
            return Fraction(loss.supremum)


def nearest(exact: Fraction | int) -> float:
    """Return the float nearest to a ratio, which stands for it; infinity beyond floating point."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf


def outwards(exact: Fraction | int) -> tuple[float, float]:
    """Return the floats next to `exact`, below and above it; both are `exact` where it is a float.

    Edge cases: beyond floating point, the largest float and infinity.
    """
    near = nearest(exact)
    if near == math.inf:
        return math.nextafter(math.inf, 0), math.inf
    low = near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
    high = near if Fraction(near) >= exact else math.nextafter(near, math.inf)
    return low, high
