"""What scores of the checker's own show of the best run: an event under a score for each of many x."""

import math
from collections import Counter
from itertools import product

import numpy as np

from dpaudit.verifier.best_of.above import best_above
from dpaudit.verifier.best_of.runs import Places, Runs
from dpaudit.verifier.best_of.weights import Weights, both, hull, listed, symmetric
from dpaudit.verifier.losses import Loss, Multiset, discrete, merged, one_pair
from dpaudit.verifier.pairs import pair
from dpaudit.verifier.refusals import Table
from dpaudit.verifier.shifts import Array

_CELLED = ("gaussian", "laplace", "discrete")  # losses of which one run has a law in cells
_CELLS, _SCORES, _FARTHEST = 3000, 400, 33.0  # cells, scores and their largest epsilon
_SURE, _HIDDEN, _LIKELY = 1e-14, 1e-9, 1e-3  # what rounding hides, absolute and relative; outputs that are split
_SURELY = 20.0  # a Poisson mean whose number hardly varies
_SLIVER = 1e-12  # the smallest piece of an output that fresh coins split
_CUTS = np.geomspace(1e-6, 0.5, 9)


def best_below(node: Table, part: Multiset) -> Multiset:
    """Return what scores of their own show of the best run where it is shown once, and what one score shows always."""
    runs, found = Runs(node), [(one_pair(loss), n) for loss, n in merged(part).items()]
    if node.get("score") or len(found) != 1 or found[0][1] != 1 or found[0][0][0] not in _CELLED:
        return Counter()
    rows = [_points(runs, p, q) for p, q in _orders(found[0][0])]
    missed, seen = np.concatenate([[(0.0, 0.0)], *rows]).T
    order = np.lexsort((seen, missed))
    kept = order[hull(missed[order], -seen[order])]
    missed, seen = missed[kept], seen[kept]
    turns = (np.diff(seen) / np.maximum(np.diff(missed), 1e-300))[::-1]
    knots = np.log(np.append(1.0, turns[turns > 1]))
    if len(knots) < 2:
        return Counter()
    heights = (seen - np.exp(knots)[:, None] * missed).max(axis=1, initial=0.0) * (1 - _HIDDEN)
    heights[-1] = 0.0
    curve = listed(*symmetric(knots, heights.tolist()))
    above = best_above(node, [part])
    return Counter([("once", ("between", above, curve), ("between", above, _coins(rows[0])))])


def _coins(points: Array) -> Loss:
    """Return the loss of one event, that with the largest divergence."""
    missed, seen = points[(points[:, 1] > points[:, 0]) & (points[:, 1] < 1)].T
    gains = seen * np.log(seen / missed) + (1 - seen) * np.log((1 - seen) / (1 - missed))
    q, p = (float(row[np.argmax(gains)]) for row in (missed, seen))
    return discrete([(math.log(p) - math.log(q), p), (math.log1p(-p) - math.log1p(-q), 1 - p)])


def _orders(loss: Loss) -> list[Places]:
    """Return both orders of the laws of one run in cells; fresh coins split what is likely."""
    held = pair(loss, _CELLS)
    p, q = held.p, held.q * np.exp(-held.told)
    if loss[0] == "discrete":
        p, q = np.append(p, [loss[2], 0.0]), np.append(q, [0.0, loss[3]])
    often = np.maximum(p, q) > _LIKELY
    pieces = np.diff(np.geomspace(_SLIVER, 1.0, min(300, max(10, 3000 // max(1, int(often.sum()))))), prepend=0.0)
    shares = [pieces if likely else np.ones(1) for likely in often]
    p, q = (np.concatenate([m * share for m, share in zip(law / law.sum(), shares, strict=True)]) for law in (p, q))
    return [(p, q), (q, p)]


def _points(runs: Runs, p: Array, q: Array) -> Array:
    """Return the probabilities under Q and P of events of the best run, each under a score of its own."""
    ratios = np.minimum(q, 1e300 * p) / np.maximum(p, 1e-320)
    ranks = np.argsort(-ratios, kind="stable")
    p, q, ratios = p[ranks], q[ranks], ratios[ranks]
    weights = Weights(np.zeros(0), p, q, 0.0, runs)
    before, after = np.cumsum(p) - p, np.cumsum(p[::-1])[::-1]

    def event(x: float, keys: Array) -> tuple[float, float]:
        order = np.argsort(keys, kind="stable")
        one, two = (-np.diff(runs.below(both(law[order], 0.0, 0.0))) for law in (p, q))
        best = one > x * two
        return two[best].sum() * (1 + _HIDDEN) + _SURE, one[best].sum() * (1 - _HIDDEN) - _SURE

    def weighed(x: float) -> tuple[float, float]:
        value, line = weights.best(np.minimum(x * ratios, 1e300))
        return event(x, np.where(value > 0, weights.over[line], before))

    far = np.exp(np.linspace(0.0, _FARTHEST, 60))
    found = [weighed(x) for x in far]
    end = max((x for x, (missed, seen) in zip(far, found, strict=True) if seen > x * missed), default=1.0)
    found += [weighed(x) for x in np.exp(np.linspace(0.0, math.log(end) + 0.6, _SCORES))]
    if runs.runs or runs.mean > _SURELY:
        for top, rest in product(_CUTS, _CUTS):
            keys = np.where(before <= top, before, np.where(after <= rest, top, 1.0 + before))
            found += [event(x, keys) for x in far[:36]]
    return np.asarray(np.clip(found, 0.0, 1.0))
