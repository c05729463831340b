"""The law of a sum of many independent whole numbers, right near one number however unlikely that is.

The steps are tilted: each probability is multiplied by e^(tilt step) and divided by the sum, with the tilt at which the
mean of the sum is near that number. One Fourier transform gives the law of the tilted sum. It is right within a small
part of its largest probability, and so there the law of the sum is right within a small part of itself.

The sum of n numbers that vary by no more than B has a tilted deviation s. By Bernstein's inequality it is further than
13 s + 60 B from its mean with probability e^-84 at most, on each side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from dpaudit.engines.law import power_of
from dpaudit.engines.transform import Floats

Whole: TypeAlias = NDArray[np.int64]
_DEVIATIONS, _STEPS = 13.0, 60
BEYOND = 1e-36  # above the probability of both sides beyond them, 2 e^-84
_ROUNDED = 8 * 2.0**-52  # of a transform, for each bit of its length and each number that is added
_NEAR = 0.25  # deviations at which the tilted mean is near enough
_LARGEST = 700.0  # whose exponential is a double


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TiltedSum:
    """A sum's probabilities: that of `sums[i]` lies between `low[i]` and `high[i]`; what is left out below `BEYOND`.

    Sums that the tilt makes unlikely are left out on the lower side too: `low` alone counts these as 0.
    """

    sums: Whole
    low: Floats
    high: Floats

    def above(self, bound: Whole) -> tuple[Floats, Floats]:
        """Return lower and upper bounds on the probability of a sum above each bound."""
        places = bound + 1 - self.sums[0]
        inside = np.clip(places, 0, len(self.sums))
        least, most = (np.append(side[::-1].cumsum()[::-1], 0.0)[inside] for side in (self.low, self.high))
        return np.minimum(least, 1.0), np.where(places < 0, 1.0, np.minimum(most + BEYOND, 1.0))


def tilted_sum(steps: Whole, groups: Sequence[tuple[Floats, int]], near: int = 0) -> TiltedSum:
    """Return the law of a sum; each group is the probabilities of `steps` and how many numbers have this law.

    It is right around `near`; where the mean is larger already the tilt is 0, and the law is right around its mean.

    >>> coins = tilted_sum(np.array([-1, 1]), [(np.array([0.75, 0.25]), 3)])
    >>> [round(float(p), 6) for p in coins.above(np.array([2]))[0]], 0.25**3
    ([0.015625], 0.015625)
    """
    ends = [sum(count * int(end(steps[law > 0])) for law, count in groups) for end in (np.min, np.max)]
    tilt = _centring(steps, groups, near) if ends[1] > near else 0.0
    weights, mean, variance, log_scale = [], 0.0, 0.0, 0.0
    for law, count in groups:
        each, log_sum = _tilted(law, steps, tilt)
        centre = float(each @ steps)
        mean, log_scale = mean + count * centre, log_scale + count * log_sum
        variance += count * float(each @ (steps - centre) ** 2)
        weights.append((each, count))
    reach = math.ceil(_DEVIATIONS * math.sqrt(variance)) + _STEPS * int(np.ptp(steps)) + 1
    first, last = max(ends[0], math.floor(mean) - reach), min(ends[1], math.ceil(mean) + reach)
    sums = np.arange(first, last + 1)
    law, error = _convolved(steps, weights, sums)
    scale = np.exp(np.minimum(log_scale - tilt * sums, _LARGEST))
    return TiltedSum(sums=sums, low=np.maximum(law - error, 0.0) * scale, high=(np.maximum(law, 0.0) + error) * scale)


def _convolved(steps: Whole, weights: Sequence[tuple[Floats, int]], sums: Whole) -> tuple[Floats, float]:
    """Return the probabilities of `sums`, which hold next to all, and what rounding makes of each at most."""
    if not weights:
        return np.ones(1), 0.0
    size = next_fast_len(len(sums), real=True)
    spectra = [rfft(np.bincount(steps % size, each, size)) for each, _ in weights]
    spectrum = np.prod([power_of(s, count) for s, (_, count) in zip(spectra, weights, strict=True)], axis=0)
    sizes, numbers = np.abs(spectrum), sum(count for _, count in weights)
    others = sizes / np.maximum(np.min(np.abs(spectra), axis=0), 1e-300)  # all numbers but one
    moved = numbers * float(np.mean(others)) + math.sqrt(float(np.mean(sizes**2)))
    return irfft(spectrum, size)[sums % size], _ROUNDED * math.log2(size + 1) * moved


def _tilted(law: Floats, steps: Whole, tilt: float) -> tuple[Floats, float]:
    """Return the tilted probabilities, and the logarithm of their sum before they are divided by it."""
    highest = float((tilt * steps[law > 0]).max())
    weights = law * np.exp(np.minimum(tilt * steps - highest, 0.0))
    total = float(weights.sum())
    return weights / total, math.log(total) + highest


def _centring(steps: Whole, groups: Sequence[tuple[Floats, int]], near: int) -> float:
    """Return about the tilt whose mean is `near`, or 0 where the mean is larger; some sum is larger."""

    def moments(tilt: float) -> tuple[float, float]:
        mean, variance = -float(near), 0.0
        for law, count in groups:
            each = _tilted(law, steps, tilt)[0]
            centre = float(each @ steps)
            mean, variance = mean + count * centre, variance + count * float(each @ (steps - centre) ** 2)
        return mean, math.sqrt(variance)

    low, high, tilt = 0.0, math.inf, 0.0
    while True:
        mean, deviation = moments(tilt)
        if abs(mean) <= _NEAR * deviation or (mean >= 0 and tilt == 0):
            return tilt
        low, high = (tilt, high) if mean < 0 else (low, tilt)
        tilt -= mean / max(deviation, 1e-9) ** 2
        if not low < tilt < high:
            tilt = (low + high) / 2 if high < math.inf else 2 * low
        if low >= high * (1 - 1e-12):
            return low
