"""Integer noise by itself and on a sample, and the losses of samples that are known outcome by outcome."""

import math
from collections import Counter

import numpy as np
from scipy.special import ndtr

from dpaudit.verifier.losses import Loss, Multiset, discrete, reverse
from dpaudit.verifier.numerics.rates import absent, log_absent, sampled
from dpaudit.verifier.refusals import Array, Table, positive, require

LATTICE = ("discrete_laplace", "discrete_gaussian", "truncated_discrete_gaussian")


def noise_law(fields: Table) -> tuple[Array, Array, Array, float]:
    """Return whole numbers, the noise there, ln of the ratio of moved noise to it, and a bound on what lies beyond.

    The first and last number of a discrete Laplace stand for all further out, which are moved alike; a discrete
    Gaussian is counted up to 22 deviations. Moved noise of a bounded range misses some numbers: ln 0.
    """
    if fields["name"] == "discrete_laplace":
        move, unit = fields["l1_sensitivity"], positive(fields, "scale")
        require(2.0**-8 <= unit <= 2.0**53 and move <= min(500 * unit, 10**5), "a discrete Laplace is out of range")
        at = np.arange(-move, move + 1)
        masses = np.exp(-abs(at) / unit) * math.tanh(0.5 / unit)
        masses[[0, -1]] = math.exp(-move / unit) / (1 + math.exp(-1 / unit))
        return at, masses, (abs(at) - abs(at - move)) / unit, 0.0
    move, unit, cut = fields["l2_sensitivity"], positive(fields, "stddev"), "cut" in fields
    reach = round(positive(fields, "cut") * unit) if cut else math.ceil(22 * unit) + move + 1
    fits = 0.1 <= fields["cut"] <= 1000 and 1 <= reach <= 10**5 if cut else move <= 10 * unit
    require(fits and 0.1 <= unit <= 1e4, "a discrete Gaussian is out of range")
    at = np.arange(-reach, reach + 1)
    masses = np.exp(-((at / unit) ** 2) / 2)
    away = np.where(at < move - reach, -np.inf, (at - move / 2) * (move / unit**2))
    return at, masses / masses.sum(), away, 0.0 if cut else 1e-106


def mapped(part: Multiset, rate: float) -> Loss:
    """Return one finite loss on a sample that holds the record with probability `rate`, atom by atom."""
    ((_, atoms, lost, other, *_),) = part
    if not atoms:
        return (*discrete([(log_absent(rate), absent(rate) * other)], rate * lost), "sampled")
    values, masses = np.array(atoms).T
    masses_at, unused = dict(atoms), absent(rate)
    opposite = masses_at if lost == other and all(-v in masses_at for v in masses_at) else {}
    under = [opposite.get(-v, p * math.exp(-v)) for v, p in atoms]
    sampled_masses: Counter[float] = Counter({log_absent(rate): unused * other})
    for v, p, q in zip(sampled(values, rate).tolist(), masses.tolist(), under, strict=True):
        sampled_masses[v] += rate * p + unused * q
    return (*discrete(list(sampled_masses.items()), rate * lost), "sampled")


def opposed(noise: Table, rate: float, *, low: bool) -> Loss:
    """Return the law of ln (first / second), first and second with the record at +move and at -move.

    The noise being even, a loss is the difference of the same function at an output and at its opposite.
    """
    _, masses, away, beyond = noise_law(noise)
    grown = sampled(away, rate)
    met = np.isfinite(grown) & np.isfinite(grown[::-1])
    first, loss = masses * np.exp(grown), grown[met] - grown[::-1][met]
    lost = float(first[~met].sum()) + rate * float(masses[np.isinf(away)].sum()) * ("cut" in noise)
    lost = min(1.0, lost + beyond * (not low))
    return discrete(list(zip(loss.tolist(), first[met].tolist(), strict=True)), lost, lost)


def zeroed(mu: float, rate: float) -> Loss:
    """Return what is above a record of a fixed-size sample against its zero: all others opposite; back, all alike."""
    present, absent = _larger(2 * mu, mu, rate), _larger(mu, 0.0, rate)
    return ("between", ("halves", present, reverse(absent)), zeroed_cells(mu, rate))


def _larger(move: float, other: float, rate: float) -> Loss:
    """Return what is above a sample with one move against one with a smaller move, at an epsilon of 0 and more.

    The loss is 0 at the output between the moves and grows from there; what lies below is one output.
    """
    z = np.concatenate(([-np.inf], (move + other) / 2 + np.arange(0, move - other + 14, 1 / 256), [np.inf]))
    p, q = _cells(z, (move, other), rate)
    far, near = (sampled(m * z[1:-1] - m * m / 2, rate) for m in (move, other))
    at = np.maximum.accumulate(np.maximum(far - near, 0.0))
    beyond = np.cumsum(p[::-1])[::-1]
    rise = p[1:-1] - q[1:-1] * np.exp(at[:-1]) + 256 * 2.0**-53 * (1 + z[1:-2] ** 2) * beyond[1:-1]
    up = np.clip(rise / -np.expm1(-np.maximum(np.diff(at), 1e-300)), 0.0, p[1:-1])
    atoms = [*zip(at[:-1], p[1:-1] - up, strict=True), *zip(at[1:], up, strict=True), (math.log(p[0] / q[0]), p[0])]
    return discrete([(float(v), float(mass)) for v, mass in atoms], float(p[-1]))


def zeroed_cells(mu: float, rate: float) -> Loss:
    """Return the same where all others are opposite, seen through cells of outputs."""
    outputs = np.concatenate(([-np.inf], np.arange(-12, 12 + 2 * mu, 1 / 256), [np.inf]))
    p, q = _cells(outputs, (2 * mu, mu), rate)
    return discrete(list(zip(np.log(p / q).tolist(), p.tolist(), strict=True)))


def _cells(z: Array, moves: tuple[float, float], rate: float) -> tuple[Array, Array]:
    """Return the masses between outputs of a record that moves so far, or so far, each with its chance."""

    def between(x: Array) -> Array:
        over, under = ndtr(-x), ndtr(x)
        return np.where(x[:-1] > 0, over[:-1] - over[1:], under[1:] - under[:-1])

    far, near = (absent(rate) * between(z) + rate * between(z - move) for move in moves)
    return far, near
