"""Exact sampling on the integers: no floating-point number decides an outcome.

Every decision compares uniform random integers with integers, or with a real number that is known within a stated
error; the rare comparison that the error leaves open is settled in exact fractions.
Source: Canonne, Kamath and Steinke (2020), Algorithms 1, 2 and 3.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpaudit.model.mechanism import Array

_BITS = 62
_SLACK = 2.0**-44


def discrete_laplace(scale: Fraction, size: int, rng: np.random.Generator) -> Array:
    """Return `size` integers with probabilities proportional to e^(-|k| / scale), exactly. Shape: (size,), int64.

    A geometric variable of ratio e^(-1 / numerator) is built from its remainder and quotient by the numerator, and
    divided by the denominator; a sign is drawn, and minus zero is drawn again.
    Guarantee: exact given uniform 64-bit words, for numerators up to 2^53 and denominators up to 2^61.
    """
    numerator, denominator = scale.numerator, scale.denominator
    result = np.zeros(size, dtype=np.int64)
    pending = np.arange(size)
    while pending.size:
        remainder = rng.integers(0, numerator, pending.size)
        accepted = _bernoulli_exp(remainder, numerator, rng)
        quotient = _geometric(int(accepted.sum()), rng)
        magnitude = (remainder[accepted] + numerator * quotient) // denominator
        negative = rng.integers(0, 2, magnitude.size) == 1
        good = ~(negative & (magnitude == 0))
        done = pending[accepted][good]
        result[done] = np.where(negative, -magnitude, magnitude)[good]
        left = np.ones(size, dtype=bool)
        left[done] = False
        pending = pending[left[pending]]
    return result


def discrete_gaussian(stddev: Fraction, size: int, rng: np.random.Generator) -> Array:
    """Return `size` integers with probabilities proportional to e^(-k^2 / (2 stddev^2)), exactly.

    Discrete Laplace proposals of scale t = floor(stddev) + 1 are kept with probability
    e^(-(|k| - stddev^2 / t)^2 / (2 stddev^2)). Shape: (size,), int64.
    """
    variance = stddev**2
    scale = stddev.numerator // stddev.denominator + 1
    shift, width = variance / scale, 2 * variance

    def exponent(k: int) -> Fraction:
        return (abs(k) - shift) ** 2 / width

    result = np.zeros(size, dtype=np.int64)
    pending = np.arange(size)
    while pending.size:
        proposals = discrete_laplace(Fraction(scale), pending.size, rng)
        near = (np.abs(proposals) - float(shift)) ** 2 / float(width)
        accepted = _bernoulli_exp_near(near, lambda i: exponent(int(proposals[i])), rng)  # noqa: B023 - used at once
        result[pending[accepted]] = proposals[accepted]
        pending = pending[~accepted]
    return result


def _bernoulli_exp(numerator: Array, denominator: int, rng: np.random.Generator) -> Array:
    """Return booleans that are true with probability e^(-numerator / denominator), numerators up to denominator."""
    result = np.zeros(numerator.size, dtype=bool)
    active = np.arange(numerator.size)
    step = 1
    while active.size:
        further = rng.integers(0, denominator * step, active.size) < numerator[active]
        result[active[~further]] = step % 2 == 1
        active = active[further]
        step += 1
    return result


def _geometric(size: int, rng: np.random.Generator) -> Array:
    """Return how often a coin of probability 1/e comes up before it fails. Shape: (size,), int64."""
    result = np.zeros(size, dtype=np.int64)
    active = np.arange(size)
    while active.size:
        active = active[_bernoulli_exp(np.ones(active.size, dtype=np.int64), 1, rng)]
        result[active] += 1
    return result


def _bernoulli_exp_near(near: Array, exact: Callable[[int], Fraction], rng: np.random.Generator) -> Array:
    """Return booleans that are true with probability e^(-gamma_i), gamma_i = exact(i) known to be near near_i.

    The whole part of gamma is that many coins of probability 1/e; the rest is the alternating series of Algorithm 1.
    Where the error leaves the whole part open, everything is done in fractions.
    """
    error = _SLACK * (1 + near)
    floors = np.floor(near)
    doubtful = (near - floors < error) | (floors + 1 - near < error)
    for i in np.flatnonzero(doubtful):
        floors[i] = exact(int(i)).__floor__()
    result = _geometric(near.size, rng) >= floors
    active = np.flatnonzero(result)
    step = 1
    while active.size:
        further = _below(
            (near - floors)[active] / step,
            error[active],
            lambda i: (exact(int(active[i])) - int(floors[active[i]])) / step,  # noqa: B023 - used at once
            rng,
        )
        result[active[~further]] = step % 2 == 1
        active = active[further]
        step += 1
    return result


def _below(near: Array, error: Array, exact: Callable[[int], Fraction], rng: np.random.Generator) -> Array:
    """Return booleans that are true with probability exact(i), which is within error_i of near_i."""
    bits = rng.integers(0, 2**_BITS, near.size)
    uniform = bits * 2.0**-_BITS
    result: Array = uniform < near
    for i in np.flatnonzero(np.abs(uniform - near) <= error + _SLACK):
        remainder = exact(int(i)) * 2**_BITS - int(bits[i])
        result[i] = _coin(remainder, rng)
    return result


def _coin(probability: Fraction, rng: np.random.Generator) -> bool:
    """Return True with the given probability, read bit by bit; certain below 0 and above 1."""
    while 0 < probability < 1:
        probability *= 2
        if rng.integers(0, 2) == 0:
            if probability >= 1:
                return True
        else:
            probability -= 1
    return probability >= 1
