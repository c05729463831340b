"""Every loss as atoms that dominate it and labels that it attains: one form, whatever the loss is made of.

From above, atoms (loss, mass under P), and what only P or only Q has. From below, outputs under labels, with masses
under P and under Q: what follows from labels is a test. Samples, averages, choices and secret steps map this form.
"""

import math
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from dpaudit.verifier import shifts
from dpaudit.verifier.losses import Loss, leak
from dpaudit.verifier.numerics import ratios
from dpaudit.verifier.numerics.rates import absent, log_absent, sampled
from dpaudit.verifier.refusals import Array, Unfollowed
from dpaudit.verifier.shifts import UNIT
from dpaudit.verifier.sums import Window, summed

LOOK, MOST = 2**10, 2**17  # cells of a first look, and at most
_LOOKS, _WIDE = (2**14, 2**16), 1e-4  # cells of a secret step by itself, finer where bounds are so far apart, relative
DERIVED = ("map", "average", "choice", "allocated", "between", "halves")  # made of others: known by their atoms alone
_SLACK, _FINE, _EXACT = 1e-10, 1e-12, 1e-13  # relative: of weights and maps, of places on a lattice, of masses as given
_NO_FLOAT = 1e-300  # a mass below which rounding is no longer relative
_RARE, _DEEP, _TINY, _LARGEST = 1e-60, 80.0, 1e-320, 600.0  # labels and losses that decide nothing; of chosen losses
_INNER, _WIDEST = 2**13, 2**22  # knots of losses that are met together or chosen from; of any lattice
_SUM, _PLACED = 2**18, 2**16  # knots of a secret step
_CAPS = {"remove": 1e-12, "add": 1e-5}  # what its largest ratios may weigh
_FREE = 1e-20  # the same where it makes the window hardly wider
_TILTS = {"remove": (25.0, 5.0), "add": (1.0, -5.0)}  # over the window, and over a deviation of the sum
_FEW_STEPS, _FEWEST_STEPS = 2**10, 16  # secret steps whose ratios are met on knots of logarithms, fewer of many steps
_FEW_KNOTS = (2**13, 2**12)
_OF_SQUARE = 32.0  # times the mean square of a ratio: a mean over more steps is next to 1
_LARGE = 8.0  # a loss beyond which evenly spaced ratios are far apart
_FARTHEST = 1e-30  # what ratios beyond such knots may weigh, under P above and under Q below
_WIDENED = 1e-3  # relative: of a variance, by the squares of the knots' step that it is shared between
_FEWEST = 64  # knots that the ratios of a secret step are told by
_FEW = 1e-16  # what knots of a secret step that hold rounding may weigh
_SELDOM = 1e-8  # what is left out twice as often as it is met: the square of this


Chooser = Callable[[list[tuple[Array, Array]], Array], Array]


class Pair(NamedTuple):
    """Atoms with what either law has alone; labels `told` with masses, those of Q times e^label.

    `p` and `q_low` are rounded down, `q` and `p_high` up.
    """

    at: Array
    masses: Array
    lost: float
    alone: float
    told: Array
    p: Array
    q: Array
    p_high: Array
    q_low: Array


class Cut(NamedTuple):
    """Masses at the knots from `first` on: from above, then the four rows of the labels; and what is lost."""

    first: int
    rows: Array
    lost: float


def pair(loss: Loss, cells: int) -> Pair:
    """Return a loss as atoms and labels, on about so many cells; many first looks are kept, and few of the others."""
    return (looked if cells <= LOOK else cut_finely)(loss, cells)


def _pair(loss: Loss, cells: int) -> Pair:
    """Return the same."""
    match loss[0]:
        case "map":
            mapped_pair = _mapped(_together(loss[1], cells), loss[2])
            return mapped_pair if loss[3] == "remove" else _back(mapped_pair)
        case "allocated":
            size, inner = min(_SUM, 4 * cells), max(cells, 2**14)
            if loss[4:]:
                return _at_places(loss, inner, size)
            step = _together(loss[1], inner)
            if cells > LOOK and _is_few(step, loss[2], loss[3]):
                return pair(loss, LOOK)  # as fine
            return _at_one_step(step, loss[2], size, loss[3])
        case "average":
            return _averaged([(weight, pair(option, _coarser(cells, weight))) for weight, option in loss[1]])
        case "between":
            return Pair(*pair(loss[1], cells)[:4], *pair(loss[2], cells)[4:])
        case "choice":
            return _chosen([(pair(option, cells), leak(option)) for option in loss[1]], min(cells, _INNER), _largest)
        case "halves":
            return _chosen([(pair(option, cells), leak(option)) for option in loss[1:]], min(cells, _INNER), _by_sign)
        case "concentrated":
            raise Unfollowed("what is known by its rho alone has no pair that this checker could select from")
        case "discrete":
            values, masses = np.array(loss[1] or ((0.0, 0.0),)).T
            over, under = masses * (1 + _EXACT), masses * (1 - _EXACT)
            return Pair(values, over, loss[2], loss[3], values, under, over, over, under)
        case _:
            return _shifted(loss, cells)


looked, cut_finely = lru_cache(maxsize=1024)(_pair), lru_cache(maxsize=6)(_pair)


def reach(loss: Loss) -> tuple[float, float]:
    """Return the lowest and the highest loss that have an atom."""
    at = pair(loss, LOOK).at
    return float(at.min()), float(at.max())


def blur(loss: Loss) -> float:
    """Return how far rounding may have moved a loss."""
    made, furthest = loss[0] in DERIVED or loss[0] == "mixture", max(map(abs, reach(loss)))
    return UNIT * (128 * (furthest + 8) if made else 16 * furthest)


def plain(loss: Loss, epsilon: float) -> tuple[float, float]:
    """Return bounds on the delta of one loss, but for its mass at infinity: in closed form, or by atoms and a test."""
    if loss[0] == "choice":
        lows, highs = zip(*(plain(option, epsilon) for option in loss[1]), strict=True)
        leak_gaps = [leak(option) - leak(loss) for option in loss[1]]
        return max(map(sum, zip(lows, leak_gaps, strict=True))), max(0.0, *map(sum, zip(highs, leak_gaps, strict=True)))
    if loss[0] == "halves":
        return plain(loss[1], epsilon)
    if loss[0] == "between":
        low = plain(loss[2], epsilon)[0] + leak(loss[2]) - leak(loss)
        return max(0.0, low), max(low, plain(loss[1], epsilon)[1])
    if loss[0] not in (*DERIVED, "discrete"):
        p, q, off = (float(row[0]) for row in shifts.closed(loss, np.array([epsilon])))
        return max(0.0, p - q - 2 * off), min(1.0, max(0.0, p - q) + 2 * off)
    low, high = _by_atoms(loss, epsilon, pair(loss, _LOOKS[0]))
    wide = loss[0] == "allocated" and high - low > _WIDE * high
    return _by_atoms(loss, epsilon, pair(loss, _LOOKS[1])) if wide else (low, high)


def plain_above(loss: Loss, epsilons: Array) -> Array:
    """Return the upper bounds of `plain` at many epsilons."""
    if loss[0] in (*DERIVED, "discrete"):
        return np.array([plain(loss, epsilon)[1] for epsilon in epsilons.tolist()])
    p, q, off = shifts.closed(loss, epsilons)
    return np.asarray(np.minimum(1.0, np.maximum(0.0, p - q) + 2 * off))


def _by_atoms(loss: Loss, epsilon: float, atoms: Pair) -> tuple[float, float]:
    """Return the same by the atoms and labels of a pair."""
    upper = float(atoms.masses @ -np.expm1(np.minimum(epsilon - atoms.at, 0.0))) + max(0.0, atoms.lost - leak(loss))
    if loss[0] == "map":  # the laws differ by the sample's rate at most
        upper = min(upper, max(0.0, loss[2] - leak(loss)) - math.expm1(min(epsilon, 0.0)))
    gain = atoms.p - atoms.q * np.exp(np.minimum(epsilon - atoms.told, _LARGEST))
    gain = np.where(atoms.p > _NO_FLOAT, gain, 0.0)
    return float(np.maximum(0.0, gain).sum()) * (1 - _FINE), min(1.0, upper * (1 + _FINE))


def cut(atoms: Pair, step: float, floor: float = -math.inf) -> Cut:
    """Return a loss on the lattice of a step: mass is split so that both laws keep it; a label gets a knot.

    Atoms below the `floor` are raised to it, and labels there show nothing.
    """
    atoms = capped(atoms, step * _WIDEST / 2)
    floor = max(floor, -min(_DEEP, step * _WIDEST / 4))
    at, usable = np.maximum(atoms.at, floor), (atoms.told > floor) & (atoms.p > _RARE)
    told = atoms.told[usable]
    low, high = min(at.min(), told.min(initial=0.0)), max(at.max(), told.max(initial=0.0))
    first, size = math.floor(low / step) - 1, math.ceil(high / step) - math.floor(low / step) + 3
    where, part = _place(at / step - first)
    stay = np.exp(-part * step) * np.expm1((part - 1) * step) / math.expm1(-step)
    upper = _added(where, atoms.masses * stay, atoms.masses * np.expm1(-part * step) / math.expm1(-step), size)
    where, part = _place(told / step - first)
    moved = np.exp((where + first) * step - told)
    sides = [(row[usable], scale) for row, scale in zip(atoms[5:], (1.0, moved, 1.0, moved), strict=True)]
    grown = (1.0, math.exp(step), 1.0, math.exp(step))
    labels = [_added(where, r * s * (1 - part), r * s * part * g, size) for (r, s), g in zip(sides, grown, strict=True)]
    wrong = np.array([1, -1, 1, 1, -1])[:, None]
    return Cut(first, np.array([upper, *labels]) * (1 + _FINE * wrong), atoms.lost)


def capped(atoms: Pair, top: float) -> Pair:
    """Return a loss in which what lies above `top` counts as lost, and labels from there on stand at `top`."""
    far, told = atoms.at > top, np.minimum(atoms.told, top)
    if not far.any() and (told == atoms.told).all():
        return atoms
    at, masses = (np.append(row[~far], end) for row, end in ((atoms.at, 0.0), (atoms.masses, 0.0)))
    down = np.exp(told - atoms.told)
    q, q_low = atoms.q * down + 1e-300 * (down < 1), atoms.q_low * down
    lost = atoms.lost + float(atoms.masses[far].sum()) * (1 + _FINE)
    return Pair(at, masses, lost, atoms.alone + 1e-12, told, atoms.p, q, atoms.p_high, q_low)


def _place(phase: Array) -> tuple[Array, Array]:
    """Return the knot below each place, and the share of a step above it."""
    where = np.floor(phase).astype(np.int64)
    return where, phase - where


def _added(where: Array, low: Array, high: Array, size: int) -> Array:
    """Return masses added up at knots and at those above."""
    return np.asarray(np.bincount(where, low, size) + np.bincount(where + 1, high, size), dtype=np.float64)


def _alone(at: Array, masses: Array) -> float:
    """Return the most that Q can have where there is no atom."""
    return max(0.0, 1 - float(_under_q(at, masses).sum())) + 1e-12


def _under_q(at: Array, masses: Array) -> Array:
    """Return the masses of atoms under Q."""
    return np.asarray(np.exp(np.minimum(np.log(np.maximum(masses, _TINY)) - at, 0.0)))


def _shifted(loss: Loss, count: int) -> Pair:
    """Return mixtures of shifts: a cell's mass is split between its two ends so that both laws keep theirs."""
    at, (p, p_off), (q, q_off) = shifts.cells(loss, count)
    most, width = (p + p_off)[1:-1], np.diff(at)
    flat = 1e-12 * (at[-1] - at[0]) + _TINY
    rise = (p + p_off - q + q_off)[1:-1] / -np.expm1(-np.maximum(width, flat))
    up = np.where(width > flat, np.clip(rise, 0.0, most), most * np.exp(np.minimum(width, _LARGEST)))
    masses = np.hstack((np.maximum(0.0, most - up), 0.0)) + np.hstack((0.0, up))
    normal, outer = shifts.sides(loss)[0] == "gaussian", float(p[-1] + p_off[-1])
    masses[[0, -1]] += p[0] + p_off[0], 0.0 if normal else outer
    from_ = np.hstack((at[0], at[:-1], at[-1]))
    reliable = (p > 2 * p_off) & (q > 2 * q_off)
    ratio = np.log(np.where(reliable, p, 1.0) / np.where(reliable, q, 1.0))
    rows = p - p_off, (q + q_off) * np.exp(ratio), p + p_off, (q - q_off) * np.exp(ratio)
    labels = (np.maximum(row, 0.0) for row in rows)
    # Laws whose ratio is bounded lack nothing of each other, and rounding is below the shares that every use adds.
    alone = _alone(at, masses) if normal or np.ptp(shifts.ends(loss)) > _LARGEST else 0.0
    return Pair(at, masses, outer if normal else 0.0, alone, from_ + ratio, *labels)


def _averaged(parts: list[tuple[float, Pair]]) -> Pair:
    """Return what shows one of several losses, and which."""
    lost, alone = (math.fsum(weight * option[i] for weight, option in parts) for i in (2, 3))
    weights = np.concatenate([np.full_like(option.at, weight) for weight, option in parts])
    at, masses = (np.concatenate([option[i] for _, option in parts]) for i in (0, 1))
    shares = np.concatenate([np.full_like(option.told, weight) for weight, option in parts])
    told, *rows = (np.concatenate([option[i] for _, option in parts]) for i in range(4, 9))
    return Pair(at, masses * weights, lost, alone, told, *(row * shares for row in rows))


def _coarser(cells: int, weight: float) -> int:
    """Return the cells of a rare option, which may be wider: a width of h costs it weight times h^2."""
    return max(LOOK, cells >> int(-math.log2(weight) / 3))


def _together(inside: tuple[tuple[Loss, int], ...], cells: int) -> Pair:
    """Return several losses met together, by direct sums of products of atoms."""
    if len(inside) == 1 and inside[0][1] == 1:
        return pair(inside[0][0], cells)
    parts = [(pair(loss, cells), n) for loss, n in inside]
    step = sum(n * float(np.ptp(part.at)) for part, n in parts) / min(cells, _INNER) or 1.0
    cuts = [cut_part for part, n in parts for cut_part in [cut(part, step)] * n]
    upper, *labels = (reduce(np.convolve, [part.rows[i] for part in cuts]) for i in range(5))
    at = (sum(part.first for part in cuts) + np.arange(len(upper))) * step
    lost = -math.expm1(math.fsum(math.log1p(-min(part.lost, 1 - UNIT)) for part in cuts))
    return Pair(at, upper, lost, _alone(at, upper), at, *labels)


def _mapped(atoms: Pair, rate: float) -> Pair:
    """Return ((1 - rate) Q + rate P, Q): a record that a sample holds with this probability."""
    usable = atoms.told > -_DEEP
    absent_rate = absent(rate)
    at, told = (sampled(row, rate) for row in (atoms.at, atoms.told[usable]))
    masses = rate * atoms.masses + absent_rate * _under_q(atoms.at, atoms.masses)
    over, under = np.append(at, log_absent(rate)), np.append(masses, absent_rate * atoms.alone) * (1 + _SLACK)
    p, q, p_high, q_low = (row[usable] for row in atoms[5:])
    low, high = (rate * a + absent_rate * b * np.exp(-atoms.told[usable]) for a, b in ((p, q_low), (p_high, q)))
    moved = np.exp(told - atoms.told[usable])
    rows = low * (1 - _SLACK), q * moved * (1 + _SLACK), high * (1 + _SLACK), q_low * moved * (1 - _SLACK)
    return Pair(over, under, rate * atoms.lost, 0.0, told, *rows)


def _back(atoms: Pair) -> Pair:
    """Return (Q, P)."""
    usable = atoms.told > -_DEEP
    shrunk = np.exp(-atoms.told[usable])
    rows = (row[usable] * shrunk for row in (atoms.q_low, atoms.p_high, atoms.q, atoms.p))
    return Pair(-atoms.at, _under_q(atoms.at, atoms.masses), atoms.alone, atoms.lost, -atoms.told[usable], *rows)


def _chosen(options: list[tuple[Pair, float]], knots: int, chosen: Chooser) -> Pair:
    """Return the loss whose curve is at each knot that of the option which is `chosen` there."""
    options = [(capped(option, _LARGEST), surely) for option, surely in options]
    ends = [float(end) for option, _ in options for end in (max(-_DEEP, option.at.min()), option.at.max())]
    step = max(max(ends) - min(ends), 1e-300) / knots
    cuts = [cut(option, step) for option, _ in options]
    first, last = min(part.first for part in cuts), max(part.first + part.rows.shape[1] for part in cuts)
    at = (first + np.arange(last - first)) * step
    shrunk, above, below, atoms = np.exp(-at), [], [], []
    for part, (_, surely) in zip(cuts, options, strict=True):
        around = part.first - first, last - part.first - part.rows.shape[1]
        upper, p, q, *_ = np.pad(part.rows, ((0, 0), around))
        atoms.append(upper[1:])
        above.append((_sums(upper) + part.lost, _sums(upper * shrunk)))
        below.append((_sums(p) + surely, _sums(q * shrunk)))
    best = chosen(above, at)
    over, under = _of_each(above, best)
    lost = float(over[-1])
    off, grown = 2 * len(at) * UNIT * over[:-1], np.exp(at[:-1])
    p, q = -np.diff(over), -np.diff(under) * grown
    up = np.maximum(0.0, (p - q + 2 * off) / -math.expm1(-step))
    same, own = best[:-1] == best[1:], _of_each(atoms, best[1:])  # between two knots of one option lies its own atom
    up, down = np.where(same, own, up), np.where(same, 0.0, np.maximum(0.0, p + off - up))
    masses = np.append(down, 0.0) + np.append(max(0.0, 1 - over[0]), up)
    over, under = _of_each(below, chosen(below, at))
    wrong = 4 * len(at) * UNIT
    p, q = _concave(np.minimum.accumulate(over) * (1 - wrong), under * (1 + wrong))
    told = np.minimum(np.log(p) - np.log(np.maximum(q, _TINY)), at[-1]) - _FINE
    return Pair(at, masses, lost, _alone(at, masses), told, *_one_way(p))


def _concave(over: Array, under: Array) -> tuple[Array, Array]:
    """Return masses whose tails, from the last on, are the corners of the least concave curve above these tails.

    Each pair of tails is a test of one option. Several options are one pair of laws only on this curve.
    """
    blocks = [(math.inf, 0.0)]
    rises = np.diff(np.maximum.accumulate(under[::-1]))
    for block in zip(np.diff(over[::-1]).tolist(), rises.tolist(), strict=True):
        blocks.append(block)
        while len(blocks) > 2 and blocks[-1][0] * blocks[-2][1] >= blocks[-2][0] * blocks[-1][1]:
            (p, q), (p_above, q_above) = blocks.pop(), blocks.pop()
            blocks.append((p + p_above, q + q_above))
    p, q = np.array(blocks[1:]).T
    return p[p > 0], q[p > 0]


def _one_way(p: Array) -> tuple[Array, Array, Array, Array]:
    """Return the rows of labels that stand at their own ratio, where nothing is known of the other order."""
    return p, p, np.ones_like(p), np.zeros_like(p)


def _sums(row: Array) -> Array:
    """Return the sum of what stands after each place."""
    return np.append(np.cumsum(row[:0:-1])[::-1], 0.0)


def _of_each(rows: Any, best: Array) -> Array:
    """Return at each knot the rows of the option that is chosen there."""
    table = np.array(rows)
    return np.asarray(np.take_along_axis(table, best[(None,) * (table.ndim - 1)], axis=0)[0])


def _largest(tails: list[tuple[Array, Array]], at: Array) -> Array:
    """Return at each knot the option whose curve is the largest there."""
    rows: Array = np.array(tails)
    return np.asarray(np.argmax(rows[:, 0] - rows[:, 1] * np.exp(at), axis=0))


def _by_sign(tails: list[tuple[Array, Array]], at: Array) -> Array:
    """Return at each knot the first option, and below 0 the second."""
    return np.asarray((at < 0).astype(int))


def _allocated(inner: Pair, steps: int, size: int, order: str) -> Pair:
    """Return the mean of likelihood ratios, of which one step has the record's, on evenly spaced knots.

    What only Q has at a step has the ratio 0; where that is rare, and order counts, it is met once or counts as lost.
    """
    x, q = np.exp(np.minimum(inner.at, _LARGEST)), _under_q(inner.at, inner.masses)
    ranks = np.argsort(x)
    beyond = np.cumsum((x * q)[ranks][::-1])[::-1]
    places = np.searchsorted(-beyond, -_CAPS[order] * np.array([1.0, 1e1, 1e2, 1e3]))
    caps = np.maximum(1.0, x[ranks][np.minimum(places, len(x) - 1)])
    cap = float(next((cap for cap in caps if cap <= size / 8), caps[-1]))
    farther = float(x[ranks][min(int(np.searchsorted(-beyond, -_FREE)), len(x) - 1)])
    cap = farther if order == "remove" and cap < farther <= steps else cap
    clipped, rare = np.minimum(x, cap), steps * inner.alone
    low = float(clipped.min()) if rare <= _SELDOM else 0.0
    once = rare if order == "add" and low and steps > 1 else 0.0
    low = low if once or order == "remove" or not rare else 0.0
    g, spread = _knots(clipped - low, q, steps, size)
    if 4 * LOOK < size < _SUM and steps * g * g > _WIDENED * spread * spread:
        return _allocated(inner, steps, 2 * size, order)
    base_tilt, each = _TILTS[order]
    tilts = {base_tilt / size, each * g / (spread or 1.0) or base_tilt / size}
    if 2 * steps * float((clipped - low) @ q) > size * g:  # below a law high up in the window a tilt magnifies rounding
        tilts.add(1 / size)
    upper = _spread((clipped - low) / g, q * (1 + _SLACK))
    upper[0] += 0.0 if once else inner.alone
    (over, top), means = _power([(upper, steps)], size, 1, tilts), low + np.arange(size) * g / steps
    mass = over if order == "add" else over * means
    few = max(not low, int(np.searchsorted(np.cumsum(mass), _FEW)))  # knots that hold rounding: taken as told apart
    lost = inner.lost + float((np.maximum(x - cap, 0.0) * q).sum()) * 1.001
    lost, alone = lost + float((over * means)[:few].sum()), float(over[:few].sum()) + once * once
    at, law = np.log(means[few:]), mass[few:]
    if order == "remove":
        lost += min(1.0, top * float(means[-1] + g / steps))
    else:
        law[-1] += top
        if once:
            others, top = _power([(upper, steps - 1)], size, 1, tilts)
            others[-1] += top
            alone += once * float(others[:few].sum())
            at, law = np.append(at, np.log((means - low / steps)[few:])), np.append(law, others[few:] * once)
        at, lost, alone = -at, alone, lost
    shrunk, rows = _inner_labels(inner)
    if cap < caps[0] or _FEWEST * g > np.ptp(clipped) or not len(shrunk):  # ratios that this window holds badly
        return Pair(at, law, lost, alone, *_by_logarithms(inner, (steps, 1), order, min(size, _PLACED), at))
    values = 1 / np.maximum(shrunk, 1 / cap)
    values = (values - values.min()) / g
    return Pair(at, law, lost, alone, *_counted(values, rows, (steps, 1), order, (size, tilts), at))


def _at_one_step(inner: Pair, steps: int, size: int, order: str) -> Pair:
    """Return the mean of likelihood ratios of steps, of which one has the record's."""
    inner = capped(inner, _LARGEST)  # larger ratios are no floats, and count as lost
    if _is_few(inner, steps, order):
        return _at_few_steps(inner, steps, _FEW_KNOTS[steps > _FEWEST_STEPS], order)
    return _allocated(inner, steps, size, order)


def _is_few(inner: Pair, steps: int, order: str) -> bool:
    """Return whether steps are so few, and ratios so large, that evenly spaced ratios are too far apart."""
    square = float(inner.masses @ np.exp(np.minimum(inner.at, _LARGEST)))
    return steps <= min(_FEW_STEPS, _OF_SQUARE * square) and bool(inner.masses[inner.at > _LARGE].sum() > _CAPS[order])


def _at_few_steps(inner: Pair, steps: int, size: int, order: str) -> Pair:
    """Return the mean of likelihood ratios of few steps, on knots evenly spaced in logarithms, from above and below."""
    under_q = _under_q(inner.at, inner.masses)
    cap = min(_reached(inner.at, inner.masses), _LARGEST)
    lost = inner.lost + float(inner.masses[inner.at > cap].sum())
    least = min(cap, max(-_reached(-inner.at, under_q), cap - _LARGEST))
    knots, off = ratios.knots_for(least, cap, steps, size), steps * ratios.ROUNDED
    above = ratios.on_knots(knots, np.minimum(inner.at, cap), under_q * (1 + _SLACK))
    above[0] += inner.alone
    sum_law = ratios.summed(knots, steps, above)[0] * (1 + off)
    at, law, nothing = knots.logarithms - math.log(steps), sum_law[1:], float(sum_law[0])
    shrunk, rows = _inner_labels(inner)
    p, q, p_high, q_low = (ratios.on_knots(knots, np.minimum(-np.log(shrunk), cap), row) for row in rows)
    sums = ((q_low, p), (q, q)) if order == "remove" else ((q_low, q_low), (q, p_high))
    p_law, q_law = (
        np.maximum(ratios.summed(knots, steps, *laws)[1] * (1 + side * off), _TINY)
        for laws, side in zip(sums, (-1, 1), strict=True)
    )
    if order == "remove":
        return Pair(at, law * np.exp(at), lost, nothing, *_told_apart(p_law, q_law, at))
    return Pair(-at, law, nothing, lost, *_told_apart(p_law, q_law, -at))


def _reached(at: Array, masses: Array) -> float:
    """Return the largest place but for what weighs next to nothing."""
    ranks = np.argsort(-at)
    beyond = int(np.searchsorted(np.cumsum(masses[ranks]), _FARTHEST))
    return float(at[ranks[min(beyond, len(ranks) - 1)]])


def _knots(above: Array, q: Array, steps: int, size: int) -> tuple[float, float]:
    """Return the step of knots that hold nearly every sum of values above the least one, and the sum's deviation."""
    mean, square, span = float(above @ q), float(above**2 @ q), float(above.max())
    spread = math.sqrt(steps * max(square - mean * mean, 0.0))
    room = min(steps * span, steps * mean + 3 * span + 14 * spread)
    return (room or 1.0) / (size - 2 * min(steps + 1, size // 8)), spread


def _at_places(loss: Loss, cells: int, size: int) -> Pair:
    """Return several secret steps: above, one place in each of as many blocks; below, sums of ln(1 + ratio / steps)."""
    _, inside, steps, order, places = loss
    over = _at_one_step(_together(tuple((part, n * places) for part, n in inside), cells), steps // places, size, order)
    told = _by_logarithms(_together(inside, cells), (steps, places), order, min(size, _PLACED), over.at)
    return Pair(*over[:4], *told)


def _by_logarithms(inner: Pair, met: tuple[int, int], order: str, size: int, at: Array) -> tuple[Array, ...]:
    """Return labels and their rows: the sums of ln(1 + ratio / steps), near `at`."""
    steps, places = met
    shrunk, rows = _inner_labels(inner)
    p, q, *_ = rows
    ranks = np.argsort(shrunk)
    rare = int(np.searchsorted(np.cumsum(p[ranks]), _CAPS[order]))
    values = np.log1p(1 / np.maximum(shrunk, shrunk[ranks][: rare + 1].max(initial=0.0)) / steps)
    values -= values.min(initial=math.inf)
    if not values.any():  # one ratio at most: nothing is told apart
        return (np.zeros(0), *_one_way(np.zeros(0)))
    spread = math.sqrt(steps * float(((values - values @ q) ** 2) @ q))
    g = (steps * float(values @ q) + (places + 2) * float(values.max()) + 14 * spread) / size
    base_tilt, each = _TILTS[order]
    tilts = {base_tilt / size, each * g / spread or base_tilt / size}
    return _counted(values / g, rows, met, order, (size, tilts), at)


def _inner_labels(inner: Pair) -> tuple[Array, list[Array]]:
    """Return e^-label and the four rows of labels, those of Q as masses, where Q is not rounded away."""
    told = inner.q > 1e-300
    shrunk = np.exp(-np.minimum(inner.told[told], _LARGEST))
    return shrunk, [inner.p[told], inner.q[told] * shrunk, inner.p_high[told], inner.q_low[told] * shrunk]


def _counted(
    values: Array, rows: list[Array], met: tuple[int, int], order: str, sums: tuple[int, set[float]], at: Array
) -> tuple[Array, ...]:
    """Return labels and their rows: the law of a sum of values over all steps, some of which have the record's.

    Labels above the losses `at` would be the whole of a weighted tail, and stand at the largest one.
    """
    p, q, p_high, q_low = (_spread(values, row) for row in rows)
    (steps, places), (size, tilts) = met, sums
    fewer = steps - places
    ways = ([(p, places), (q_low, fewer)], [(q, steps)]), ([(q_low, steps)], [(p_high, places), (q, fewer)])
    laws = zip(ways[order == "add"], (-1, 1), strict=True)
    p_law, q_law = (np.maximum(_power(measures, size, side, tilts)[0], _TINY) for measures, side in laws)
    return _told_apart(p_law, q_law, at)


def _told_apart(p_law: Array, q_law: Array, at: Array) -> tuple[Array, ...]:
    """Return labels and their rows by a law from below and one from above, near the losses `at`."""
    ratio = np.log(p_law) - np.log(q_law)
    in_range = ratio >= at.min()
    told, p = np.minimum(ratio, at.max())[in_range], p_law[in_range]
    return told, p, p * np.exp(told - ratio[in_range]) + _TINY, *_one_way(p)[2:]


def _spread(at: Array, masses: Array) -> Array:
    """Return masses split between the two knots around each place, which keeps their mean."""
    where, part = _place(at)
    return _added(where, masses * (1 - part), masses * part, int(where.max()) + 2)


def _power(rows: list[tuple[Array, int]], size: int, side: int, tilts: set[float]) -> tuple[Array, float]:
    """Return the law of a sum at every knot, the best bound of several tilts; and what lies beyond."""
    measures, ways, bounds = [(0, row, n) for row, n in rows], np.geomspace(1.0, 1e3, 16) / size, []
    for theta in tilts:
        law = summed(measures, theta, Window(0, size, 1.0), ways)
        bounded_masses = np.maximum(law.masses + (law.error if side > 0 else -law.error - law.above), 0.0)
        scale = np.exp(np.minimum(law.log_moment + side * law.relative - theta * np.arange(size + 1), _LARGEST))
        bounds.append((bounded_masses * scale[:-1], law.above * float(scale[-1]) if theta > 0 else 1.0))
    best = np.min if side > 0 else np.max
    return np.asarray(best([law for law, _ in bounds], axis=0)), min(top for _, top in bounds)
