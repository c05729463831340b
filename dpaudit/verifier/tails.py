"""Both tails of one loss in closed form, scaled so that nothing overflows, with a bound on their errors.

Above l: P(L > l) and e^l Q(L > l). Below, by the pair read in the other order: P(L <= l) and e^l Q(L <= l). A
difference of two values is as exact as the smaller tail. Every number is off by at most `_UNITS` + 16 z^2 units of
2^-53, z being the argument of a normal tail. That scipy's `log_ndtr` keeps to 32 of these units is assumed.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from dpaudit.verifier.losses import Loss, leak, options, reverse, supremum
from dpaudit.verifier.refusals import follow

UNIT = 2.0**-53
_UNITS = 64.0
_FEW, _LARGEST = 64, 600.0  # atoms that are summed one by one; the largest loss of an atom among many
_FAR, _LOW = 24.0, 9.0  # deviations to the right and to the left of a normal law that are cut into cells

Array = np.ndarray[Any, Any]
Side = tuple[Array, Array, Array]  # under P, under Q times e^l, and a bound on the absolute error of both
Tail = tuple[Array, Array, Any]  # the same with an error in units of 2^-53, relative


def above(loss: Loss, at: Array) -> Side:
    """Return the upper tail of every l in `at`, given that L is finite under P."""
    if loss[0] == "choice":
        return _choice(loss, at)
    tails = {"gaussian": _gaussian, "laplace": _laplace, "range": _range, "sampled": _sampled, "discrete": _discrete}
    p, q, units = tails[loss[0]](loss, at)
    return p, q, UNIT * (_UNITS + units) * p


def below(loss: Loss, at: Array) -> Side:
    """Return the lower tail: what the reversed pair has above -l; a loss of exactly l is below."""
    back = reverse(loss)
    q, p, off = above(back, -np.nextafter(at, math.inf))
    scale = np.exp(np.minimum(at, 700.0)) * (1 - leak(back)) / (1 - leak(loss))
    return p * scale, q * scale, off * scale


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
    rare = max((1 / (1 - part[2]) for part in options(loss) if part[0] == "sampled"), default=0.0)
    return _UNITS * UNIT * (max(map(abs, ends(loss))) + rare)


def _mixture(mu: float, rate: float) -> Callable[[float], float]:
    """Return z -> ln(1 - rate + rate e^(mu z - mu^2/2))."""
    return lambda z: float(np.logaddexp(math.log1p(-rate), math.log(rate) + mu * z - mu * mu / 2))


def _gaussian(loss: Loss, at: Array) -> Tail:
    """N(mu, 1) against N(0, 1): the loss exceeds l where the output exceeds z = l/mu + mu/2."""
    mu = loss[1]
    z = at / mu + mu / 2
    return np.exp(log_ndtr(mu - z)), np.exp(at + log_ndtr(-z)), 16 * (z**2 + mu**2)


def _laplace(loss: Loss, at: Array) -> Tail:
    """Laplace noise moved by a shift: the loss is 2 z - shift between atoms at both ends."""
    near = np.where(at < loss[1], np.exp((np.clip(at, -loss[1], loss[1]) - loss[1]) / 2) / 2, 0.0)
    low, whole = at < -loss[1], np.exp(np.minimum(at, 0.0))
    return np.where(at < loss[1], 1.0 - near, 0.0), np.where(low, whole, near), 0.0


def _range(loss: Loss, at: Array) -> Tail:
    """Any loss within a range of w: the curve is (e^(w/2) - e^(l/2))^2 / (e^w - 1)."""
    down = (np.clip(at, -loss[1], loss[1]) - loss[1]) / 2
    p = np.expm1(down) / math.expm1(-loss[1])
    return p, np.where(at < -loss[1], np.exp(np.minimum(at, 0.0)), p * np.exp(down)), 0.0


def _sampled(loss: Loss, at: Array) -> Tail:
    """A Gaussian release on a Poisson sample, in either order: a monotone loss of a normal output."""
    _, mu, rate, order = loss
    seen, side = (at, -1.0) if order == "remove" else (-at, 1.0)
    inner = np.expm1(np.minimum(seen, 40.0)) + rate  # beyond 40 the two terms differ by less than rounding
    size = np.log(np.maximum(inner, 1e-320) / rate) + np.maximum(seen - 40.0, 0.0)
    z = np.where(inner > 0, size / mu + mu / 2, -np.inf)
    plain, moved = log_ndtr(side * z), log_ndtr(side * (z - mu))
    mixed = np.logaddexp(math.log1p(-rate) + plain, math.log(rate) + moved)
    p, q = (mixed, plain) if order == "remove" else (plain, mixed)
    return np.exp(p), np.exp(at + q), 16 * (np.where(inner > 0, z, 0.0) ** 2 + mu**2)


def _discrete(loss: Loss, at: Array) -> Tail:
    """Finitely many atoms: sums over those above."""
    values, masses = np.array(loss[1] or ((0.0, 0.0),)).T
    masses = masses / (1 - loss[2])
    if len(values) <= _FEW:
        held = (values > at[:, None]) * masses
        return held.sum(axis=1), (held * np.exp(np.minimum(at[:, None] - values, 0.0))).sum(axis=1), len(values)
    follow(max(-values[0], values[-1]) <= _LARGEST, "a loss of many atoms is too large for this checker")
    rows = (np.cumsum(row[::-1])[::-1] for row in (masses, masses * np.exp(-values)))
    p, q = (np.concatenate((row, [0.0]))[np.searchsorted(values, at, side="right")] for row in rows)
    return p, np.exp(np.minimum(at, _LARGEST)) * q, len(values) + 4 * np.abs(at)


def _choice(loss: Loss, at: Array) -> Side:
    """The option whose curve is largest at l; the error is tripled, as rounding may name the second largest."""
    lost, rows = leak(loss), []
    for option in options(loss):
        p, q, off = above(option, at)
        kept = (1 - leak(option)) / (1 - lost)
        rows.append((np.maximum((leak(option) - lost) / (1 - lost) + kept * p, 0.0), kept * q, off * kept))
    held = np.array(rows).transpose(1, 0, 2)
    best = np.argmax(held[0] - held[1], axis=0)[None]
    p, q = (np.take_along_axis(row, best, axis=0)[0] for row in held[:2])
    return p, q, 3 * np.max(held[2], axis=0) + _UNITS * UNIT * lost / (1 - lost)
