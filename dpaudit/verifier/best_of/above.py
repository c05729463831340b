"""What every score shows at most: for the symmetric pair through knots of the curve of one run."""

import math
from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.verifier.best_of.runs import PARAMETERS, Runs
from dpaudit.verifier.best_of.weights import Weights
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import Loss, Multiset, black_box, discrete, most, reversed_all, times
from dpaudit.verifier.polygons import UP, listed, symmetric
from dpaudit.verifier.refusals import Array, Table, follow

_KNOTS, _HEIGHTS, _RARE, _APART = 599, 999, 200, 1e-5  # of the curve of one run, of the result, and beyond; how close
_SMALL = 1e-6  # epsilons that are not told apart, but for one largest loss
_GONE, _LAST, _RUNS = 1e-37, 300.0, 1e6  # what is left at an end; the largest epsilon of a run; E K


def best_above(node: Table, part: list[Multiset]) -> Loss:
    """Return the pair that dominates the best run; nothing is known from below."""
    law = tuple((key, value) for key, value in node.items() if key in PARAMETERS)
    return _best_above(law, tuple(frozenset(a.items()) for a in part))


@lru_cache(maxsize=16)
def _best_above(law: tuple[tuple[str, Any], ...], alternatives: tuple[frozenset[tuple[Loss, int]], ...]) -> Loss:
    """Return the same, once for each law and part."""
    runs, part = Runs(dict(law)), [Counter(dict(a)) for a in alternatives]
    follow(runs.log_slope(np.ones(1))[0] < math.log(_RUNS), "so many runs cannot be derived again")
    curve = Worst(part)
    if not curve.largest or curve.lost == 1:
        return discrete([(0.0, 1.0)]) if curve.lost < 1 else black_box(math.inf)
    if curve.largest <= _SMALL and not curve.lost:
        return black_box(_end(part, runs))
    knots, surely = _knots(part, curve)
    values, masses, lost = symmetric(knots, curve.above(knots).tolist())
    weights = Weights(values, masses, lost, runs)
    furthest = np.linspace(float(knots[-1]), 2 * _LAST, 300)
    left = weights.heights(furthest)
    end = _end(part, runs) if surely else float(furthest[np.argmax(left <= left[-1] * (1 + 2 * UP) + _GONE)])
    follow(end <= 2 * _LAST, "the curve of the best run goes too far to be derived again")
    at = np.linspace(0.0, end, _HEIGHTS)
    few, many = runs.log_slope(np.array([0.0, 1.0])).tolist()
    if not (surely or runs.runs) and end < knots[-1] + many - few:
        at = np.append(at, np.linspace(end, float(knots[-1]) + many - few, _RARE)[1:])
    heights = weights.heights(at)
    if runs.runs:
        shown, many, few = Worst([times(a, runs.runs) for a in part]), 0.0, 0.0
        heights = np.minimum(heights, shown.above(at))
    else:  # an output counts f'(1) times at most, and f'(0) times at least
        moved = at + few - many  # below 0 the curve of one run counts as 1
        heights = np.minimum(heights, math.exp(many) * np.where(moved > 0, curve.above(np.maximum(moved, 0.0)), 1.0))
    if surely:
        heights[-1] = 0.0
    upper_loss = listed(*symmetric(at, heights.tolist()))
    beyond = ("beyond", many, few - many, max(1, runs.runs), alternatives)
    return ("between", upper_loss, discrete([(0.0, 1.0)]), *([] if surely else [beyond]))


def _knots(part: list[Multiset], curve: Worst) -> tuple[Array, bool]:
    """Return epsilons from 0 to where next to nothing is left of a part, and whether nothing is."""
    end = 0.125
    while end < curve.largest and curve.above(np.array([end]))[0] > curve.lost * 1.001 + _GONE:
        end *= 1.5
    surely = curve.largest <= _LAST and not curve.lost
    follow(end <= _LAST, "the curve of one run goes too far to be derived again")
    listed = [abs(v) for a in part for loss in a if loss[0] == "discrete" for v, _ in loss[1]]
    tail_knots = np.linspace(end, curve.largest, 20) if surely and end < curve.largest else np.zeros(0)
    near = min(end, curve.largest)
    knots = np.unique([*np.linspace(0.0, near, _KNOTS), *(v for v in listed if v < near), *tail_knots])
    apart = np.diff(knots[:-1]) > _APART * near  # a slope between knots that are closer would be rounding
    return np.concatenate([knots[:1], knots[1:-1][apart], knots[-1:]]), surely


def _end(part: list[Multiset], runs: Runs) -> float:
    """Return the largest loss of the best run of a pure part: where P has 1 / (1 + p) above, and Q p / (1 + p)."""
    several = [times(order, max(1, runs.runs)) for a in part for order in (a, reversed_all(a))]
    epsilon = max(most(order)[0] for order in several)
    if runs.runs:
        return epsilon
    over, under = (np.array([1 / (1 + math.exp(sign * epsilon))]) for sign in (1, -1))
    return float(epsilon + runs.log_slope(under)[0] - runs.log_slope(over)[0]) * (1 + 1e-13)
