"""Two mixtures of shifts of one noise, in closed form: the loss grows with the output, so its events are half lines.

Gaussian and Laplace releases, what they lose on a sample, persons with several records, and choices of a bounded range
are such pairs. Tails are kept as logarithms. Every mass is off by at most a relative 64 + 16 z^2 units of 2^-53, z
being the argument of a normal tail; that scipy's `log_ndtr` keeps to 32 of these units is assumed.
"""

import math

import numpy as np
from scipy.special import log_ndtr

from dpaudit.verifier.losses import Loss
from dpaudit.verifier.refusals import Array

UNIT = 2.0**-53
REACH, _FAR = (9.0, 24.0), 40.0  # deviations around the shifts: that are cut into cells, and that are ever asked for
_HIGHEST, _TINY = 700.0, 1e-320  # exponents; probabilities

Law = tuple[tuple[float, float], ...]  # (shift, weight)


def sides(loss: Loss) -> tuple[str, Law, Law]:
    """Return the noise of a loss, and the shifts of both laws with their weights."""
    if loss[0] == "mixture":
        return loss[1], loss[2], loss[3]
    return loss[0], ((float(loss[1]), 1.0),), ((0.0, 1.0),)


def ends(loss: Loss) -> tuple[float, float]:
    """Return the lowest and the highest shift."""
    shifts = [shift for law in sides(loss)[1:] for shift, _ in law]
    return min(shifts), max(shifts)


def losses_at(loss: Loss, z: Array) -> Array:
    """Return the loss of each output."""
    noise, *laws = sides(loss)
    if noise != "gaussian":
        clipped = np.clip(z, *ends(loss))
        rows = [[math.log(w) - np.abs(clipped - s) for s, w in law] for law in laws]
    else:
        rows = [[math.log(w) + s * z - s * s / 2 for s, w in law] for law in laws]
    first_log, second_log = (np.logaddexp.reduce(row) for row in rows)
    return np.asarray(first_log - second_log)


def closed(loss: Loss, epsilons: Array) -> tuple[Array, Array, Array]:
    """Return P(L > epsilon), e^epsilon Q(L > epsilon), and a bound on the error of both, for each epsilon."""
    outputs = _outputs_of(loss, epsilons)
    (over, _), (under, _) = _log_tails(loss, outputs)
    seen = outputs < ends(loss)[1] + _FAR
    p, q = np.exp(over) * seen, np.exp(np.minimum(0.0, under + epsilons)) * seen
    return p, q, _errors(loss, outputs) * p


def _outputs_of(loss: Loss, epsilons: Array) -> Array:
    """Return the outputs beyond which the loss exceeds each epsilon, next to the shifts or `_FAR` from them."""
    first, last = ends(loss)
    low, high = np.full(len(epsilons), first - _FAR), np.full(len(epsilons), last + _FAR)
    if loss[0] != "mixture" and last:
        if loss[0] == "gaussian":
            return np.asarray(np.clip(epsilons / last + last / 2, low, high))
        return np.where(epsilons < -last, low, np.where(epsilons >= last, high, (epsilons + last) / 2))
    while True:
        middle = (low + high) / 2
        inside = (low < middle) & (middle < high)
        if not inside.any():
            return high
        over = losses_at(loss, middle) > epsilons
        low, high = np.where(inside & ~over, middle, low), np.where(inside & over, middle, high)


def cells(loss: Loss, count: int) -> tuple[Array, list[Array], list[Array]]:
    """Return the losses between cells of outputs, and for P and for Q the masses of cells with their errors.

    The first mass is that of all outputs below, the last that above. Masses of Q are scaled by e^loss, of the cell's
    lower end.
    """
    first, last = ends(loss)
    low, high = (first - REACH[0], last + REACH[1]) if sides(loss)[0] == "gaussian" else (first, last)
    z = np.linspace(low, high, count + 1)
    at = np.maximum.accumulate(losses_at(loss, z))
    off = _errors(loss, z)
    p, q = (_masses(*tails, grown, off) for tails, grown in zip(_log_tails(loss, z), (0.0 * at, at), strict=True))
    noise, *laws = sides(loss)
    if noise == "laplace":
        for (masses, errors), law, grown in zip((p, q), laws, (0.0 * at, at), strict=True):
            masses[1:-1] = _laplace_masses(law, z, grown[:-1])
            errors[1:-1] = UNIT * (64 + 4 * (last - first)) * masses[1:-1]
    return at, p, q


def _masses(over: Array, under: Array, grown: Array, off: Array) -> list[Array]:
    """Return masses between outputs, from differences of the smaller tail, with both outer ones, and their errors."""
    left, right = (
        [np.exp(np.minimum(tail[ends] + grown[:-1], _HIGHEST)) for tail in (over, under)]
        for ends in (slice(None, -1), slice(1, None))
    )
    upper = over[:-1] <= under[1:]
    outer = [np.exp(np.minimum(tail[end] + grown[end], _HIGHEST)) for tail, end in ((under, 0), (over, -1))]
    inner = np.where(upper, left[0] - right[0], right[1] - left[1])
    errors = 2 * np.where(upper, off[:-1] * left[0], off[1:] * right[1])
    return [np.hstack((outer[0], inner, outer[1])), np.hstack((off[0] * outer[0], errors, off[-1] * outer[1]))]


def _laplace_masses(law: Law, z: Array, grown: Array) -> Array:
    """Return Laplace masses between outputs, times e^grown, as sums of products: no difference of tails rounds them."""
    total, width = np.zeros(len(grown)), -np.expm1(-np.diff(z))
    for shift, weight in law:
        low, high = z[:-1] - shift, z[1:] - shift
        nearest = np.where(high <= 0, high, -low)
        across = (low < 0) & (high > 0)
        one_side = np.exp(np.minimum(nearest + grown, _HIGHEST)) * width
        two_sides = np.exp(grown) * -(np.expm1(np.minimum(low, 0.0)) + np.expm1(-np.maximum(high, 0.0)))
        total += weight / 2 * np.where(across, two_sides, one_side)
    return total


def _log_tails(loss: Loss, z: Array) -> list[tuple[Array, Array]]:
    """Return the logarithms of the masses above and below each output, of P and of Q."""
    noise, *laws = sides(loss)
    first, last = ends(loss)

    def tail(law: Law, side: int) -> Array:
        rows = [math.log(w) + _tail(noise, side * (z - s), (last - first) * side * (1 if s else -1)) for s, w in law]
        return np.asarray(np.logaddexp.reduce(rows))

    return [(tail(law, 1), tail(law, -1)) for law in laws]


def _tail(noise: str, x: Array, width: float) -> Array:
    """Return the logarithm of the noise's mass above x; of a range, of e^-|x| on one side, as wide as `width` says."""
    if noise == "gaussian":
        return np.asarray(log_ndtr(-x))
    if noise == "laplace":
        return np.where(x > 0, -x - math.log(2), np.log1p(-np.exp(-np.abs(x)) / 2))
    inside = np.clip(x if width > 0 else x + width, -abs(width), 0.0)
    faded = 0.0 if width > 0 else np.clip(x, 0.0, -width)
    return np.asarray(np.log(np.maximum(np.expm1(inside) / math.expm1(-abs(width)), _TINY)) - faded)


def _errors(loss: Loss, z: Array) -> Array:
    """Return the relative errors of the masses beyond outputs."""
    first, last = ends(loss)
    furthest = np.maximum(np.abs(z - first), np.abs(z - last)) if sides(loss)[0] == "gaussian" else 0.0 * z
    return UNIT * (64 + 16 * furthest**2)
