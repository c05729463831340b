"""Bounds on a multiset of losses in each measure, by formulas of this checker's own.

rho of a Gaussian is mu^2 / 2, of Laplace noise x - 1 + e^-x, of a bounded range r / (E - 1) - 1 + ln((E - 1) / r) with
E = e^r; of atoms it is the supremum of chords over the orders, as (a - 1) R_a is convex. Divergences add up. What is
not known here is left open, never guessed.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit.verifier.cells import divergence_of_cells
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import (
    Loss,
    Multiset,
    alone,
    apart,
    discrete,
    distinct,
    leak,
    reverse,
    reversed_all,
    settled,
    supremum,
)
from dpaudit.verifier.moments import log_moments
from dpaudit.verifier.polygons import hull

Bounds = tuple[float, float]
"""A lower and an upper bound; 0 and infinity where nothing is known."""

OPEN: Bounds = (0.0, math.inf)
_POWERS = np.geomspace(1e-11, 1e9, 5_000)
_CUT, _TIMES, _WIDEST, _FINE = 40, 3, 100, 5e-10  # pieces of a cell, and how often; cells; relative, when it is known
_FLAT, _ROOM = 2_000, 1 << 22  # cells of few atoms, whose rho at tiny losses is near its supremum at many orders; terms
_FIRST_KNOTS, _KNOTS = 9, 121  # epsilons at which a curve is asked at first, and at most
_BESIDE = 1e-3  # of the largest epsilon: no others are asked so close to the one that shows most
_SETTLED = 1e-7  # relative: a chord is not halved whose corner lies so little above its ends
_ENDED, _NEARER = 600.0, 6.0  # the largest loss of a curve that is followed to its end; how far another is
_UNIT = 2.0**-52
_ULPS = 4e-15  # relative; a dozen roundings
_THRESHOLD = ("threshold",)
_DRAWS = ("map", "allocated", "mixture", "average")  # losses that hide a draw
_HALVES, _NEAR = 100, 2e-8  # how often cells are halved; relative, from where on they are narrow
_FURTHEST = 1e3  # the largest power at which the moment of one run is asked
_LAST, _FIRST = 1e6, 300  # beside xi: the largest power, and how many there are at first
_SLIP = 1e-9  # relative; more than rounding makes of a supremum


def between(measure: str, at: float, alternatives: list[Multiset]) -> Bounds:
    """Return bounds on the largest value over alternatives and both orders of the neighbours."""
    ways = distinct([way for alternative in alternatives for way in (alternative, reversed_all(alternative))])
    if measure == "profile":
        return Worst(alternatives).delta(at)
    lows, highs = zip(*(_mu(way) if measure == "mu" else _added(measure, at, way) for way in ways), strict=True)
    if measure != "mu" or max(highs) <= max(lows) * (1 + 3 * _SLIP):
        return max(lows), max(highs)
    shown, most = _mu_of_curve(Worst(alternatives))
    return max(*lows, shown), min(max(highs), most)


def _added(measure: str, at: float, losses: Multiset) -> Bounds:
    """Return the sum of the bounds of all losses; from below the limit at order 1 counts, where all have one.

    `at` is the order of a divergence, and beside rho the claimed xi.
    """
    losses = Counter({(loss[1] if loss[0] == "once" else loss): n for loss, n in losses.items()})
    losses = _of_whole(losses) if measure == "rho" else losses
    sides = [
        (_rho(loss) if measure == "rho" else _renyi(loss, at), n)
        for loss, n in losses.items()
        if loss[1] or _infinite(loss)
    ]
    if any(low == math.inf for (low, _), _ in sides):
        return math.inf, math.inf
    low, high = (math.fsum(side[end] * n for side, n in sides) for end in (0, 1))
    if measure == "rho" and at:
        shown, most = _beside(at, losses, high)
        return max(shown, low - at), min(most, high)
    if measure == "rho" and len(losses) == 1:  # one kind has its supremum at one order, however often it is met
        low = max(low, *(_shown(loss) * n for loss, n in losses.items()))
    return low, high


def _beside(xi: float, losses: Multiset, rho: float) -> Bounds:
    """Return bounds on the rho beside `xi`: that of Gaussian losses, and of the rest (R_a - xi) / a at its largest.

    K(s) less xi s is convex as K is. No R_a exceeds `rho` times a, and beyond the last power none the largest loss.
    """
    others = {loss: n for loss, n in losses.items() if loss[0] not in ("gaussian", "concentrated")}
    normal = [math.fsum(_rho(loss)[end] * n for loss, n in losses.items() if loss not in others) for end in (0, 1)]
    exact = _largest_of(others)
    if exact == math.inf or any(map(leak, others)):
        return OPEN
    if exact <= Fraction(repr(xi)):  # no divergence of the rest exceeds it
        return normal[0], normal[1]
    largest = float(exact) * (1 + _ULPS)

    def moments(powers: Any) -> tuple[Any, Any]:
        sides = np.zeros((2, len(powers)))
        for loss, n in others.items():
            sides += n * np.array([_renyi(loss, 1 + s) for s in powers.tolist()]).T
        highs = np.minimum(np.minimum(sides[1], largest), (1 + powers) * (rho - normal[0]))
        return powers * (sides[0] - xi), powers * (highs - xi)

    powers = np.geomspace(1e-9, _LAST, _FIRST)
    low, high = _largest_ratio(powers, moments)
    high = max(high, (largest - xi) / _LAST, 0.0)
    return normal[0] + low, normal[1] + high + _SLIP * high


def _largest_of(losses: dict[Loss, int]) -> Fraction | float:
    """Return the sum of the largest losses: of decimals that somebody wrote exactly, else of floats rounded up."""
    sizes = [(max(supremum(loss), supremum(reverse(loss))), n) for loss, n in losses.items()]
    if any(size == math.inf for size, _ in sizes):
        return math.inf
    ends = ((size if float(f"{size:.15g}") == size else math.nextafter(size, math.inf), n) for size, n in sizes)
    return sum((Fraction(repr(float(end))) * n for end, n in ends), start=Fraction(0))


def _infinite(loss: Loss) -> bool:
    """Return whether some output has no counterpart under the other neighbour."""
    return loss[0] == "discrete" and bool(loss[2])


def _rho(loss: Loss) -> Bounds:
    """Return bounds on the rho of one loss; the lower one is its divergence at order 1."""
    if loss[0] == "choice":
        lows, highs = zip(*map(_rho, loss[1]), strict=True)
        return max(lows), max(highs)
    if _infinite(loss):
        return math.inf, math.inf
    kind, size = loss[0], loss[1]
    if kind in ("gaussian", "concentrated"):
        return _rounded(size * size / 2 if kind == "gaussian" else size)
    if loss[2:] == _THRESHOLD:
        return _of_thresholds(size, _of_atoms)
    if kind == "laplace":
        series = size**2 / 2 * (1 - size / 3 + size**2 / 12)  # alternates: what is left out is below 1e-12 of it
        exact = series if size < 1e-3 else size + math.expm1(-size)
        return exact * (1 - _SLIP), exact * (1 + _SLIP)
    if kind == "range":
        share, series = math.expm1(size) / size, size**2 / 8 - size**4 / 576 + size**6 / 25920
        exact = series if size < 0.05 else 1 / share - 1 + math.log(share)
        return exact * (1 - _SLIP) - 1e-14 * (size > 0.05), exact * (1 + _SLIP) + 1e-14 * (size > 0.05)
    if kind == "discrete":
        return _of_atoms(loss)
    if kind in ("map", "mixture", "halves", "between", "average", "allocated"):
        largest = max(supremum(loss), supremum(reverse(loss)))
        box = math.inf if leak(loss) else largest * math.tanh(largest / 2) * (1 + _SLIP)
        most = min(box, _whole(loss, lambda part: _rho(part)[1]))
        beyond = _rho_beyond(loss) if kind == "between" and len(loss) > 3 else math.inf
        return (0.0, most) if kind != "between" else (_rho(loss[2])[0], min(most, beyond, _rho(loss[1])[1]))
    return OPEN


def _whole(loss: Loss, bound: Callable[[Loss], float]) -> float:
    """Return the sum of bounds over what a hidden draw holds; infinity of any other loss."""
    if loss[0] not in _DRAWS:
        return math.inf
    return math.fsum(bound(part) * n for part, n in unmixed(Counter([loss])).items()) * (1 + _ULPS)


def unmixed(losses: Multiset) -> Multiset:
    """Return losses that dominate others, hidden draws as the worst of what they hold.

    A draw mixes pairs, each of those releases or of none, or of shifts of equal rank, and a curve of mixtures is at
    most the largest of the curves, as the hockey-stick divergence is jointly convex.
    """
    dominating: Multiset = Counter()
    for loss, n in losses.items():
        if loss[0] == "mixture":
            dominating[loss[1], apart(loss)] += n
        elif loss[0] == "average":
            dominating["choice", frozenset(option for _, option in loss[1])] += n
        elif loss[0] in _DRAWS:
            inside = Counter({part if loss[3] == "remove" else reverse(part): m for part, m in loss[1]})
            for part, m in unmixed(inside).items():
                dominating[part] += n * math.prod(loss[4:]) * m
        else:
            dominating[loss] += n
    return _of_whole(dominating)


def _rounded(value: float) -> Bounds:
    """Return bounds on a number of a few roundings, among them that of mu, which is squared."""
    return value * (1 - _ULPS), value * (1 + _ULPS)


def _shown(loss: Loss) -> float:
    """Return what some order shows of the rho of finite losses, or 0."""
    if loss[0] == "choice":
        return max(map(_shown, loss[1]))
    if loss[0] == "between":
        return _shown(loss[2])
    return _largest_of_atoms(loss)[0] if loss[0] == "discrete" else 0.0


def _of_atoms(loss: Loss) -> Bounds:
    """Return bounds on the rho of finite losses: at order 1 from below, chords over the orders from above."""
    values, masses = np.array(loss[1]).T
    low = float(masses @ values) * (1 - _SLIP) - 1e-13 * min(1.0, float(np.abs(values).max()))
    return max(0.0, low), _largest_of_atoms(loss)[1]


@lru_cache(maxsize=1024)
def _largest_of_atoms(loss: Loss) -> Bounds:
    """Return bounds on the supremum over the orders of the divergence of finite losses over its order."""
    values, masses = np.array(loss[1]).T
    spread, top = float(masses @ np.abs(values)), float(np.abs(values).max())
    if not top:
        return 0.0, 0.0
    unit = _UNIT * (len(values) + 16)  # of a sum of so many terms

    def moments(powers: Any) -> tuple[Any, Any]:
        exact = log_moments(loss, powers)
        off = np.where(powers * top < 1, unit * powers * spread, unit * (1 + powers * top)) + 1e-10 * np.abs(exact)
        return exact - off, exact + off

    widest = min(_FLAT, max(_WIDEST, _ROOM // (_CUT * len(values))))
    low, high = _largest_ratio(_POWERS, moments, widest)
    return low, max(high, top / float(_POWERS[-1]))


def _largest_ratio(powers: Any, moments: Callable[[Any], tuple[Any, Any]], widest: int = _WIDEST) -> Bounds:
    """Return bounds on the supremum of K(s) / (s (1 + s)) up to the last power, from bounds on K.

    K lies below its chords. Cells between two powers that may hold the supremum are cut, three times at most.
    """
    lows, highs = moments(powers)
    low, high = 0.0, float(highs[0] / powers[0])
    for _ in range(_TIMES):
        low = max(low, float((lows / (powers * (1 + powers))).max()))
        cells = _under_chords(powers, highs)
        wide = np.flatnonzero(cells > low * (1 + _FINE))
        if not 0 < len(wide) <= widest:
            return low, max(high, float(cells.max()))
        high = max(high, float(np.delete(cells, wide).max(initial=0.0)))
        inner = [np.geomspace(powers[i], powers[i + 1], _CUT) for i in wide.tolist()]
        powers = np.unique(np.concatenate(inner))
        lows, highs = moments(powers)
    return low, max(high, float(_under_chords(powers, highs).max()))


def _under_chords(powers: Any, moments: Any) -> Any:
    """Return a bound on K(s) / (s (1 + s)) between each of the powers and the next one."""
    first, last = powers[:-1], powers[1:]
    slope = np.diff(moments) / (last - first)
    start = np.minimum(0.0, moments[:-1] - slope * first)  # (u + v s) / (s (1 + s)) is largest at a knot or a root
    rising = np.maximum(slope, 1e-300)  # a chord that falls is nowhere above 0
    best = np.clip((-start + np.sqrt(start * start - start * rising)) / rising, first, last)
    ends = moments / (powers * (1 + powers))
    return np.maximum(np.maximum(ends[:-1], ends[1:]), (moments[:-1] + slope * (best - first)) / (best * (1 + best)))


def _of_thresholds(shift: float, bounds: Callable[[Loss], Bounds]) -> Bounds:
    """Return bounds on a divergence of the worst threshold, which lies x from one answer and shift - x from the other.

    Cells of x are halved. Between two thresholds those that count are the two, and the one half way that lies further
    from both answers, where the tangents of a hyperbola meet: by ln cosh(w / 2), at most w^2 / 8.
    """

    @cache
    def at(x: float, y: float) -> Bounds:
        gain, fall = y + math.log1p(-math.expm1(-x)), -x - math.log1p(-math.expm1(-y))
        return bounds(discrete([(gain, 1 - math.exp(-x) / 2), (fall, math.exp(-x) / 2)]))

    low, cells = 0.0, [(-math.inf, 0.0, shift)]
    for _ in range(_HALVES):
        if -cells[0][0] <= low * (1 + _NEAR):
            break
        _, first, width = heapq.heappop(cells)
        for start in (first, first + width / 2):
            middle, beyond = start + width / 4, (width / 2) ** 2 / 8
            ends = [at(x, max(0.0, shift - x)) for x in (start, start + width / 2)]
            corner = at(middle + beyond, shift - middle + beyond)
            low = max(low, *(end[0] for end in ends))
            heapq.heappush(cells, (-max(corner[1], *(end[1] for end in ends)), start, width / 2))
    return low, -cells[0][0]


def _renyi(loss: Loss, order: float) -> Bounds:
    """Return bounds on the divergence of one loss at an order."""
    if loss[0] == "choice":
        lows, highs = zip(*(_renyi(option, order) for option in loss[1]), strict=True)
        return max(lows), max(highs)
    if _infinite(loss):
        return math.inf, math.inf
    kind, size, s = loss[0], loss[1], order - 1
    if kind in ("gaussian", "concentrated"):
        return _rounded(order * (size * size / 2 if kind == "gaussian" else size))
    if loss[2:] == _THRESHOLD:
        return _of_thresholds(size, lambda noise_loss: _renyi(noise_loss, order))
    if kind == "between" and len(loss) > 3:
        return _renyi(loss[2], order)[0], _renyi_beyond(loss, np.array([s]))[0]
    if kind not in ("laplace", "discrete", "range"):
        low, high = divergence_of_cells(loss, s)
        return low, min(high, _of_sides(loss, order), _whole(loss, lambda part: _renyi(part, order)[1]))
    value = float(log_moments(loss, np.array([s]))[0]) / s
    return max(0.0, value * (1 - _SLIP) - 1e-13 / s), value * (1 + _SLIP) + 1e-13 / s


def _of_sides(loss: Loss, order: float) -> float:
    """Return a bound on a divergence by the curves of each sign, or by the upper one of two; infinity of other losses.

    The moment is 1 plus an integral of the curve over x >= 1 and one below; neither is negative.
    """
    if loss[0] == "between":
        return _renyi(loss[1], order)[1]
    if loss[0] != "halves":
        return math.inf
    above, below = ((order - 1) * _renyi(side, order)[1] for side in loss[1:])
    near = math.log1p(math.expm1(min(above, 1.0)) + math.expm1(min(below, 1.0)))
    return (near if max(above, below) <= 1 else float(np.logaddexp(above, below))) / (order - 1) * (1 + _SLIP)


def _rho_beyond(loss: Loss) -> float:
    """Return an upper bound on the rho of the best of many runs: chords over the orders, and a bound on those beyond.

    The moment of an order a is at most 2 a r c^(1 - a) times that of one run.
    """
    orders = np.geomspace(1e-5, _FURTHEST, 1500)
    if not np.isfinite(_renyi_beyond(loss, orders)).all():
        return math.inf
    _, many, share, times, alternatives = loss[3]
    rho_of_run = max(sum(_rho(x)[1] * n for x, n in way.items()) for way in _ways(alternatives)) * times
    far = rho_of_run + (math.log(2 + 2 * _FURTHEST) + many - share * _FURTHEST) / _FURTHEST / (1 + _FURTHEST)

    def moments(powers: Any) -> tuple[Any, Any]:
        return 0.0 * powers, powers * _renyi_beyond(loss, powers)

    return max(_largest_ratio(orders, moments)[1], float(far)) * (1 + _SLIP)


def _renyi_beyond(loss: Loss, powers: Any) -> Any:
    """Return upper bounds on the divergences of the best of many runs at orders 1 + powers.

    E r^a = 1 + a (a - 1) times the integral of x^(a - 2) h(x) + x^(-a - 1) h'(x), x >= 1. Atoms up to X, and the mass m
    there, have E e^(s L) + a m X^s. Beyond, h(x) <= r h_0(c x), and a power of c x / (c X) >= 1 may be put beside it.
    """
    _, many, share, times, alternatives = loss[3]
    run_powers = np.geomspace(1e-5, _FURTHEST, 300)
    rows = [[sum(_renyi(x, 1 + s)[1] * n for x, n in way.items()) for s in run_powers] for way in _ways(alternatives)]
    logs = run_powers * np.max(rows, axis=0) * times
    end = loss[1][1][-1][0]
    mass = math.log(max(loss[1][2], 1e-320))
    within = np.logaddexp(log_moments(loss[1], powers), np.log1p(powers) + mass + powers * end)
    beyond = np.full(len(powers), math.inf)
    for s, log in zip(run_powers.tolist(), logs.tolist(), strict=True):
        put = np.log1p(powers) + np.log(powers) + many - powers * share + (powers - s) * (end + share)
        beyond = np.where(powers <= s, np.minimum(beyond, put + log - math.log(s) - math.log1p(s)), beyond)
    alone = np.logaddexp(np.log1p(powers), many - powers * share + np.interp(powers, run_powers, logs, right=math.inf))
    return (np.minimum(np.logaddexp(within, beyond), alone) + _SLIP * powers) / powers


def _ways(alternatives: Any) -> list[Multiset]:
    """Return alternatives as multisets, in both orders."""
    return [way for a in alternatives for way in (Counter(dict(a)), reversed_all(Counter(dict(a))))]


def _mu(losses: Multiset) -> Bounds:
    """Return bounds on mu by each loss alone: squares of Gaussian ones add up, and one pair has corners."""
    losses = _of_whole(settled(losses))
    if any(map(_infinite, losses)):
        return math.inf, math.inf
    if {loss[0] for loss in losses if loss[1] != 0} <= {"gaussian"}:
        return _rounded(math.sqrt(math.fsum(loss[1] ** 2 * n for loss, n in losses.items())))
    added = math.sqrt(math.fsum(_of_largest(loss) ** 2 * n for loss, n in losses.items() if loss[1])) * (1 + _SLIP)
    if alone(losses):
        values, masses = np.array(next(iter(losses))[1])[::-1].T
        rows = [(np.cumsum(row)[:-1], np.cumsum(row[::-1])[-2::-1]) for row in (masses, masses * np.exp(-values))]
        mu = float(np.max(_normal(*rows[0]) - _normal(*rows[1]), initial=0.0))
        return mu * (1 - _SLIP) - _ULPS, min(added, mu * (1 + _SLIP) + _ULPS)
    return 0.0, added


def _mu_of_curve(curve: Worst) -> Bounds:
    """Return bounds on mu by the curve at some epsilons, then beside the largest lower bound and in the worst chord."""
    last = curve.largest if curve.largest < _ENDED else _NEARER
    at = np.linspace(0.0, last, _FIRST_KNOTS).tolist()
    while True:
        sides = [curve.delta(epsilon) for epsilon in at]
        shown = [_mu_at(epsilon, low) for epsilon, (low, _) in zip(at, sides, strict=True)]
        best = int(np.argmax(shown))
        beside, most = pairwise(at[max(0, best - 1) : best + 2]), math.inf
        cells = [cell for cell in beside if cell[1] - cell[0] > _BESIDE * last]
        if curve.largest < _ENDED:
            chord, most = _worst_chord(at, [high for _, high in sides])
            ends = (_mu_at(end, curve.delta(end)[1]) for end in chord)
            cells += [chord] if most > max(shown[best], *ends) * (1 + _SETTLED) else []
        added = {(first + second) / 2 for first, second in cells}.difference(at)
        if len(at) >= _KNOTS or not added:
            return shown[best], most * (1 + _SLIP)
        at = sorted([*at, *added])


def _worst_chord(at: list[float], heights: list[float]) -> tuple[tuple[float, float], float]:
    """Return the ends of the chord above a curve, 0 at its end, whose corner needs the largest mu, and this mu.

    What lies above a Gaussian is convex. The larger curve of both orders counts, which below epsilon 0 shows the same
    corners in the other order.
    """
    points = list(zip(np.exp(at).tolist(), [*heights[:-1], 0.0], strict=True))
    corners = hull(points)
    ends, tops = np.array([points[i] for i in corners]).T
    under = -np.diff(tops) / np.diff(ends)
    over = tops[:-1] + under * ends[:-1]
    each = _normal(over, 1 - over) - _normal(under, 1 - under)
    worst = int(np.argmax(each))
    return (at[corners[worst]], at[corners[worst + 1]]), float(each[worst])


def _normal(mass: Any, complement: Any) -> Any:
    """Return the normal quantile of a mass, by the smaller one of it and the rest."""
    return np.where(mass < 0.5, ndtri(np.minimum(mass, 0.5)), -ndtri(np.minimum(complement, 0.5)))


def _of_whole(losses: Multiset) -> Multiset:
    """Return a multiset with one pair for what has several, and Gaussian releases on samples as whole ones.

    A divergence of a mixture is at most that of its parts. Over its order, and in mu, a sampled Gaussian release tends
    to the whole one at rare outputs.
    """
    simplified: Multiset = Counter()
    for loss, n in losses.items():
        at_most = ("gaussian", apart(loss)) if loss[:2] == ("mixture", "gaussian") else loss
        simplified[loss[2] if loss[0] == "once" else at_most] += n
    return simplified


def _of_largest(loss: Loss) -> float:
    """Return a mu for a Gaussian, or for what loses at most so much either way."""
    if loss[0] == "gaussian":
        return float(loss[1])
    largest = max(supremum(loss), supremum(reverse(loss)))
    if largest < 1e-5 and not leak(loss):  # the slope Phi (1 - Phi) / phi of mu / 2 is largest at 0
        return math.sqrt(math.pi / 2) * largest
    return -2 * float(ndtri(1 / (1 + math.exp(largest)))) if largest < 700 and not leak(loss) else math.inf


@lru_cache(maxsize=1024)
def _mu_at(epsilon: float, delta: float) -> float:
    """Return a mu whose Gaussian has at most this delta at an epsilon, rounded down."""
    low, high = 0.0, 40.0
    if delta <= 0:
        return 0.0
    for _ in range(60):
        mu = (low + high) / 2
        value = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        low, high = (mu, high) if value < delta * (1 - 1e-9) - 1e-13 else (low, mu)
    return low
