"""A whole trade-off curve measured from below: the rates of every threshold, moved by a band that holds at all of them.

With e = sqrt(ln(1 / level) / (2 n)) the empirical tail of a sample is within e of the true one, on one side and at all
thresholds, except with probability `level`, if this is at most 1/2. Both samples share one error probability: the curve
is the lowest one of all pairs of levels. Mixtures of two thresholds are tests as well, so concave hulls are measured.
Source: Dvoretzky, Kiefer and Wolfowitz (1956) with the constant of Massart (1990).
"""

import numpy as np
from scipy.special import ndtri

from audits.bounds.renyi_region import coin_rho
from audits.bounds.shared_error import shared_levels
from dpaudit.checks import open_probability
from dpaudit.model.mechanism import Array

_MOST, _SHOWN = 4_000, 200
_ROUNDING = 1e-12


def measured_curve(ins: Array, outs: Array, significance: float) -> tuple[tuple[float, float], ...]:
    """Return (false, true) positive rates that some test is known to reach: corners of a concave curve.

    Shape: (n1,), (n0,); from (0, 0) to (1, 1), at most 200 corners, of at most 4,000 thresholds. Guarantee: for every
    corner a test exists with a false positive rate of at most the first and a true positive rate of at least the second
    number, all at once with probability at least 1 - `significance`, for independent scores of any law with a direction
    fixed before.
    Edge cases: only (0, 0) and (1, 1) where nothing is above the diagonal; nothing where a side has no score.

    >>> tuple(round(rate, 4) for rate in measured_curve(np.arange(1_000.0) + 500, np.arange(1_000.0), 0.01)[1])
    (0.0567, 0.4738)
    """
    open_probability("significance", significance)
    if min(len(ins), len(outs)) == 0:
        return ()
    every = np.unique(np.concatenate([ins, outs]))
    values = _spread(every, _MOST)
    false, true = (1 - np.searchsorted(np.sort(side), values, side="left") / len(side) for side in (outs, ins))
    seen = np.array(concave_hull(false, true))
    moved = [
        np.array(concave_hull(np.minimum(1.0, seen[:, 0] + first), np.maximum(0.0, seen[:, 1] - second))).T
        for first, second in zip(*_moves(len(outs), len(ins), significance), strict=True)
    ]
    rates = _spread(np.unique(np.concatenate([corners[0] for corners in moved])), _SHOWN)
    lowest = np.min([np.interp(rates, *corners) for corners in moved], axis=0)
    return tuple(concave_hull(rates, np.maximum(0.0, lowest - _ROUNDING)))


def curve_mu(curve: tuple[tuple[float, float], ...]) -> float:
    """Return the largest mu that a measured curve refutes, or 0; with the curve's own error probability.

    >>> round(curve_mu(((0.0, 0.0), (0.1, 0.4), (1.0, 1.0))), 4)
    1.0282
    """
    inside = [(false, true) for false, true in curve if 0 < false < 1 and 0 < true < 1]
    return max((max(0.0, float(ndtri(true) - ndtri(false)) - _ROUNDING) for false, true in inside), default=0.0)


def curve_rho(curve: tuple[tuple[float, float], ...]) -> float:
    """Return the largest rho that a measured curve refutes, or 0; with the curve's own error probability.

    >>> round(curve_rho(((0.0, 0.0), (0.1, 0.4), (1.0, 1.0))), 4)
    0.3468
    """
    inside = np.array([(false, true) for false, true in curve if 0 < false < true])
    if not len(inside):
        return 0.0
    false, true = inside[:, 0], inside[:, 1]
    largest = float(np.maximum(coin_rho(true, false), coin_rho(false, true)).max())
    return max(0.0, largest * (1 - _ROUNDING) - _ROUNDING)


def concave_hull(false: Array, true: Array) -> list[tuple[float, float]]:
    """Return the corners of the concave hull of points, (0, 0) and (1, 1)."""
    corners = [(0.0, 0.0)]
    order = np.lexsort((true, false))
    for x, y in [*zip(false[order].tolist(), true[order].tolist(), strict=True), (1.0, 1.0)]:
        while len(corners) > 1 and _below(corners[-2], corners[-1], (x, y)):
            corners.pop()
        if y > corners[-1][1]:
            corners.append((x, y))
    return corners


def _moves(outs: int, ins: int, significance: float) -> tuple[Array, Array]:
    """Return by how much false and true positive rates are moved, for each pair of levels; above 1/2 none is proved."""
    levels = np.minimum(0.5, shared_levels(significance))
    first, second = (np.sqrt(-np.log(level) / (2 * side)) for level, side in zip(levels, (outs, ins), strict=True))
    return first, second


def _spread(values: Array, most: int) -> Array:
    """Return at most so many of sorted values, with both ends."""
    kept: Array = values[np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))]
    return kept


def _below(first: tuple[float, float], second: tuple[float, float], third: tuple[float, float]) -> bool:
    """Return whether the second of three points lies on or below the line from the first to the third."""
    across = (second[0] - first[0]) * (third[1] - first[1]) - (third[0] - first[0]) * (second[1] - first[1])
    return across >= 0
