"""Losses on a sample, and binomial weights. A rate q stands for its shortest decimal, of which p = 1 - q is taken."""

import math
from fractions import Fraction

import numpy as np

from dpaudit.verifier.refusals import Array

_POWER, _RAREST = 700.0, 1e-304  # the largest exponent of a float; relative to the likeliest weight


def absent(rate: float) -> float:
    """Return 1 less the decimal of a rate."""
    return float(1 - Fraction(repr(float(rate))))


def log_absent(rate: float) -> float:
    """Return the logarithm of that, minus infinity at rate 1."""
    if rate == 1:
        return -math.inf
    return math.log1p(-rate) if rate < 0.5 else math.log(absent(rate))


def sampled(loss: Array, rate: float) -> Array:
    """Return ln(p + q e^loss): log1p(q (e^loss - 1)), but where that is near -1, or e^loss no float."""
    loss, p = np.asarray(loss, dtype=np.float64), absent(rate)
    if not p or not rate:
        return loss * (rate > 0)
    small = np.minimum(loss, _POWER)
    excess = rate * np.expm1(small)
    low = excess < -0.5
    near = np.where(low, np.log(p + rate * np.exp(small)), np.log1p(np.where(low, 0.0, excess)))
    large = np.maximum(loss, _POWER)
    sum_ = large + math.log(rate)  # ln(p + e^sum_), p being next to nothing beside e^large
    far = np.maximum(sum_, 0.0) + np.log1p(np.where(sum_ > 0, p / rate * np.exp(-large), np.exp(np.minimum(sum_, 0.0))))
    return np.where(loss > _POWER, far, near)


def binomial(trials: int, rate: float) -> list[tuple[int, float]]:
    """Return (successes, probability) from the likeliest number outwards, as long as these are floats.

    What is left out is less than 1e-300 together. The weights follow from each other and are divided by their sum.
    """
    if rate == 1:
        return [(trials, 1.0)]
    likeliest, odds = min(trials, math.floor((trials + 1) * rate)), rate / absent(rate)
    weights = [(likeliest, 1.0)]
    for way in (1, -1):
        j, size = likeliest, 1.0
        while 0 <= j + way <= trials:
            size *= (trials - j) / (j + 1) * odds if way > 0 else j / (trials - j + 1) / odds
            if size < _RAREST:
                break
            j += way
            weights.append((j, size))
    total = math.fsum(size for _, size in weights)
    return sorted((j, size / total) for j, size in weights)


def log_ratio(ratio: Fraction) -> float:
    """Return the logarithm of a ratio, near 1 too, where rounding the ratio first would leave few digits of it.

    >>> log_ratio(Fraction(10**18 + 1, 10**18))
    1e-18
    """
    return math.log1p(float(ratio - 1)) if Fraction(1, 2) < ratio < 2 else math.log(ratio)
