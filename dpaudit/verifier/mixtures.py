"""Two mixtures of shifts of one noise, cut where the output is: the loss grows with it, and masses are closed forms.

A cell of outputs has masses p and q and losses between those of its two ends. From above its mass is split between
these two, which keeps p and q; from below the cell is a label.
"""

import math

import numpy as np
from scipy.special import ndtr

from dpaudit.verifier.lattice import knots
from dpaudit.verifier.losses import Loss
from dpaudit.verifier.refusals import follow
from dpaudit.verifier.tails import UNIT, Array

_REACH, _MOST, _LARGEST = (9.0, 14.0), 2**17, 600.0  # deviations below and above the shifts; cells; the largest loss


def cells(loss: Loss, step: float) -> tuple[Array, Array, float, list[Array]]:
    """Return atoms and masses from above, what is lost, and p and q of the labels: p, q low and p, q high."""
    normal, low, high = loss[1] == "gaussian", loss[3][0][0], loss[2][-1][0]
    first, last = (low - _REACH[0], high + _REACH[1]) if normal else (low, high)
    steep = high - low if normal else 2.0  # the slope of the loss is at most this
    z = np.linspace(first, last, 2 + min(_MOST, math.ceil((last - first) * steep / step)))
    at = np.maximum.accumulate(losses_at(loss, z))
    follow(max(abs(at[0]), at[-1]) < _LARGEST, "a mixture's loss is too large for this checker")
    off = UNIT * (64 + 16 * max(abs(first - high), abs(last - low)) ** 2)
    (p, p_off, p_ends), (q, q_off, q_ends) = (_masses(loss[1], side, z, off) for side in loss[2:])
    scale, width = np.exp(at[:-1]), np.diff(at)
    rise = (p - q * scale + p_off + q_off * scale) / -np.expm1(-np.maximum(width, 1e-12))
    up = np.where(width > 1e-9, np.clip(rise, 0.0, p + p_off), p + p_off)
    masses = knots(p + p_off - up, up)
    masses[[0, -1]] += p_ends[0], 0.0 if normal else p_ends[1]
    rows = [np.concatenate((ends[:1], row, ends[1:])) for row, ends in ((p, p_ends), (q, q_ends))]
    offs = [np.concatenate((ends[:1] * off, row, ends[1:] * off)) for row, ends in ((p_off, p_ends), (q_off, q_ends))]
    labels = [np.maximum(0.0, rows[i] + side * offs[i]) for i, side in ((0, -1), (1, 1), (0, 1), (1, -1))]
    return at, masses, float(p_ends[1] * (1 + off)) if normal else 0.0, labels


def _masses(noise: str, side: tuple[tuple[float, float], ...], z: Array, off: float) -> tuple[Array, Array, Array]:
    """Return the masses between outputs, from differences of the smaller tail, their errors, and both outer masses."""
    over, under = (np.asarray(sum(w * _tail(noise, sign * (z - s)) for s, w in side)) for sign in (1, -1))
    upper = over[:-1] <= under[1:]
    masses = np.where(upper, over[:-1] - over[1:], under[1:] - under[:-1])
    return masses, 2 * off * np.where(upper, over[:-1], under[1:]), np.array([under[0], over[-1]])


def losses_at(loss: Loss, z: Array) -> Array:
    """Return the loss of each output."""
    sizes = []
    for side in loss[2:]:
        rows = [math.log(w) - (0.5 * (z - s) ** 2 if loss[1] == "gaussian" else abs(z - s)) for s, w in side]
        top = np.maximum.reduce(rows)
        sizes.append(top + np.log(sum(np.exp(row - top) for row in rows)))
    return np.asarray(sizes[0] - sizes[1])


def _tail(noise: str, z: Array) -> Array:
    """Return the upper tail of the noise."""
    small = np.exp(-np.abs(z)) / 2
    return np.asarray(ndtr(-z)) if noise == "gaussian" else np.where(z > 0, small, 1 - small)
