"""What the best of many runs makes of one output: the function G(r), the largest of f'(1 - a) - r f'(1 - B(a)) and 0.

B is the largest Q(S) among all S with P(S) <= a. In each cell between two places the first slope is read at the end
where it is larger, and the second one where it is smaller, so that G is nowhere below the supremum.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.accounting.curves.connected import convex_corners
from dpaudit.accounting.run_counts import RunCount
from dpaudit.model.losses import DiscreteLoss

Floats: TypeAlias = NDArray[np.float64]
_PLACES = 20_000
_OUTWARDS = 1e-12  # relative; more than rounding makes of slopes and of sums of positive terms
_FARTHEST, _STEPS, _LEFT = 600.0, 200, 1e-36


class WeighedScores:
    """G of one run's symmetric pair, as the largest of many lines, and what follows for the best run."""

    def __init__(self, once: DiscreteLoss, count: RunCount) -> None:
        self.losses, self.masses = np.array(once.atoms).T
        self.certain = once.infinite_mass * count.expected
        gains, costs = _lines(self.losses, self.masses, once.infinite_mass, count)
        corners = convex_corners(costs, -gains)
        self.gains, self.costs = gains[corners], costs[corners]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.turns = np.nan_to_num(np.diff(self.gains) / np.diff(self.costs), nan=np.inf)

    def heights(self, epsilons: Floats) -> Floats:
        """Return an upper bound on the curve of the best run at each epsilon of 0 or more."""
        ratios = np.exp(np.minimum(epsilons[:, None] - self.losses, _FARTHEST))
        best = np.searchsorted(-self.turns, -ratios, side="left")
        above = np.maximum(0.0, self.gains[best] - ratios * self.costs[best])
        found: Floats = (above @ self.masses + self.certain) * (1 + _OUTWARDS)
        return np.minimum(1.0, found)

    def end(self, furthest: float) -> float:
        """Return an epsilon at which nothing is left but what is certain, or next to nothing; beyond `furthest`."""
        epsilons = furthest + np.linspace(0.0, _FARTHEST - furthest, _STEPS)
        left = np.flatnonzero(self.heights(epsilons) <= self.certain * (1 + 2 * _OUTWARDS) + _LEFT)
        return float(epsilons[left[0]] if len(left) else epsilons[-1])


def _lines(losses: Floats, masses: Floats, lost: float, count: RunCount) -> tuple[Floats, Floats]:
    """Return f'(1 - a) at one end of each cell of a, and f'(1 - B(a)) at its other end, by increasing cost."""
    first = _corners(masses, 0.0, lost)
    second = _corners(masses * np.exp(-losses), lost, 0.0)
    grid = count.places(_PLACES)
    a = np.concatenate([first, grid, _moved(grid, second, first)], axis=1)
    b = np.concatenate([second, _moved(grid, first, second), grid], axis=1)
    order = np.lexsort((-a[1], a[0]))
    a, b = a[:, order], b[:, order]
    gains = np.exp(count.log_slope(a[0] * (1 - _OUTWARDS), np.minimum(1.0, a[1] * (1 + _OUTWARDS))))
    costs = np.exp(count.log_slope(np.minimum(1.0, b[0] * (1 + _OUTWARDS)), b[1] * (1 - _OUTWARDS)))
    costs = np.minimum.accumulate(np.append(costs[1:], costs[-1]))
    return gains[::-1] * (1 + _OUTWARDS), costs[::-1] * (1 - _OUTWARDS)


def _corners(masses: Floats, start: float, end: float) -> Floats:
    """Return what is above and what is below each place, the lowest ratios being on top."""
    above = start + np.append(0.0, np.cumsum(masses))
    below = end + np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    return np.array([np.append(np.minimum(above, 1.0), 1.0), np.append(np.minimum(below, 1.0), 0.0)])


def _moved(places: tuple[Floats, Floats], from_: Floats, to: Floats) -> Floats:
    """Return the places of one law among the scores of the other one, by lines between corners."""
    above, below = places
    return np.array([np.interp(above, from_[0], to[0]), np.interp(below, from_[1][::-1], to[1][::-1])])
