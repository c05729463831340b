"""What the best of many runs makes of the outputs of one run, each scored as is worst for it.

Outputs are ranked by falling ratio l, and f is the generating function of the number of runs. With any score, an output
counts by at most l f'(a) - x f'(b), where a and b are what P and Q have from its rank down to some other rank; the
proof is in docs/theory/selection.md. Both slopes are convex in the two ranks. So a rectangle of ranks is bounded by its
corners, once the second slope is lowered by an eighth of its curvature times the squared width, by which a convex
function may lie below a chord.
"""

import math
from typing import NamedTuple

import numpy as np

from dpaudit.verifier.best_of.runs import Runs
from dpaudit.verifier.polygons import UP
from dpaudit.verifier.refusals import Array

_APART = 0.07  # by which ln f' falls within one output
_OFF = 1e-12  # more than rounding makes of sums of masses, and of a slope, relative
_LARGEST = 690.0  # an exponent
_DIGITS = 12  # of the place within an output where it is split


class _Corners(NamedTuple):
    """Slopes from one rank to all later ones, by falling cost, and the ratios at which the next one is worst."""

    gain: Array
    cost: Array
    turns: Array

    def most(self, ratios: Array) -> Array:
        """Return the largest gain - ratio cost."""
        line = np.searchsorted(self.turns, ratios)
        return np.asarray(self.gain[line] - ratios * self.cost[line])


class Weights:
    """The ranked outputs of the symmetric pair of one run, with the corners at both ends of each of them."""

    def __init__(self, values: Array, p: Array, lost: float, runs: Runs) -> None:
        first_law, second_law = np.array([lost, *p[::-1], 0.0]), np.array([0.0, *(p * np.exp(-values))[::-1], lost])
        possible = (first_law > 0) | (second_law > 0)
        self.p, self.q = pieces(first_law[possible], second_law[possible], runs, _APART)
        self.runs = runs
        over, under = (np.append(0.0, np.cumsum(law)) for law in (self.p, self.q))
        self.corners: list[_Corners] = []
        above: Array = np.zeros(len(over))
        for rank in range(len(over)):
            a, b = over[rank:] - over[rank] + _OFF, np.maximum(0.0, under[rank:] - under[rank] - _OFF)
            cells = np.zeros(len(b))  # of this output and later ones
            if rank + 1 < len(self.q):
                cells[1:-1] = (self.q[rank] + self.q[rank + 1 :]) ** 2 / 8 * runs.curvature(b[2:])
            below = np.maximum(cells, np.append(0.0, cells[:-1]))
            cost = runs.slope(b) * (1 - UP) - np.maximum(above[-len(b) :], below)
            self.corners.append(
                _corners(runs.slope(np.minimum(a, 1.0))[::-1] * (1 + _OFF), np.maximum(0.0, cost)[::-1])
            )
            above = below[1:]

    def heights(self, epsilons: Array) -> Array:
        """Return upper bounds on the curve of the best run.

        Where only the rest of an output itself has a lower score, either slope is read at its end. All that is scored
        lower has a ratio of l or less, so that an output shows nothing of k runs beyond k times its loss.
        """
        heights = np.zeros(len(epsilons))
        for i in np.flatnonzero(self.p):
            loss = math.log(self.p[i]) - math.log(self.q[i]) if self.q[i] else math.inf
            ratios = np.exp(np.minimum(epsilons - loss, _LARGEST))
            own_slopes = self.runs.slope(np.array([self.p[i], self.q[i] if self.runs.runs else 0.0]))
            least = np.maximum(0.0, own_slopes[0] * (1 + UP) - ratios * own_slopes[1] * (1 - UP))
            both = sum(np.maximum(least, corner.most(ratios)) for corner in self.corners[i : i + 2])
            heights += self.p[i] / 2 * both * (epsilons < self.runs.runs * loss if self.runs.runs else 1.0)
        return np.minimum(1.0, heights * (1 + UP))


def _corners(gain: Array, cost: Array) -> _Corners:
    """Return the corners of a convex hull of all places: slopes between them rise, as a monotone regression makes."""
    from scipy.optimize import isotonic_regression  # noqa: PLC0415  # optimisers load slowly

    cheaper = np.append(True, np.diff(np.minimum.accumulate(cost)) < 0)
    gain, cost = gain[cheaper], cost[cheaper]
    if len(cost) < 2:
        return _Corners(gain, cost, np.zeros(0))
    turns = isotonic_regression(np.diff(gain) / np.diff(cost), weights=-np.diff(cost)).x
    ends = np.append(np.diff(turns, prepend=-1.0) > 0, True)
    return _Corners(gain[ends], cost[ends], turns[ends[:-1]])


def pieces(p: Array, q: Array, runs: Runs, apart: float) -> tuple[Array, Array]:
    """Return outputs that fresh coins split where ln f' has fallen by so much, as masses add up from either end."""
    size, steps = len(p), runs.places(apart)
    ends = np.arange(size + 1.0)
    sums = [np.append(0.0, np.cumsum(law)) for law in (p, q, p[::-1], q[::-1])]
    down, up = ([np.interp(steps, row, ends) for row in rows] for rows in (sums[:2], sums[2:]))
    cuts = np.unique(np.round(np.concatenate([ends, *down, *(size - row for row in up)]), _DIGITS))
    of = np.minimum(cuts[:-1].astype(int), size - 1)
    return p[of] * np.diff(cuts), q[of] * np.diff(cuts)
