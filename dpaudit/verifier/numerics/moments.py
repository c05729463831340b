"""Bounds on the sum of losses by moments, where a loss has no worst pair: that of a choice of bounded range.

The law of a range lies above every pair that has it, and the sum of such laws lies above what any choices reach. The
moments of pairs are smaller, and they multiply. For s > 0 (Canonne, Kamath and Steinke 2020, Proposition 12)

    delta(epsilon) <= E_P[e^(s L)] e^(-s epsilon) (s / (1 + s))^s / (1 + s).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Loss = tuple[Any, ...]

_POWERS = np.geomspace(1e-4, 1e7, 6000)
_ENTRIES = 2**18  # of a table of powers and atoms
_SLIP = 1e-12  # relative and for each loss; more than what rounding makes of a logarithm


def ranged(losses: dict[Loss, int]) -> bool:
    """Return whether several losses are met of which one is known by its range alone, and all have moments."""
    known = {loss[0] for loss in losses} <= {"range", "gaussian", "laplace", "discrete"}
    return known and sum(losses.values()) > 1 and any(loss[0] == "range" for loss in losses)


def above(losses: dict[Loss, int], epsilons: Array) -> Array:
    """Return upper bounds on the deltas of the finite losses of a sum."""
    total, off = 0.0 * _POWERS, 0.0 * _POWERS
    for loss, n in losses.items():
        moment = log_moments(loss, _POWERS)
        total, off = total + n * moment, off + n * _SLIP * (1 + np.abs(moment))
    constant = _POWERS * np.log(_POWERS / (1 + _POWERS)) - np.log1p(_POWERS)
    size = total + constant + off + _SLIP * (1 + np.abs(constant))
    return np.array([math.exp(min(0.0, float((size - _POWERS * e * (1 - _SLIP)).min()))) for e in epsilons])


def log_moments(loss: Loss, powers: Array) -> Array:
    """Return ln E_P[e^(s L)] at every power s of a shift, of atoms, and the largest of any pair of a range."""
    kind, size = loss[0], loss[1]
    if kind == "gaussian":
        return np.asarray(powers * (1 + powers) * size * size / 2)
    if kind == "laplace":
        return np.asarray(powers * size + np.log1p(powers / (2 * powers + 1) * np.expm1(-(2 * powers + 1) * size)))
    if kind == "discrete":
        values, masses = np.array(size).T
        pieces = np.array_split(powers, 1 + len(powers) * len(values) // _ENTRIES)
        return np.concatenate([_of_atoms(values, masses, piece) for piece in pieces])
    # Losses t and t - size, t with probability (e^size - x) / (e^size - 1), x = e^t: the best x is a quotient.
    low = -np.expm1(-powers * size)
    high = math.expm1(size) + low
    best = powers * high / ((1 + powers) * low)
    return np.asarray(powers * np.log(best) + np.log(high / (1 + powers) / math.expm1(size)))


def _of_atoms(values: Array, masses: Array, powers: Array) -> Array:
    """Return the same of atoms; near 0 by the excess of the mean over 1."""
    products, largest = np.multiply.outer(powers, values), float(values.max())
    near = np.log1p(np.expm1(np.minimum(products, 1.0)) @ masses)
    far = powers * largest + np.log(np.exp(products - (powers * largest)[:, None]) @ masses)
    return np.asarray(np.where(powers * float(np.abs(values).max()) < 1, near, far))
