"""What the best of many runs makes of one output, and symmetric pairs through knots of a curve.

f is the generating function of the number of runs. An output of ratio l counts by the largest f'(1 - a) l - x
f'(1 - B(a)) over a, where B(a) is the most that Q has on a set to which P gives a. That is taken over cells of a, with
either slope at the end that makes the bound larger. The proof is in docs/theory/selection.md.
"""

import math

import numpy as np

from dpaudit.verifier.best_of.runs import Places, Runs
from dpaudit.verifier.losses import Loss, discrete
from dpaudit.verifier.shifts import Array

UP = 2e-10  # relative; more than rounding makes of slopes and sums
_LARGEST = 600.0


class Weights:
    """By the ratio r = x / l the largest f'(1 - a) - r f'(1 - B(a)) over places a: lines, of which corners stay."""

    def __init__(self, values: Array, p: Array, q: Array, lost: float, runs: Runs) -> None:
        self.values, self.p = values, p
        one, two = both(p, 0.0, lost), both(q, lost, 0.0)
        grid = runs.places()
        a = [np.concatenate([*rows]) for rows in zip(one, grid, _read(grid, two, one), strict=True)]
        b = [np.concatenate([*rows]) for rows in zip(two, _read(grid, one, two), grid, strict=True)]
        order = np.lexsort((-a[1], a[0]))
        (over, under), (others, rest) = ([row[order] for row in side] for side in (a, b))
        gain = np.exp(runs.log_slope((over * (1 - UP), np.minimum(1.0, under * (1 + UP)))))
        cost = np.exp(runs.log_slope((np.minimum(1.0, others * (1 + UP)), rest * (1 - UP))))
        cost = np.minimum.accumulate(np.append(cost[1:], cost[-1]))
        if runs.runs:
            cost[others >= 1] = 0.0
        kept = hull(cost[::-1], -gain[::-1])
        self.gain, self.cost, self.over = gain[::-1][kept] * (1 + UP), cost[::-1][kept], over[::-1][kept]
        self.turns = np.append(np.diff(self.gain) / np.maximum(np.diff(self.cost), 1e-300), 0.0)
        self.lost = lost * float(self.gain[-1])

    def best(self, ratios: Array) -> tuple[Array, Array]:
        """Return the largest value and its line."""
        line = np.minimum(np.searchsorted(-self.turns, -ratios), len(self.gain) - 1)
        return np.maximum(0.0, self.gain[line] - ratios * self.cost[line]), line

    def heights(self, epsilons: Array) -> Array:
        """Return upper bounds on the curve of the best run."""
        rows = [float(self.best(np.exp(np.minimum(e - self.values, _LARGEST)))[0] @ self.p) for e in epsilons]
        return np.minimum(1.0, np.array(rows) * (1 + UP) + self.lost)


def both(masses: Array, start: float, end: float) -> Places:
    """Return what lies above and below each end of cells, the lowest ratios being on top."""
    over, under = start + np.cumsum(masses), end + np.cumsum(masses[::-1])
    return np.minimum([start, *over, 1.0], 1.0), np.minimum([*under[::-1], end, 0.0], 1.0)


def _read(at: Places, from_: Places, to: Places) -> Places:
    """Return the places of one law that stand at those of the other one, by lines between ends of cells."""
    return np.interp(at[0], from_[0], to[0]), np.interp(at[1], from_[1][::-1], to[1][::-1])


def symmetric(knots: Array, heights: list[float]) -> tuple[Array, Array, float]:
    """Return the losses and masses, and what is lost, of the symmetric pair whose curve has these heights at knots."""
    raised = 1 + UP + 1e-15 / float(np.diff(knots).min())
    x, h = np.exp(knots), np.minimum(1.0, np.array(heights) * raised)
    x, h = np.concatenate([1 / x[:0:-1], x]), np.concatenate([1 - (1 - h[:0:-1]) / x[:0:-1], h])
    kept = hull(np.append(0.0, x), np.append(1.0, h))[1:] - 1
    kept = kept[kept >= 0]
    x, h, values = x[kept], h[kept], np.concatenate([-knots[:0:-1], knots])[kept]
    slopes = np.append(np.diff(h) / np.diff(x), 0.0)
    over = values > 0
    masses = np.maximum(0.0, np.diff(slopes, prepend=-1.0))[over]
    values, p = values[over], masses * x[over]
    whole = max(1.0, float(h[-1]) + math.fsum([*p, *masses]))
    rest = max(0.0, 1 - (float(h[-1]) + math.fsum([*p, *masses])) / whole)
    losses = np.concatenate([-values[::-1], [0.0], values])
    return losses, np.concatenate([masses[::-1] / whole, [rest], p / whole]), float(h[-1])


def hull(x: Array, y: Array) -> Array:
    """Return which points are corners of the largest convex curve below them, x growing."""
    kept: list[int] = []
    ends: list[tuple[float, float]] = []
    for i, (at, height) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        while len(kept) > 1:
            (x0, y0), (x1, y1) = ends[-2:]
            if (y1 - y0) * (at - x1) < (height - y1) * (x1 - x0):
                break
            kept.pop()
            ends.pop()
        kept.append(i)
        ends.append((at, height))
    return np.array(kept)


def listed(values: Array, masses: Array, lost: float) -> Loss:
    """Return a symmetric loss by its values."""
    return discrete(list(zip(values.tolist(), masses.tolist(), strict=True)), lost, lost)
