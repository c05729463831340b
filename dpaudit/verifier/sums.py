"""The law of a sum of independent lattice losses inside a window, by its Fourier transform, with its errors.

The laws are weighted by e^(theta l) and scaled to mass 1, so that the epsilon in question lies where the mass is. Then
every coefficient of every transform is at most 1 in size, and rounding moves it by at most m eta, m = log2(size):
each output of a radix-2 transform is a sum over all inputs along paths of m roundings. No library's transform has a
proved constant; a thousand times that of radix 2 is taken, and assumed.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, rfft

from dpaudit.verifier.refusals import Array
from dpaudit.verifier.shifts import UNIT

_NOTHING = 745.0  # -ln of what a measure without mass may be taken for
_ETA = 1000 * 8 / 2  # times what 1 is rounded by
_SHORT = 2**20  # knots in all for which the longest floats are quick
Measure = tuple[int, Array, int]  # first knot, masses at the knots, how often it is met


@dataclass(frozen=True, slots=True)
class Window:
    """The knots `first` .. `first` + `size` - 1, `step` apart."""

    first: int
    size: int
    step: float

    @property
    def losses(self) -> Array:
        """The losses of all knots."""
        return (self.first + np.arange(self.size)) * self.step

    @property
    def bottom(self) -> float:
        """The lowest loss inside."""
        return self.first * self.step

    @property
    def top(self) -> float:
        """The lowest loss above."""
        return (self.first + self.size) * self.step


@dataclass(frozen=True, slots=True)
class Law:
    """Weighted masses of a sum in a window, in which what lies outside is wrapped around.

    `error` is absolute, for each mass; `relative` is that of the masses and of e^`log_moment`. `below` and `above`
    bound the weighted mass on either side of the window.
    """

    log_moment: float
    masses: Array
    error: float
    relative: float
    below: float
    above: float


def growth(at: Array, masses: Array, thetas: Array) -> Array:
    """Return ln of the sum of masses times e^(theta l), how a measure grows when weighted, for each theta."""
    nonzero = np.flatnonzero(masses)
    if not len(nonzero):
        return np.full(len(thetas), -_NOTHING)
    sizes = np.log(masses[nonzero]) + thetas[:, None] * at[nonzero]
    top = sizes.max(axis=1)
    return np.asarray(top + np.log(np.exp(sizes - top[:, None]).sum(axis=1)))


def summed(measures: list[Measure], theta: float, window: Window, tilts: Array) -> Law:
    """Return the law of the sum; `tilts` are tried in Chernoff's bound on what lies outside."""
    short = window.size * len(measures) <= _SHORT
    number, plane = (np.longdouble, np.clongdouble) if short else (np.double, np.cdouble)
    product: Array = np.ones(window.size // 2 + 1, dtype=plane)
    log_size, count = np.zeros(1), np.zeros(1)
    off = _ETA * float(np.finfo(number).eps) * math.log2(window.size) + 8 * UNIT
    log_moment, relative, grown = 0.0, 64 * UNIT, np.zeros(len(tilts))
    for first, masses, times in measures:
        at = first + np.arange(len(masses))
        base, *moments = growth(at * window.step, masses, np.concatenate(([theta], theta + tilts)))
        sizes = np.log(np.where(masses > 0, masses, 1.0)) + theta * at * window.step - base
        weights = np.exp(np.where(masses > 0, sizes, -np.inf))
        wrapped: Array = np.bincount(at % window.size, weights, window.size).astype(number)
        coefficients: Array = np.asarray(rfft(wrapped))
        size = np.abs(coefficients).astype(float) + 2 * off
        log_size, count = log_size + times * np.log(size), count + times * off / size
        product *= _power(coefficients, times)
        reach = np.abs(at[[0, -1]]).max() * window.step
        relative += times * UNIT * (64 + 8 * (abs(theta) + np.abs(tilts).max()) * reach)
        log_moment, grown = log_moment + times * float(base), grown + times * (np.array(moments) - base)
    moved = np.exp(np.minimum(log_size, 700.0)) * np.minimum(count, 1.0)
    masses = np.roll(np.asarray(irfft(product, window.size), float), -window.first)
    error = 2 / window.size * float(moved.sum() + off * np.abs(product).sum())
    sides = (window.bottom, tilts < 0), (window.top, tilts > 0)
    # By Chernoff, E[e^(t L)] e^(-t end) bounds what lies beyond an end, for each tilt t of its side.
    beyond = [float(np.exp(np.minimum((grown - tilts * end)[side], 0.0)).min(initial=1.0)) for end, side in sides]
    if window.first <= sum(first * times for first, _, times in measures):
        beyond[0] = 0.0
    if window.first + window.size > sum((first + len(masses) - 1) * times for first, masses, times in measures):
        beyond[1] = 0.0
    return Law(log_moment, masses, error, relative, *(mass * (1 + relative) for mass in beyond))


def _power(base: Array, times: int) -> Array:
    """Return base^times by squaring: one rounding a product, `times` in all."""
    if times < 2:
        return base if times else np.ones_like(base)
    half = _power(base, times // 2)
    return half * half * base if times & 1 else half * half
