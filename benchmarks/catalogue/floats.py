"""Noise in floating point, whose low bits leak the answer, and mechanisms that repair it.

Outputs have their bits as features, so that a learner can use them.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import Law, binned, laplace_cdf
from dpaudit.model.mechanism import Array

_LOW_BITS = 12
_UNKNOWN = "the set of reachable doubles is not enumerated; the ideal mechanism's loss is the claim"


def _naive(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the answer plus -scale log(u) with a random sign, in doubles (Mironov 2012)."""
    sign = rng.choice([-1.0, 1.0], n_runs)
    return data + sign * scale * np.log(1 - rng.random(n_runs))


def _coarse(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the same with a uniform of 16 bits only: most outputs are reachable from one answer alone."""
    uniform = (rng.integers(0, 2**16, n_runs) + 1) / 2.0**16
    return data + rng.choice([-1.0, 1.0], n_runs) * scale * np.log(uniform)


def _snapped(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the answer clamped, noisy, rounded to a power of two at least the scale, and clamped (Mironov 2012)."""
    bound = 1e4
    width = 2.0 ** math.ceil(math.log2(scale))
    noisy = _naive(scale, np.clip(data, -bound, bound), rng, n_runs)
    return np.clip(np.round(noisy / width) * width, -bound, bound)


def _fixed_point(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return whole multiples of 2^-10: a rounded answer plus two-sided geometric noise."""
    unit = 2.0**-10
    share = -math.expm1(-unit / scale)
    noise = rng.geometric(share, n_runs) - rng.geometric(share, n_runs)
    return (round(data / unit) + noise) * unit


def _seen(run: Callable[..., Array], data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return features of each double: low mantissa bits, number of trailing zeros, exponent, and the value.

    They are post-processing of the output, so that a bound on their epsilon is a bound on the output's. Shape: (runs,
    15). Source: Mironov (2012) for the leak; Bichsel et al. (2021) for bit patterns as features.
    """
    values = np.asarray(run(data, rng, n_runs), dtype=np.float64).reshape(n_runs)
    bits = np.ascontiguousarray(values).view(np.uint64)
    mantissa = bits & np.uint64((1 << 52) - 1)
    low = (mantissa[:, None] >> np.arange(_LOW_BITS, dtype=np.uint64)) & np.uint64(1)
    lowest = mantissa & (~mantissa + np.uint64(1))
    zeros = np.where(mantissa == 0, 52, np.log2(np.maximum(lowest, 1).astype(float)))
    exponent = (bits >> np.uint64(52)) & np.uint64(0x7FF)
    return np.column_stack([low.astype(float), zeros, exponent.astype(float), values])


def _snapped_law(scale: float) -> Law:
    """Return the law of the snapped multiples around 0 and 1, of ideal noise."""
    width = 2.0 ** math.ceil(math.log2(scale))
    edges = (np.arange(-40, 40) + 0.5) * width
    return binned(laplace_cdf(0.0, scale), laplace_cdf(1.0, scale), edges)


_SNAPPED = 10.0 * (1 + 1e-9)
"""Slightly more than 10, for the rounding error of doubles."""


def _entry(name: str, run: Callable[..., Array], *, correct: bool, **more: Any) -> Entry:
    """Return an entry on answers 0 and 1, whose bits are seen."""
    return Entry(name=name, claim=pure(0.1), run=partial(_seen, run), neighbours=(0.0, 1.0), correct=correct, **more)


ENTRIES = (
    _entry("floating-point laplace", partial(_naive, 10.0), correct=False, published=0.252, note=_UNKNOWN),
    _entry("floating-point laplace, 16 random bits", partial(_coarse, 10.0), correct=False, note=_UNKNOWN),
    _entry(
        "snapped laplace",
        partial(_snapped, _SNAPPED),
        correct=True,
        truth=1 / _SNAPPED,
        law=partial(_snapped_law, _SNAPPED),
        published=0.098,
        note="the law of ideal noise; doubles add at most 2^-49 bound / scale, below 1e-11 (Mironov 2012, Theorem 1)",
    ),
    _entry("fixed-point geometric", partial(_fixed_point, 10.0), correct=True, truth=0.1),
)
