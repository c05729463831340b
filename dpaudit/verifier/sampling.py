"""Losses made of others, as atoms: what a sample, an average, a stitched curve or a secret step does to a pair of laws.

From above, atoms (loss, mass under P) that dominate, what only P has, and what only Q has. From below, the masses of
labels under P and under Q. Both are cut into cells by the same rule as any other loss.
"""

import math
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, rfft

from dpaudit.verifier import lattice, tails
from dpaudit.verifier.lattice import Cut
from dpaudit.verifier.losses import Loss, leak
from dpaudit.verifier.mixtures import cells
from dpaudit.verifier.refusals import follow
from dpaudit.verifier.tails import UNIT, Array

DERIVED = ("map", "average", "stitched", "allocated", "counted", "mixture")
_LOOK, _FINE, _INNER, _BASE = 0.05, 2**14, 2**13, 2**18  # a first width; cells of a loss met once, and of those inside
_SLACK = 1e-10  # relative; what weights, sums and the maps of atoms may be wrong by
_ETA = 1000 * 8 * float(np.finfo(np.longdouble).eps) / 2  # of a library's transform of long doubles, as in `sums`
_PLACED, _KNOTS, _CAPS = 2**16, 2**18, {"remove": 1e-12, "add": 1e-5}
_TILTS = {"remove": (25.0, 0.0), "add": (1.0, -5.0)}  # over the window, and over a deviation of the sum
_FEW = {"remove": 0.0, "add": 1e-16}
_RARE, _DEEP = 1e-30, 60.0  # labels below, which decide nothing; the lowest loss that is told from lower ones


class Pair(NamedTuple):
    """Atoms from above with what either law has alone; labels under P and Q, `p` and `q_low` rounded down."""

    at: Array
    masses: Array
    lost: float
    alone: float
    p: Array
    q: Array
    p_high: Array
    q_low: Array


def cut(loss: Loss, step: float) -> Cut:
    """Return any loss on the lattice."""
    if loss[0] not in DERIVED:
        return lattice.cut(loss, step)
    pair, kept = _pair(loss, step / 2), 1 - leak(loss)
    held = pair.p > _RARE
    ratio = np.log(pair.p[held] / np.maximum(pair.q[held], pair.p[held] * math.exp(-_DEEP)))
    known = ratio > max(-_DEEP, float(pair.at.min()))  # a label below all atoms holds rounding alone
    held[held], above = known, np.maximum(pair.at, -_DEEP)
    ratio = ratio[known]
    low = min(float(above.min()), float(ratio.min(initial=0.0)))
    first, high = math.floor(low / step) - 1, max(float(above.max()), float(ratio.max(initial=0.0)))
    follow((high - low) / step < 2**22, "a loss is too wide for this checker's lattice")
    size = math.ceil(high / step) + 2 - first
    where, part = _place(above, step, first)
    stay = np.exp(-part * step) * np.expm1((part - 1) * step) / math.expm1(-step)
    upper = _added(where, pair.masses * stay, pair.masses * np.expm1(-part * step) / math.expm1(-step), size)
    where, part = _place(ratio, step, first)
    p, q = pair.p[held] * (1 - _SLACK), pair.p[held] * np.exp((where + first) * step - ratio) * (1 + _SLACK)
    sides = (p, 1.0), (q, math.exp(step))
    labels = [_added(where, row * (1 - part), row * part * grown, size) for row, grown in sides]
    twice = [row * side for row, side in zip(labels, (1 + 4 * _SLACK, 1 - 4 * _SLACK), strict=True)]
    rows = np.array([upper * (1 + _SLACK), *labels, *twice]) / kept
    return Cut(first, rows, max(0.0, pair.lost * (1 + _SLACK) - leak(loss)) / kept)


def ends(loss: Loss) -> tuple[float, float]:
    """Return the ends of the interval of losses that is cut into cells."""
    follow(
        loss[0] != "choice" or all(part[0] not in DERIVED for part in loss[1]),
        "a choice between samples is beyond this checker",
    )
    if loss[0] not in DERIVED:
        return tails.ends(loss)
    at = _pair(loss, _LOOK).at
    return float(at.min()), float(at.max()) + _LOOK


def blur(loss: Loss) -> float:
    """Return how far rounding may have moved a loss."""
    reach = (30 + loss[2][-1][0] - loss[3][0][0]) ** 2 if loss[0] == "mixture" else 0.0
    return 256 * UNIT * (max(map(abs, ends(loss))) + reach) if loss[0] in DERIVED else tails.blur(loss)


def plain(loss: Loss, epsilon: float) -> tuple[float, float]:
    """Return bounds on the delta of one such loss, given that it is finite: its atoms, and the best test on labels."""
    low, high = ends(loss)
    pair, kept = _pair(loss, (high - low) / _FINE), 1 - leak(loss)
    upper = float(pair.masses @ -np.expm1(np.minimum(epsilon - pair.at, 0.0))) + max(0.0, pair.lost - leak(loss))
    gain = float(np.maximum(0.0, pair.p - pair.q * math.exp(min(epsilon, 700.0))).sum())
    return gain * (1 - 2 * _SLACK) / kept, min(1.0, upper * (1 + 2 * _SLACK) / kept)


def _pair(loss: Loss, step: float) -> Pair:
    """Return the pairs above and below a loss, on atoms at most `step` apart, by powers of two: known ones serve."""
    return _pair_at(loss, math.floor(math.log2(step)))


@lru_cache(maxsize=24)
def _pair_at(loss: Loss, log_step: int) -> Pair:
    """Return these pairs for atoms about 2^`log_step` apart."""
    step = 2.0**log_step
    if loss[0] == "map":
        whole = _mapped(_together(loss[1], step), loss[2])
        return whole if loss[3] == "remove" else _back(whole)
    if loss[0] == "average":
        pairs = [(weight, _pair(option, step * _coarser(weight))) for weight, option in loss[1]]
        at, *rows = (np.concatenate([(w if i else 1) * pair[i] for w, pair in pairs]) for i in (0, 1, 4, 5, 6, 7))
        lost, alone = (sum(w * float(pair[i]) for w, pair in pairs) for i in (2, 3))
        return Pair(at, rows[0], lost, alone, *rows[1:])
    if loss[0] == "counted":
        (at, masses), (values, p) = (np.array(side[1]).T for side in loss[1:])
        q, rest = p * np.exp(-values), 1e-30  # what is left out of a binomial law
        return Pair(at, masses * (1 + _SLACK), rest, rest, p * (1 - _SLACK), q * (1 + _SLACK), p, q * (1 - _SLACK))
    if loss[0] == "mixture":
        at, masses, lost, labels = cells(loss, step)
        return Pair(at, masses * (1 + _SLACK), lost, max(0.0, 1 - float(masses @ np.exp(-at))) + 1e-12, *labels)
    if loss[0] == "stitched":
        return _stitched(_pair(loss[1], step), _pair(loss[2], step), step)
    if loss[0] == "allocated":
        inner = min(step * math.sqrt(loss[2]) / 4, max(step, 0.01))
        if loss[4:]:
            whole = _at_places(loss, inner, step)
        else:
            whole = _allocated(_together(loss[1], inner), loss[2], loss[3], step)
        return whole if loss[3] == "remove" else _back(whole)
    low, high = tails.ends(loss)
    step = max(step, (high - low) / _BASE)
    held, kept = lattice.cut(loss, step), 1 - leak(loss)
    at = (held.first + np.arange(held.masses.shape[1])) * step
    upper, p, q, p_high, q_low = held.masses * kept
    alone = max(0.0, 1 - float((upper * np.exp(-at)).sum())) + 1e-12
    shrunk = np.exp(-at)
    return Pair(at, upper, leak(loss) + held.beyond * kept, alone, p, q * shrunk, p_high, q_low * shrunk)


def _coarser(weight: float) -> float:
    """Return by how much a rare option's atoms may lie further apart: a width of h costs it weight times h^2."""
    return float(2 ** min(6, int(-math.log2(weight) / 3)))


def _together(inside: tuple[tuple[Loss, int], ...], step: float) -> Pair:
    """Return several losses met together, by direct sums of products of atoms."""
    if len(inside) == 1 and inside[0][1] == 1:
        return _pair(inside[0][0], step)
    width = sum(n * (ends(loss)[1] - ends(loss)[0]) for loss, n in inside)
    step = max(step, width / _INNER)
    cuts = [(cut(loss, step), leak(loss)) for loss, n in inside for _ in range(n)]
    rows = [reduce(np.convolve, [held.masses[i] * (1 - lost) for held, lost in cuts]) for i in range(5)]
    at = (sum(held.first for held, _ in cuts) + np.arange(len(rows[0]))) * step
    kept = math.prod(1 - lost - held.beyond for held, lost in cuts)
    alone = max(0.0, 1 - float((rows[0] * np.exp(-at)).sum())) + 1e-12
    shrunk = np.exp(-at)
    return Pair(at, rows[0], 1 - kept, alone, rows[1], rows[2] * shrunk, rows[3], rows[4] * shrunk)


def _mapped(pair: Pair, rate: float) -> Pair:
    """Return ((1 - rate) Q + rate P, Q): a record that a sample holds with this probability."""
    q = pair.masses * np.exp(-pair.at)
    at = np.logaddexp(math.log1p(-rate), math.log(rate) + pair.at)
    at = np.append(at, math.log1p(-rate))
    masses = np.append(rate * pair.masses + (1 - rate) * q, (1 - rate) * pair.alone)
    low, high = (1 - rate) * pair.q_low + rate * pair.p, (1 - rate) * pair.q + rate * pair.p_high
    return Pair(at, masses, rate * pair.lost, 0.0, low, pair.q, high, pair.q_low)


def _back(pair: Pair) -> Pair:
    """Return (Q, P)."""
    swapped = pair.q_low, pair.p_high, pair.q, pair.p
    return Pair(-pair.at, pair.masses * np.exp(-pair.at), pair.alone, pair.lost, *swapped)


def _stitched(positive: Pair, negative: Pair, step: float) -> Pair:
    """Return what is above one pair for losses over 0 and above another below; no pair of data need attain it."""
    right, left = (_on_knots(pair, step) for pair in (positive, negative))
    kept = (left, left[0] < -step / 2), (right, right[0] > step / 2)
    at, masses = (np.concatenate([side[i][keep] for side, keep in kept]) for i in range(2))
    p, q = float(masses.sum()) + positive.lost, float((masses * np.exp(-at)).sum()) + negative.alone
    middle = max(0.0, 1 - p) + 1e-13
    lost, alone = positive.lost + max(0.0, q - p), negative.alone + max(0.0, 1 - q - middle)
    labels = [(_ratio(pair), pair[4:]) for pair in (positive, negative)]
    seen = [(labels[0][1], labels[0][0] > 2 * step), (labels[1][1], labels[1][0] < -2 * step)]
    rows = [np.concatenate([row[i][keep] for row, keep in seen]) for i in range(4)]
    rest = [max(0.0, 1 - float(rows[i].sum()) + side * 1e-12) for i, side in ((2, -1), (3, 1), (0, 1), (1, -1))]
    rest[0] = max(0.0, rest[0] - positive.lost)
    ends = (np.append(row, left) for row, left in zip(rows, rest, strict=True))
    return Pair(np.append(at, 0.0), np.append(masses, middle), lost, alone, *ends)


def _ratio(pair: Pair) -> Array:
    """Return the loss of each label, 0 where it is too rare to tell."""
    known = (pair.p > _RARE) & (pair.q > _RARE)
    return np.where(known, np.log(np.where(known, pair.p, 1.0) / np.where(known, pair.q, 1.0)), 0.0)


def _on_knots(pair: Pair, step: float) -> tuple[Array, Array]:
    """Return atoms split between whole multiples of a step."""
    first = math.floor(float(pair.at.min()) / step)
    where, part = _place(pair.at, step, first)
    stay = np.exp(-part * step) * np.expm1((part - 1) * step) / math.expm1(-step)
    size = int(where.max()) + 2
    masses = _added(where, pair.masses * stay, pair.masses * np.expm1(-part * step) / math.expm1(-step), size)
    return (first + np.arange(size)) * step, masses


def _at_places(loss: Loss, inner: float, step: float) -> Pair:
    """Return several secret steps: above, one place in each of as many blocks; below, sums of ln(1 + ratio / steps)."""
    _, inside, steps, order, places = loss
    over = _allocated(_together(tuple((part, n * places) for part, n in inside), inner), steps // places, order, step)
    pair = _together(inside, inner)
    told = pair.q > 1e-300
    x, p, r = pair.p[told] / pair.q[told], pair.p[told], pair.q[told]
    ranks = np.argsort(-x)
    cap = float(x[ranks][min(int(np.searchsorted(np.cumsum(p[ranks]), _CAPS[order])), len(x) - 1)])
    values = np.log1p(np.minimum(x, cap) / steps)
    spread = math.sqrt(steps * float(((values - values @ r) ** 2) @ r))
    g = (steps * float(values @ r) + (places + 2) * float(values.max()) + 14 * spread) / _PLACED
    p, r, p_high, r_low = (_spread(values / g, row[told]) for row in pair[4:])
    one, two = [(p, places), (r_low, steps - places)], [(r, steps)]
    if order == "add":
        one, two = [(p_high, places), (r, steps - places)], [(r_low, steps)]
    whole, each = _TILTS[order]
    tilts = (whole / _PLACED, *([each * g / spread] if each else []))
    signs = (-1, 1) if order == "remove" else (1, -1)
    laws = [_power(rows, _PLACED, side, tilts)[0] for rows, side in zip((one, two), signs, strict=True)]
    known = [np.zeros(_PLACED), np.ones(_PLACED)]
    return Pair(*over[:4], *([*laws, known[1], known[0]] if order == "remove" else [*known, *laws]))


def _allocated(pair: Pair, steps: int, order: str, step: float) -> Pair:
    """Return one secret step among `steps`: the mean of as many likelihood ratios, on a grid 0, g, 2g, ..."""
    x, q = np.exp(np.minimum(pair.at, 700.0)), pair.masses * np.exp(-pair.at)
    ranks = np.argsort(x)
    beyond = np.cumsum((x * q)[ranks][::-1])[::-1]
    places = np.searchsorted(-beyond, -_CAPS[order] * np.array([1.0, 1e1, 1e2, 1e3]))
    caps = np.maximum(1.0, x[ranks][np.minimum(places, len(x) - 1)])
    cap = float(next((cap for cap in caps if cap <= _KNOTS / 8), caps[-1]))
    lost = float((np.maximum(x - cap, 0.0) * q).sum())
    second = float((np.minimum(x, cap) ** 2 * q).sum())
    reach = steps + 3 * cap + 14 * math.sqrt(steps * min(second, cap))
    size = min(_KNOTS, max(2**12, 2 ** math.ceil(math.log2(2 * reach / (step * math.sqrt(steps))))))
    g = max(reach / size, cap / (size - 4))
    whole, each = _TILTS[order]
    tilt = (whole / size, *([each * g / math.sqrt(steps * max(second - 1, 1e-9))] if each else []))
    upper = _spread(np.minimum(x, cap) / g, q)
    upper[0] += pair.alone
    means = np.arange(size) * g / steps
    over, top = _power([(upper * (1 + _SLACK), steps)], size, 1, tilt)
    p_at, told = np.minimum(pair.p / np.maximum(pair.q, 1e-320), cap) / g, pair.q > 1e-300
    p, r, p_high, r_low = (_spread(p_at[told], row[told]) for row in pair[4:])
    one, two = ([(p, 1), (r_low, steps - 1)], [(r, steps)]), ([(p_high, 1), (r, steps - 1)], [(r_low, steps)])
    signs, rows = ((-1, 1), one) if order == "remove" else ((1, -1), two)
    laws = [_power(row, size, side, tilt)[0] for row, side in zip(rows, signs, strict=True)]
    known = [np.zeros(size), np.ones(size)]  # the order that is not asked for is bounded by what always holds
    laws = [*laws, known[1], known[0]] if order == "remove" else [*known, *laws]
    end = min(1.0, top * size * g / steps)
    few = max(1, int(np.searchsorted(np.cumsum(over), _FEW[order])))  # knots that hold rounding, taken as told apart
    lost = pair.lost + lost * 1.001 + end + float((over * means)[:few].sum())
    return Pair(np.log(means[few:]), (over * means)[few:], lost, float(over[:few].sum()), *laws)


def _spread(at: Array, masses: Array) -> Array:
    """Return masses split between the two knots around each place, which keeps their mean."""
    where = np.floor(at).astype(np.int64)
    return _added(where, masses * (1 - at + where), masses * (at - where), int(where.max()) + 2)


def _power(rows: list[tuple[Array, int]], size: int, side: int, tilts: tuple[float, ...]) -> tuple[Array, float]:
    """Return the law of a sum, at every knot the best bound of several tilts; and what lies beyond."""
    found = [_tilted(rows, size, side, theta) for theta in tilts]
    best = np.min if side > 0 else np.max
    return best([law for law, _ in found], axis=0), found[0][1]


def _tilted(rows: list[tuple[Array, int]], size: int, side: int, theta: float) -> tuple[Array, float]:
    """Return the law of a sum, tilted so that rounding fades with it, moved to one side; and what lies beyond."""
    product, log_scale = np.ones(size // 2 + 1, dtype=np.clongdouble), 0.0
    off, ways = _ETA * math.log2(size) + 8 * UNIT, np.array([0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0]) / size
    moved, grown, modulus = np.zeros(size // 2 + 1), np.zeros(len(ways)), np.ones(size // 2 + 1)
    for row, n in rows:
        at = np.arange(len(row))
        weights = row * np.exp(theta * at)
        total = float(weights.sum())
        coefficients: Array = np.asarray(rfft(np.asarray(weights / total, np.longdouble), size))
        product, log_scale = product * coefficients**n, log_scale + n * math.log(total)
        room = np.abs(coefficients).astype(np.float64) + 2 * off
        moved, modulus = moved + n * off / room, modulus * room**n
        grown += n * np.log([float((weights / total * np.exp(np.minimum(way * at, 600.0))).sum()) for way in ways])
    error = 2 / size * float((modulus * moved).sum() + off * modulus.sum())
    alias = math.exp(min(0.0, float((grown - ways * size).min())))
    held = np.asarray(irfft(product, size), dtype=np.float64) + side * error - (alias if side < 0 else 0.0)
    scale = np.exp(np.minimum(log_scale + side * 1e-9 - theta * np.arange(size), 600.0))
    return np.maximum(held, 0.0) * scale, math.exp(min(0.0, log_scale - theta * size)) * alias


def _place(at: Array, step: float, first: int) -> tuple[Array, Array]:
    """Return the knot below each loss, counted from `first`, and the share of a step above it."""
    phase = at / step - first
    where = np.floor(phase).astype(np.int64)
    return where, phase - where


def _added(where: Array, low: Array, high: Array, size: int) -> Array:
    """Return masses added up at knots and at those above."""
    return np.asarray(np.bincount(where, low, size) + np.bincount(where + 1, high, size), dtype=np.float64)
