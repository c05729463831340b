"""How many equal numbers continuous noise shows by chance, because floating-point numbers are grains and not points."""

import numpy as np
from scipy.special import pdtrc

from dpaudit.model.mechanism import Array


def chance_of_equal(equal: int, noise: Array, output: Array) -> float:
    """Return at most the chance that so many of the noises repeat others, as `output`, a float array, is rounded.

    Numbers of one law whose density is at most 1 / (its median size) are meant. Noise whose median is 0 has chance 0.

    >>> noise = np.random.default_rng(1).standard_normal(10_000)
    >>> chance_of_equal(3, noise, noise) < 1e-9, chance_of_equal(3, noise, noise.astype(np.float32)) > 0.99
    (True, True)
    """
    spread = float(np.median(np.abs(noise)))
    if spread == 0:
        return 0.0
    return _chance(equal, float(noise.size) ** 2 / 2 * grain_of(output) * _largest(output) / spread)


def chance_of_whole(whole_noises: int, output: Array) -> float:
    """Return at most the chance that so many of the noises around 0, a float array, are whole numbers.

    >>> chance_of_whole(3, np.full(1_000, 5.0)) < 1e-9, chance_of_whole(3, np.full(1_000, 2.0**50)) > 0.99
    (True, True)
    """
    return _chance(whole_noises, output.size * grain_of(output) * (1 + _largest(output)))


def grain_of(output: Array) -> float:
    """Return the relative distance of neighbouring numbers: of single precision, where all are such numbers.

    >>> grain_of(np.array([0.5])) == 2.0**-23, grain_of(np.array([0.1])) == 2.0**-52
    (True, True)
    """
    if output.dtype.itemsize < np.dtype(np.float32).itemsize:
        return float(np.finfo(output.dtype).eps)
    with np.errstate(all="ignore"):
        single = output.astype(np.float32)
    return float(np.finfo(np.float32 if np.array_equal(single, output, equal_nan=True) else np.float64).eps)


def _largest(output: Array) -> float:
    """Return the largest size."""
    return float(np.abs(output).max(initial=0.0))


def _chance(seen: int, expected: float) -> float:
    """Return the Poisson probability of at least so many."""
    return 1.0 if seen == 0 or not np.isfinite(expected) else float(pdtrc(seen - 1, expected))
