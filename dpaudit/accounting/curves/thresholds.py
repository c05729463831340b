"""Moments of Laplace noise that is seen through one threshold, of the worst threshold for each moment.

The threshold lies x from one answer and y from the other one, x + y = shift: one side of it has the probabilities
1 - e^-x / 2 and e^-y / 2. Between two thresholds the points (e^-x, e^-y) lie on a hyperbola, inside the triangle of
both ends and the point where their tangents meet. That point is (e^-(x + c), e^-(y + c)) of the threshold half way,
where c = ln cosh(w / 2) is at most w^2 / 8, w being the distance of both. Moments are convex in both laws, so that a
corner of the triangle has the largest one; they grow with x and with y.
Source: the proof for permute-and-flip in `docs/theory/choices.md`.
"""

import numpy as np

from dpaudit.engines.transform import Floats

_CELLS, _NEAR, _FINER = 64, 5, 64  # cells over all thresholds, and those beside the best of them, cut again
_ROUNDED = 1e-12  # relative; more than rounding makes of a distance and of a sum of two terms
_LOST = 2.0**-48  # of the larger of two terms that nearly cancel; more than rounding makes of their sum


def log_moments(shift: float, powers: Floats) -> tuple[Floats, Floats]:
    """Return bounds on the largest ln E_P[e^(s L)] over all thresholds, at each power s > 0.

    >>> low, high = log_moments(2.0, np.array([1e-7]))
    >>> bool(0.974422 < low[0] / 1e-7 < high[0] / 1e-7 < 0.974423)
    True
    """
    width = shift / _CELLS
    powers = powers[:, None]
    _, rough = _between(shift, powers, np.linspace(0, shift, _CELLS + 1))
    first = np.clip(rough.argmax(axis=1) - _NEAR // 2, 0, _CELLS - _NEAR)[:, None]
    near = (np.arange(_CELLS) >= first) & (np.arange(_CELLS) < first + _NEAR)
    low, fine = _between(shift, powers, np.asarray(width * (first + np.arange(_NEAR * _FINER + 1) / _FINER)))
    high = np.maximum(fine.max(axis=1), np.where(near, 0.0, rough).max(axis=1))
    lost = _LOST * np.minimum(powers[:, 0] * shift, 1.0)
    return low * (1 - _ROUNDED) - lost, high * (1 + _ROUNDED) + lost


def _between(shift: float, powers: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Return the largest moment at `edges`, and a bound on that between each two of them, one row a power."""
    ends = _moment(powers, edges, np.maximum(0.0, shift - edges))
    width = np.diff(edges)
    middle, beyond = edges[..., :-1] + width / 2, width**2 / 8
    corner = _moment(powers, middle + beyond, shift - middle + beyond)
    return ends.max(axis=1), np.maximum(corner, np.maximum(ends[:, :-1], ends[:, 1:]))


def _moment(powers: Floats, x: Floats, y: Floats) -> Floats:
    """Return ln E_P[e^(s L)] of the threshold at x and y; near 0 by the excess over 1, which holds the digits."""
    behind = np.exp(-x) / 2
    gain, fall = y + np.log1p(-np.expm1(-x)), -(x + np.log1p(-np.expm1(-y)))
    excess = (1 - behind) * np.expm1(np.minimum(powers * gain, 1.0)) + behind * np.expm1(powers * fall)
    log_sum = np.logaddexp(np.log1p(-behind) + powers * gain, np.log(behind) + powers * fall)
    return np.asarray(np.where(powers * gain < 1, np.log1p(excess), log_sum))
