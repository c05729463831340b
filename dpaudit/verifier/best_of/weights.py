"""What the best of many runs makes of one output.

f is the generating function of the number of runs. An output of ratio l counts by the largest f'(1 - a) l - x
f'(1 - B(a)) over a, where B(a) is the most that Q has on a set to which P gives a. That is taken over cells of a, with
either slope at the end that makes the bound larger. The proof is in docs/theory/selection.md.
"""

import numpy as np

from dpaudit.verifier.best_of.runs import Places, Runs
from dpaudit.verifier.polygons import UP, hull
from dpaudit.verifier.shifts import Array

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
        kept = hull(list(zip(cost[::-1].tolist(), (-gain[::-1]).tolist(), strict=True)))
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
