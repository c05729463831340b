"""The law of a sum of losses, weighted by e^(tilt k) at knot k and composed by powers of Fourier transforms.

A part that occurs n times has the weights w_k = m_k e^(tilt k - a), which sum to about 1. With c the circular
convolution power of the weights, the mass at knot K of the sum is c_K e^(A - tilt K), A the sum of all a.
Each c_K is known within one `error`, and holds in addition what lies outside the window of knots.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit.engines.transform import Complexes, Floats, relative_error, signal, spectrum

_UNIT = 2.0**-53
_LARGEST = 600.0  # the logarithm of a total weight beyond which rounding has taken over
_PRODUCT = 3 * _UNIT  # a complex product, relatively
_LEAST = 1e-290  # covers what underflows


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The tilted masses of one part, from above or from below, and the logarithm a of their scale.

    Unit: mass m_k is weights[k] e^(a - tilt k).
    """

    weights: Floats
    log_scale: float
    times: int

    @cached_property
    def _logarithms(self) -> tuple[Floats, Floats]:
        """The places of weights that are not 0, and the logarithms of these, for sums at many slopes."""
        places = np.flatnonzero(self.weights)
        return places.astype(np.float64), np.log(self.weights[places])

    def log_moment(self, more: float) -> float:
        """Return the logarithm of the sum of weights[k] e^(more k), rounded up by about 1e-10."""
        places, logarithms = self._logarithms
        sizes = logarithms + more * places
        top = float(sizes.max(initial=-math.inf))
        value = top + math.log(float(np.exp(sizes - top).sum())) if math.isfinite(top) else top
        return value + 1e-11 + 1e-13 * (abs(more) * len(self.weights) + 700)


def weighted(masses: Floats, tilt: float, times: int, *, upwards: bool) -> Weights:
    """Return masses tilted, their rounding moved to the side that `upwards` says.

    Exponents err by 4 u of their terms, exponentials and logarithms by 4 units in the last place.
    """
    exponents = tilt * np.arange(len(masses), dtype=np.float64)
    logarithms = np.log(np.maximum(masses, sys.float_info.min))
    sizes = logarithms + exponents
    top = float(sizes.max())
    log_scale = top + math.log(float(np.exp(sizes - top).sum()))
    tilted = np.exp(sizes - log_scale)
    blur = _UNIT * (16 + 4 * (np.abs(logarithms) + np.abs(exponents) + abs(log_scale)))
    if upwards:
        tilted = np.maximum(tilted * (1 + blur), _LEAST)
    else:
        tilted *= 1 - blur
        tilted[(tilted < _LEAST) | (masses < sys.float_info.min)] = 0.0
    return Weights(weights=np.asarray(tilted, np.float64), log_scale=log_scale, times=times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The coefficients c of the knots first, first + 1, ..., each within `error`, and the scale A within `blur`."""

    coefficients: Floats
    error: float
    log_scale: float
    blur: float


def composed(parts: Sequence[Weights], first: int, size: int, shown: int) -> Law:
    """Return the law of the sum, modulo `size`, on `shown` knots from `first` on.

    Where rounding has taken over, nothing is known: `blur` is infinite.

    Guarantee: a product of computed transforms x_i + e_i, |e_i| at most E, differs from that of the x_i by at most the
    sum of n_i E / (|x_i| + E) times the product of (|x_i| + E)^n_i; the true |x_i| is within E of the computed one.
    Products of n numbers add 3 u n, and the way back adds its own error: all three sums are taken here.
    """
    events = sum(part.times for part in parts)
    unit = relative_error(size)
    product = np.ones(size // 2 + 1, np.complex128)
    log_moduli, sensitivity = np.zeros(size // 2 + 1), np.zeros(size // 2 + 1)
    for part in parts:
        folded = _folded(part.weights, size)
        entries = spectrum(folded)
        error = unit * float(folded.sum()) * 1.001 + _UNIT * len(part.weights) / size
        moduli = np.abs(entries) * (1 + 8 * _UNIT) + 2 * error
        log_moduli += part.times * np.log(moduli)
        sensitivity += part.times * error / moduli
        with np.errstate(over="ignore", invalid="ignore"):
            product *= power_of(entries, part.times)
    if not max(float(log_moduli.max()), float((log_moduli + sensitivity).max()) / 2) < _LARGEST:
        return Law(coefficients=np.zeros(shown), error=0.0, log_scale=0.0, blur=math.inf)
    bounds = np.exp(log_moduli * (1 - 1e-12) + 1e-9)
    back = 1.01 * float((bounds * (sensitivity + _PRODUCT * events + unit)).sum()) + _LEAST
    circular = np.roll(signal(product), -(first % size))
    return Law(
        coefficients=circular[:shown],
        error=2 * back / size,
        log_scale=math.fsum(part.times * part.log_scale for part in parts),
        blur=4 * _UNIT * math.fsum(abs(part.times * part.log_scale) for part in parts),
    )


def _folded(weights: Floats, size: int) -> Floats:
    """Return weights summed modulo `size`."""
    rows = -(-len(weights) // size)
    padded = np.zeros(rows * size)
    padded[: len(weights)] = weights
    return np.asarray(padded.reshape(rows, size).sum(axis=0), np.float64)


def power_of(entries: Complexes, times: int) -> Complexes:
    """Return the power of every entry by repeated squaring: `times` - 1 products in effect."""
    power, square = None, entries
    while True:
        if times & 1:
            power = square if power is None else power * square
        times >>= 1
        if not times:
            return square if power is None else power
        square = square * square
