"""What scores that an adversary chooses show of the best of a secret number of runs: how close the upper bound is.

At x = e^epsilon the bound from above weighs an output of ratio l by the largest f'(1 - a) l - x f'(1 - B(a)) over all
places a. The score puts every output at its own place, those that no place makes positive by their ratio, the lowest on
top; fresh coins split likely outputs. The laws of the best run under that score are exact, and one event of them is a
point of a trade-off curve. No algorithm says that its score is one of these, so that nothing here is known of one.
"""

import math
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpaudit.accounting.curves.connected import connected, convex_corners
from dpaudit.accounting.run_counts import RunCount
from dpaudit.engines.gaussian import total_mu
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss, GaussianLoss, LaplaceLoss

Floats: TypeAlias = NDArray[np.float64]
_CELLS, _REACH = 3000, 12.0  # of noise on a line: cells, and deviations beyond both answers
_FIRST, _SCORES = 40, 160  # scores of two rounds
_PLACES, _MOST = 1500, 500  # among outputs; outcomes of a table
_LIKELY, _SLIVER, _PIECES = 1e-3, 1e-12, 2000  # outputs that fresh coins split, and how
_OFF, _LOST = 1e-9, 1e-14  # relative and absolute: by which every point moves to its safe side
_CUTS = tuple(np.geomspace(1e-6, 0.5, 9).tolist())
_MOST_RATIO = 1e300
_MANY = 20.0  # runs on average, from which a Poisson number is concentrated
_LARGEST, _NEVER = 33.0, 1e-320  # an epsilon at which no event is told from `_LOST`; no probability


def best_attained(part: Composition, count: RunCount) -> DiscreteLoss:
    """Return the loss whose curve lies on or below what an event and a score of its own show at each x."""
    cells = _cells(part)
    assert cells is not None, "a part that is neither noise on a line nor one table"
    p, q = cells
    orders = ((p, q),) if np.allclose(p, q[::-1], rtol=1e-6, atol=0) else ((p, q), (q, p))
    return _curve(_hull(np.concatenate([_points(one, other, count) for one, other in orders])))


def _cells(part: Composition) -> tuple[Floats, Floats] | None:
    """Return the laws of a run in cells, by rising ratio; None of what is neither noise on a line nor one table."""
    if part.parts and all(isinstance(loss, GaussianLoss) for loss, _ in part.parts):
        mu = total_mu(part)[0]
        edges = np.linspace(-_REACH, mu + _REACH, _CELLS)
        return _between(ndtr(edges - mu), ndtr(mu - edges)), _between(ndtr(edges), ndtr(-edges))
    if part.events != 1:
        return None
    ((loss, _),) = part.parts
    if isinstance(loss, LaplaceLoss):
        edges = np.linspace(0.0, loss.shift, _CELLS)
        return _between(*_laplace(edges - loss.shift)), _between(*_laplace(edges))
    if isinstance(loss, ApproximateLoss):
        told, p = loss.delta, (1 - loss.delta) / (1 + math.exp(-loss.epsilon))
        one = np.array([0.0, (1 - told) - p, p, told])
        return one, one[::-1].copy()
    if not isinstance(loss, DiscreteLoss) or len(loss.atoms) > _MOST:
        return None
    values, masses = np.array(loss.atoms).T.reshape(2, -1)
    under = np.append(loss.reverse_infinite_mass, masses * np.exp(-values))
    return np.append(np.append(0.0, masses), loss.infinite_mass), np.append(under, 0.0)


def _laplace(x: Floats) -> tuple[Floats, Floats]:
    """Return the Laplace probabilities below and above each place."""
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail), np.where(x < 0, 1 - tail, tail)


def _between(below: Floats, above: Floats) -> Floats:
    """Return the masses of the cells between places, each from its nearer tail, with both ends."""
    inner = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    return np.concatenate([[below[0]], inner, [above[-1]]])


def _split(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the laws where fresh coins split every likely output into pieces, a small one first."""
    often = np.maximum(p, q) > _LIKELY
    pieces = np.diff(np.append(0.0, np.geomspace(_SLIVER, 1.0, min(200, max(8, _PIECES // max(1, int(often.sum())))))))
    shares = [pieces if likely else np.ones(1) for likely in often]
    one, other = (np.concatenate([m * share for m, share in zip(law, shares, strict=True)]) for law in (p, q))
    return one, other


def _points(p: Floats, q: Floats, count: RunCount) -> Floats:
    """Return a point (probability under Q, rounded up, and under P, rounded down) for each of several x."""
    scores = _Scores(*_split(p, q), count)
    epsilons = np.linspace(0.0, _LARGEST, _FIRST)
    coarse = scores.points(epsilons)
    told = np.flatnonzero(coarse[:, 1] > np.exp(epsilons) * coarse[:, 0])
    end = epsilons[min(_FIRST - 1, int(told[-1]) + 1)] if len(told) else epsilons[1]
    found = [coarse, scores.points(np.linspace(0.0, float(end), _SCORES))]
    return np.concatenate(
        [*found, scores.points_by_cuts(epsilons[: _FIRST // 2 : 3])] if count.runs or count.mean > _MANY else found
    )


class _Scores:
    """The laws of one run, by rising ratio, and the places that the bound from above weighs its outputs by."""

    def __init__(self, p: Floats, q: Floats, count: RunCount) -> None:
        with np.errstate(divide="ignore"):
            ratios = np.where(p > 0, q / np.maximum(p, _NEVER), np.inf)
        order = np.argsort(-ratios, kind="stable")
        self.p, self.q, self.ratios, self.count = p[order], q[order], ratios[order], count
        above, below = count.places(_PLACES)
        theirs, rest = (np.interp(at, *knots) for at, knots in zip((above, below), self._corners(), strict=True))
        gains, costs = np.exp(count.log_slope(above, below)), np.exp(count.log_slope(theirs, rest))
        kept = len(costs) - 1 - np.array(convex_corners(costs[::-1], -gains[::-1]))
        self.places, self.gains, self.costs = above[kept], gains[kept], costs[kept]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.turns = np.nan_to_num(np.diff(self.gains) / np.diff(self.costs), nan=np.inf)

    def _corners(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return what is above each place under P and Q, and what is below."""
        over = tuple(np.append(0.0, np.cumsum(law)) for law in (self.p, self.q))
        under = tuple(np.append(0.0, np.cumsum(law[::-1])) for law in (self.p, self.q))
        return (over[0], over[1]), (under[0], under[1])

    def points(self, epsilons: Floats) -> Floats:
        """Return a point for each epsilon."""
        found, own = [], np.append(0.0, np.cumsum(self.p)[:-1])
        for x in np.exp(epsilons):
            weights = np.minimum(x * self.ratios, _MOST_RATIO)
            best = np.searchsorted(-self.turns, -weights, side="left")
            positive = self.gains[best] > weights * self.costs[best]
            keys = np.where(positive, self.places[best], own)
            found.append(_event(self.p, self.q, keys, float(x), self.count))
        return np.array(found)

    def points_by_cuts(self, epsilons: Floats) -> Floats:
        """Return points of scores with the lowest ratios on top, the highest just below, and the rest at the bottom."""
        own, rest = np.cumsum(self.p), np.cumsum(self.p[::-1])[::-1]
        found = []
        for top, next_ in product(_CUTS, _CUTS):
            keys = np.where(own <= top, own, np.where(rest <= next_, top, 1.0 + own))
            found += [_event(self.p, self.q, keys, float(x), self.count) for x in np.exp(epsilons)]
        return np.array(found)


def _event(p: Floats, q: Floats, keys: Floats, x: float, count: RunCount) -> tuple[float, float]:
    """Return the probabilities of the event that is best at x, of the best run where `keys` order outputs."""
    order = np.argsort(keys, kind="stable")
    one, other = (_law(law[order], count) for law in (p, q))
    event = one > x * other
    missed, seen = float(other[event].sum()), float(one[event].sum())
    return min(1.0, missed * (1 + _OFF) + _LOST), max(0.0, seen * (1 - _OFF) - _LOST)


def _reached(count: RunCount, above: Floats, below: Floats) -> Floats:
    """Return f(1 - above), the probability that the best score is below a place."""
    if count.runs:
        return np.asarray(below**count.runs)
    if count.mean:
        return np.asarray(np.exp(-count.mean * above))
    logs, whole = -np.log(count.gamma + (1 - count.gamma) * above), -math.log(count.gamma)
    if not count.eta:
        return np.asarray(logs / whole)
    shares = np.expm1(-count.eta * logs) / math.expm1(-count.eta * whole)
    return np.asarray(np.exp(count.eta * (logs - whole)) * shares)


def _law(masses: Floats, count: RunCount) -> Floats:
    """Return the law of the best run, the best output first."""
    above = np.minimum(1.0, np.append(0.0, np.cumsum(masses)))
    below = np.minimum(1.0, np.append(np.cumsum(masses[::-1])[::-1], 0.0))
    return np.maximum(0.0, -np.diff(_reached(count, above, below)))


def _hull(points: Floats) -> Floats:
    """Return the corners of the trade-off curve above all points, from nothing on."""
    points = np.concatenate([[(0.0, 0.0)], points[points[:, 1] > points[:, 0]]])
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    return np.asarray(points[convex_corners(points[:, 0], -points[:, 1])])


def _curve(corners: Floats) -> DiscreteLoss:
    """Return the symmetric loss of the lines P(S) - x Q(S) of all events."""
    missed, seen = corners[1:].T
    turns = np.append(seen[0] / missed[0], np.diff(seen) / np.diff(missed))[::-1]  # rising, as the curve is concave
    keep = turns > 1
    x = np.append(1.0, turns[keep])
    heights = (seen - np.multiply.outer(x, missed)).max(axis=1, initial=0.0)
    heights[-1] = 0.0
    return connected(x, heights * (1 - _OFF))
