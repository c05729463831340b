"""What the best of many runs shows at most: the largest sum over outputs of one run, each at its worst place.

Outputs stand by falling ratio l = P/Q, and f is the generating function of the number of runs. For every x >= 1 and
every score

    h(x) <= sum over outputs y of P(y) sup over u (f'(P(from y to u)) - x/l f'(Q(from y to u)))_+ ,

u being an output that stands later: only those from y to u have a lower score than y. docs/theory/selection.md has the
proof. Pairs of y and u form a mesh. In a cell both slopes are convex functions of one sum, so that they lie below the
values at its corners joined by lines. The second one lies above those values once they are lowered by an eighth of its
curvature times the squared width. The largest of such lines is convex, so that both ends of a row bound it.
"""

import math

import numpy as np

from dpaudit.accounting.run_counts import RunCount
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import DiscreteLoss

_STEP = 0.07  # by which the logarithm of a slope falls within one output
_OUTWARDS = 1e-12  # more than rounding makes of a sum of shares, absolute, and of a slope, relative
_SLACK = 1e-9  # relative; more than rounding makes of sums of positive terms
_FARTHEST, _STEPS, _LEFT = 600.0, 200, 1e-36
_EXPONENT, _DIGITS = 690.0, 12  # of a ratio; of the place of a cut within an output


class WeighedScores:
    """The outputs of one run's symmetric pair in rows, and the places that other outputs may give them."""

    def __init__(self, once: DiscreteLoss, count: RunCount) -> None:
        losses, masses = np.array(once.atoms).T
        p = np.concatenate([[once.infinite_mass], masses[::-1], [0.0]])
        q = np.concatenate([[0.0], (masses * np.exp(-losses))[::-1], [once.infinite_mass]])
        self.p, self.q = split(p[p + q > 0], q[p + q > 0], count, _STEP)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.losses = np.log(self.p) - np.log(self.q)
        # as f'(P) <= l^(runs - 1) f'(Q), outputs show nothing at more than so many times their own loss
        self.most = count.runs * self.losses if count.runs else np.full(len(self.p), math.inf)
        self.lines = _lines(self.p, self.q, count)
        self.gains = count.slope(self.p) * (1 + _OUTWARDS)  # where only what is left of an output has a lower score
        self.costs = count.slope(self.q if count.runs else np.zeros(len(self.q))) * (1 - _OUTWARDS)

    def heights(self, epsilons: Floats) -> Floats:
        """Return an upper bound on the curve of the best run at each epsilon of 0 or more."""
        heights = np.zeros(len(epsilons))
        for row in np.flatnonzero(self.p > 0):
            ratios = np.exp(np.minimum(epsilons - self.losses[row], _EXPONENT))
            own = self.gains[row] - ratios * self.costs[row]
            shown = epsilons < self.most[row]
            for lines in self.lines[row : row + 2]:
                heights += self.p[row] / 2 * np.maximum(own, lines.largest(ratios)) * shown
        return np.minimum(1.0, heights * (1 + _SLACK))

    def end(self, furthest: float) -> float:
        """Return an epsilon at which nothing is left but what is certain, or next to nothing; beyond `furthest`."""
        epsilons = np.linspace(furthest, _FARTHEST, _STEPS)
        heights = self.heights(epsilons)
        return float(epsilons[np.argmax(heights <= heights[-1] * (1 + 2 * _SLACK) + _LEFT)])


class _Lines:
    """The largest of lines gain - ratio cost and 0, of places whose gains and costs fall.

    Ratios at which the next line takes over are the slopes of a convex hull, which a monotone regression finds.
    """

    def __init__(self, gains: Floats, costs: Floats) -> None:
        from scipy.optimize import isotonic_regression  # noqa: PLC0415  # optimisers load slowly

        lower = np.append(True, np.diff(np.minimum.accumulate(costs)) < 0)
        gains, costs = gains[lower], costs[lower]
        drops = -np.diff(costs)
        turns = isotonic_regression(-np.diff(gains) / drops, weights=drops).x if len(drops) else drops
        corners = np.append(np.diff(turns, prepend=-1.0) > 0, True)
        self.gains, self.costs, self.turns = gains[corners], costs[corners], turns[corners[:-1]]

    def largest(self, ratios: Floats) -> Floats:
        """Return the largest value at each ratio."""
        best = np.searchsorted(self.turns, ratios)
        return np.asarray(np.maximum(0.0, self.gains[best] - ratios * self.costs[best]))


def _lines(p: Floats, q: Floats, count: RunCount) -> list[_Lines]:
    """Return the lines at the ends of all rows. A cell belongs to a row and a later output."""
    shares, theirs = (np.append(0.0, np.cumsum(law)) for law in (p, q))
    lines, before = [], np.zeros(len(shares))
    for row in range(len(shares)):
        between, other = shares[row:] - shares[row] + _OUTWARDS, np.maximum(0.0, theirs[row:] - theirs[row] - _OUTWARDS)
        sag = np.zeros(len(other))
        if len(other) > 2:
            sag[1:-1] = (q[row] + q[row + 1 :]) ** 2 / 8 * count.curvature(other[2:])
        after = np.maximum(sag, np.append(0.0, sag[:-1]))
        costs = np.maximum(0.0, count.slope(other) * (1 - _OUTWARDS) - np.maximum(before[-len(other) :], after))
        gains = count.slope(np.minimum(1.0, between)) * (1 + _OUTWARDS)
        lines.append(_Lines(gains[::-1], costs[::-1]))
        before = after[1:]
    return lines


def split(p: Floats, q: Floats, count: RunCount, step: float) -> tuple[Floats, Floats]:
    """Return outputs in pieces, cut where a slope has fallen by a step in logarithms, as a law comes from an end."""
    ends, places = np.arange(len(p) + 1.0), count.places(step)
    cuts = [ends]
    for law in (p, q):
        cuts.append(np.interp(places, np.append(0.0, np.cumsum(law)), ends))
        cuts.append(len(p) - np.interp(places, np.append(0.0, np.cumsum(law[::-1])), ends))
    at = np.unique(np.round(np.concatenate(cuts), _DIGITS))
    rows = np.minimum(at[:-1].astype(int), len(p) - 1)
    return p[rows] * np.diff(at), q[rows] * np.diff(at)
