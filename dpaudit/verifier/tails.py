"""Both tails of one loss in closed form, scaled so that nothing overflows, with a bound on their errors.

Above l: P(L > l) and e^l Q(L > l). Below: P(L <= l) and e^l Q(L <= l). A difference of two values is as exact as the
smaller tail. Every number is off by at most `_UNITS` + 16 z^2 units of 2^-53, z being the argument of a normal tail.
That scipy's `log_ndtr` keeps to 32 of these units is assumed; no library states a proved constant.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from dpaudit.verifier.losses import Loss, leak, options, require, supremum

UNIT = 2.0**-53
_UNITS = 64.0
_FEW, _LARGEST = 64, 600.0  # atoms that are summed one by one; the largest loss of an atom among many
_FAR, _LOW = 24.0, 9.0  # deviations to the right and to the left of a normal law that are cut into cells

Array = np.ndarray[Any, np.dtype[np.float64]]
Side = tuple[Array, Array, Array, Array]  # under P, under Q times e^l, and the absolute errors of both


def tails(loss: Loss, at: Array) -> tuple[Side, Side]:
    """Return both sides of every l in `at`, given that L is finite under P."""
    if loss[0] == "choice":
        return _choice(loss, at)
    above, below, units = _TAILS[loss[0]](loss, at)
    off = UNIT * (_UNITS + units)
    return (*above, off * above[0], off * above[1]), (*below, off * below[0], off * below[1])


def ends(loss: Loss) -> tuple[float, float]:
    """Return the ends of the interval of losses that is cut into cells; what lies outside has next to no mass."""
    if loss[0] == "choice":
        lows, highs = zip(*map(ends, options(loss)), strict=True)
        return min(lows), max(highs)
    if loss[0] == "gaussian":
        return loss[1] ** 2 / 2 - _LOW * loss[1], loss[1] ** 2 / 2 + _FAR * loss[1]
    if loss[0] == "sampled":
        mixed = _mixture(loss[1], loss[2])
        return (mixed(-_LOW), mixed(loss[1] + _FAR)) if loss[3] == "remove" else (-mixed(_LOW), supremum(loss))
    if loss[0] == "discrete":
        return (loss[1][0][0], loss[1][-1][0]) if loss[1] else (0.0, 0.0)
    return -float(loss[1]), float(loss[1])


def blur(loss: Loss) -> float:
    """Return how far rounding may have moved a loss from where its tails put it."""
    kept = min((1 - part[2] for part in options(loss) if part[0] == "sampled"), default=1.0)
    return _UNITS * UNIT * (max(map(abs, ends(loss))) + 1 / kept)


def _mixture(mu: float, rate: float) -> Callable[[float], float]:
    """Return z -> ln(1 - rate + rate e^(mu z - mu^2/2))."""
    return lambda z: float(np.logaddexp(math.log1p(-rate), math.log(rate) + mu * z - mu * mu / 2))


Tails = tuple[tuple[Array, Array], tuple[Array, Array], Any]


def _gaussian(loss: Loss, at: Array) -> Tails:
    """N(mu, 1) against N(0, 1): the loss exceeds l where the output exceeds z = l/mu + mu/2."""
    mu = loss[1]
    z = at / mu + mu / 2
    above = np.exp(log_ndtr(mu - z)), np.exp(at + log_ndtr(-z))
    return above, (np.exp(log_ndtr(z - mu)), np.exp(np.minimum(at + log_ndtr(z), 700.0))), 16 * (z**2 + mu**2)


def _laplace(loss: Loss, at: Array) -> Tails:
    """Laplace noise moved by a shift: the loss is 2 z - shift between atoms at both ends."""
    shift, whole = loss[1], np.exp(np.minimum(at, 700.0))
    low, high = at < -shift, at >= shift
    near = np.exp((np.clip(at, -shift, shift) - shift) / 2) / 2

    def three(left: Array | float, middle: Array, right: Array | float) -> Array:
        return np.where(low, left, np.where(high, right, middle))

    return (three(1, 1 - near, 0), three(whole, near, 0)), (three(0, near, 1), three(0, whole - near, whole)), 0.0


def _range(loss: Loss, at: Array) -> Tails:
    """Any loss within a range of w: the curve is (e^(w/2) - e^(l/2))^2 / (e^w - 1)."""
    width, whole = loss[1], np.exp(np.minimum(at, 700.0))
    down, up = (np.clip(at, -width, width) - width) / 2, (np.clip(at, -width, width) + width) / 2
    above = np.expm1(down) / math.expm1(-width)
    below = -math.exp(-width) * np.expm1(up) / math.expm1(-width)
    scaled = np.where(at < -width, whole, above * np.exp(down))
    return (above, scaled), (below, whole * np.expm1(-up) / math.expm1(-width)), 0.0


def _sampled(loss: Loss, at: Array) -> Tails:
    """A Gaussian release on a Poisson sample, in either order: a monotone loss of a normal output."""
    _, mu, rate, order = loss
    seen, side = (at, -1.0) if order == "remove" else (-at, 1.0)
    inner = np.expm1(np.minimum(seen, 40.0)) + rate  # beyond 40 the two terms differ by less than rounding
    size = np.log(np.maximum(inner, 1e-320) / rate) + np.maximum(seen - 40.0, 0.0)
    z = np.where(inner > 0, size / mu + mu / 2, -np.inf)
    found = []
    for way in (side, -side):
        plain, moved = log_ndtr(way * z), log_ndtr(way * (z - mu))
        mixed = np.logaddexp(math.log1p(-rate) + plain, math.log(rate) + moved)
        under_p, under_q = (mixed, plain) if order == "remove" else (plain, mixed)
        found.append((np.exp(under_p), np.exp(np.minimum(at + under_q, 700.0))))
    return found[0], found[1], 16 * (np.where(inner > 0, z, 0.0) ** 2 + mu**2)


def _discrete(loss: Loss, at: Array) -> Tails:
    """Finitely many atoms: sums over those above and those below."""
    values, masses = np.array(loss[1] or ((0.0, 0.0),)).T
    masses = masses / (1 - loss[2])
    if len(values) <= _FEW:
        over = values > at[:, None]
        scaled = masses * np.exp(np.minimum(at[:, None] - values, 700.0))
        rows = [(held * masses).sum(axis=1) for held in (over, ~over)]
        return (rows[0], (over * scaled).sum(axis=1)), (rows[1], (~over * scaled).sum(axis=1)), len(values)
    require(max(-values[0], values[-1]) <= _LARGEST, "a loss of many atoms is too large for this checker")
    place, whole = np.searchsorted(values, at, side="right"), np.exp(np.minimum(at, _LARGEST))
    under = masses, masses * np.exp(-values)
    above, tilted = (np.concatenate((np.cumsum(row[::-1])[::-1], [0.0]))[place] for row in under)
    below, rest = (np.concatenate(([0.0], np.cumsum(row)))[place] for row in under)
    return (above, whole * tilted), (below, whole * rest), len(values) + 4 * np.abs(at)


def _choice(loss: Loss, at: Array) -> tuple[Side, Side]:
    """The option whose curve is largest at l; the error is doubled, as rounding may name the second largest."""
    lost, rows = leak(loss), []
    for option in options(loss):
        above, scaled, off, _ = tails(option, at)[0]
        kept = (1 - leak(option)) / (1 - lost)
        rows.append((np.maximum((leak(option) - lost) / (1 - lost) + kept * above, 0.0), kept * scaled, off * kept))
    above, scaled, off = np.array(rows).transpose(1, 0, 2)
    best = np.argmax(above - scaled, axis=0)[None]
    found = [np.take_along_axis(row, best, axis=0)[0] for row in (above, scaled)]
    error = 3 * np.max(off, axis=0) + _UNITS * UNIT * lost / (1 - lost)
    unknown = np.full(len(at), np.inf)
    return (found[0], found[1], error, error), (unknown, unknown, unknown, unknown)


_TAILS = {"gaussian": _gaussian, "laplace": _laplace, "range": _range, "sampled": _sampled, "discrete": _discrete}
