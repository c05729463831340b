"""A Fourier transform in doubles with a proved error: radix 2, in two passes over a square.

With u = 2^-53, every entry of the result is a sum over inputs of input times a product of roots of unity. An input
passes at most log2(size) + 2 multiplications by a root and as many additions. A root in the table is wrong by at most
6 u, a complex product by a relative sqrt(5) u (Brent, Percival and Zimmermann 2007), a sum by a relative u. A step
therefore errs by a relative 10 u at most, and an entry by `relative_error(size)` times the sum of the moduli.
The derivation is on the page "Rounding of the transform" of the documentation.
"""

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complex128]
_UNIT = 2.0**-53
_TERMS = 10  # of each Taylor series, which then errs by less than 2^-70 up to pi / 4


def relative_error(size: int) -> float:
    """Return the error of any entry of `spectrum` or `signal` over the sum of the moduli that go in.

    The factor 2 is for the pairs of real numbers that share one complex number.
    """
    return 2 * 10 * (math.log2(size) + 2) * _UNIT * 1.001


def spectrum(values: Floats) -> Complexes:
    """Return entries 0 to size/2 of sum over k of values[k] e^(-2 pi i j k / size).

    Shape: `size`, the length of `values`, is a power of two of 4 or more.
    Guarantee: each entry errs by at most `relative_error(size)` times the sum of |values|.
    """
    half = len(values) // 2
    packed = _transformed(np.ascontiguousarray(values).view(np.complex128))
    mirrored = np.conj(np.roll(packed[::-1], 1))
    even, odd = (packed + mirrored) / 2, (packed - mirrored) * -0.5j
    entries = np.empty(half + 1, np.complex128)
    entries[:half] = even + roots(len(values))[:half] * odd
    entries[half] = even[0] - odd[0]
    return entries


def signal(entries: Complexes) -> Floats:
    """Return the real values whose `spectrum` is given.

    Guarantee: each value errs by at most `relative_error(size)` times 2 / size times the sum of |entries|.
    """
    half = len(entries) - 1
    mirrored = np.conj(entries[:0:-1])
    even = (entries[:-1] + mirrored) / 2
    odd = (entries[:-1] - mirrored) / 2 * np.conj(roots(2 * half)[:half])
    packed = np.conj(_transformed(np.conj(even + 1j * odd)))
    return np.asarray(packed.view(np.float64) / half, np.float64)


def _transformed(values: Complexes) -> Complexes:
    """Return the transform of complex values: columns, a twist, and the columns of the transpose."""
    exponent = int(math.log2(len(values)))
    rows = 1 << (exponent // 2)
    columns = len(values) // rows
    twisted = _by_columns(values.reshape(rows, columns))
    twisted *= _twist(rows, columns)
    return _by_columns(np.ascontiguousarray(twisted.T)).ravel()


def _by_columns(square: Complexes) -> Complexes:
    """Return the transform of every column, each stage joining the transforms of the even and the odd rows."""
    rows, columns = square.shape
    table = roots(rows)
    transforms, size = square.reshape(1, rows, columns), 1
    while size < rows:
        half = transforms.shape[1] // 2
        turned = transforms[:, half:] * table[: rows // 2 : rows // (2 * size)][:, None, None]
        joined = np.empty((2 * size, half, columns), np.complex128)
        np.add(transforms[:, :half], turned, out=joined[:size])
        np.subtract(transforms[:, :half], turned, out=joined[size:])
        transforms, size = joined, 2 * size
    return transforms.reshape(rows, columns)


@lru_cache(maxsize=4)
def _twist(rows: int, columns: int) -> Complexes:
    """Return e^(-2 pi i j k / (rows columns)) for row j and column k."""
    factors = roots(rows * columns)[np.multiply.outer(np.arange(rows), np.arange(columns))]
    factors.flags.writeable = False
    return factors


@lru_cache(maxsize=16)
def roots(size: int) -> Complexes:
    """Return e^(-2 pi i k / size) for k below `size`, each within 6 u of the truth.

    Only additions and multiplications of doubles make them, whose rounding is known: for an angle x in [0, pi/4] the
    sine and the cosine are Taylor series in Horner's form. The other seven eighths follow by exchange and sign.
    """
    if size < 8:
        return np.array([1, -1j, -1, 1j])[:: 4 // size] if size > 1 else np.ones(1, np.complex128)
    eighth = size // 8
    x = math.pi / 4 * (np.arange(eighth + 1) / eighth)
    square = x * x
    cosine, sine = np.ones_like(x), np.ones_like(x)
    for term in range(_TERMS, 0, -1):
        cosine = 1 - square * cosine / ((2 * term) * (2 * term - 1))
        sine = 1 - square * sine / ((2 * term) * (2 * term + 1))
    sine = x * sine
    quarter = np.concatenate([cosine - 1j * sine, (sine - 1j * cosine)[-2:0:-1]])
    full_circle = np.concatenate([quarter, -1j * quarter, -quarter, 1j * quarter])
    full_circle.flags.writeable = False
    return np.asarray(full_circle, np.complex128)
