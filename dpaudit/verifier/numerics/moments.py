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
_SLIP = 1e-12  # relative and for each loss; more than what rounding makes of a logarithm


def ranged(losses: dict[Loss, int]) -> bool:
    """Return whether several losses are met of which one is known by its range alone, and all have moments."""
    known = {loss[0] for loss in losses} <= {"range", "gaussian", "laplace", "discrete"}
    return known and sum(losses.values()) > 1 and any(loss[0] == "range" for loss in losses)


def above(losses: dict[Loss, int], epsilon: float) -> float:
    """Return an upper bound on the delta of the finite losses of a sum."""
    total, off = 0.0 * _POWERS, 0.0 * _POWERS
    for loss, n in losses.items():
        moment = _log_moment(loss)
        total, off = total + n * moment, off + n * _SLIP * (1 + np.abs(moment))
    constant = _POWERS * np.log(_POWERS / (1 + _POWERS)) - np.log1p(_POWERS)
    size = total + constant - _POWERS * epsilon
    return math.exp(min(0.0, float((size + off + _SLIP * (1 + np.abs(constant) + _POWERS * epsilon)).min())))


def _log_moment(loss: Loss) -> Array:
    """Return ln E_P[e^(s L)] at every power, the largest of any pair of a range."""
    kind, size = loss[0], loss[1]
    s = _POWERS
    if kind == "gaussian":
        return np.asarray(s * (1 + s) * size * size / 2)
    if kind == "laplace":
        return np.asarray(s * size + np.log1p(s / (2 * s + 1) * np.expm1(-(2 * s + 1) * size)))
    if kind == "discrete":
        values, masses = np.array(size).T
        top = values.max()
        sums = [float(np.exp(power * (values - top)) @ masses) for power in s]
        return np.asarray(s * top + np.log(sums))
    # Losses t and t - size, t with probability (e^size - x) / (e^size - 1), x = e^t: the best x is a quotient.
    low = -np.expm1(-s * size)
    high = math.expm1(size) + low
    best = s * high / ((1 + s) * low)
    return np.asarray(s * np.log(best) + np.log(high / (1 + s) / math.expm1(size)))
