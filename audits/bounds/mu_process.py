"""The largest mu that runs refute at any time: for each mu of a grid an e-process over cells of the score.

Earlier scores cut the line into cells of equal shares. For an alternative with a larger mu the nearest law of (label,
cell) that mu allows has the e-value of largest growth: a fit of ordinal cells with a known shift, which is convex. The
alternatives are mixed, so nothing is learned but the cells.
Source: Gruenwald, de Heide and Koolen (2024), Theorem 1, with the largest mean over the region in closed form.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpaudit.checks import open_probability
from dpaudit.model.mechanism import Array

GRID = np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1.0, 5.0, 281)[1:]])
"""The mu that are tested; a bound is one of them."""

CELLS = 12
"""How many cells of equal shares earlier scores make."""

_SHARES = np.arange(CELLS - 1, 0, -1) / CELLS
_GAPS = np.geomspace(0.01, 2.0, 12)
_FIRST, _GROWTH = 16, 0.25
_NEWTON, _HALVINGS, _LONGEST_STEP = 6, 40, 0.5
_FARTHEST = 12.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MuProcess:
    """Wealth against each mu of `GRID`, now and at its maximum; `extended` adds runs.

    Guarantee: for a pair of laws within the trade-off of mu, in either order, `lower` ever exceeds mu with probability
    at most its significance, at every stopping time, if labels are fair coins and each score is computed from earlier
    runs. The bound is valid for scores of any law; it is sharpest for Gaussian ones.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2_000) < 0.5
    >>> round(MuProcess.fresh().extended(rng.normal(labels), labels).lower(0.01), 2)
    0.87
    """

    wealth: Array = field(repr=False)
    best: Array = field(repr=False)
    scores: Array = field(repr=False)

    @classmethod
    def fresh(cls) -> "MuProcess":
        """Return a process without runs: wealth 1 against every mu, in equal parts for each alternative."""
        start = np.full((len(GRID), len(_GAPS)), -math.log(len(_GAPS)))
        return cls(wealth=start, best=np.zeros(len(GRID)), scores=np.zeros(0))

    def extended(self, scores: Array, labels: Array) -> "MuProcess":
        """Return the process after further runs, in their order.

        Shape: `scores` (larger where the record is more likely in) and `labels` (true where it was in) are (runs,).
        """
        state, start = self, 0
        values, second = np.asarray(scores, dtype=float), np.asarray(labels, dtype=bool)
        while start < len(values):
            end = min(len(values), start + max(_FIRST, int(_GROWTH * len(state.scores))))
            state = state._after(values[start:end], second[start:end])
            start = end
        return state

    def lower(self, significance: float) -> float:
        """Return the largest mu of the grid that is refuted together with every smaller one, or 0."""
        open_probability("significance", significance)
        surviving = np.flatnonzero(self.best < -math.log(significance))
        refuted = int(surviving[0]) if len(surviving) else len(GRID)
        return float(GRID[refuted - 1]) if refuted else 0.0

    def _after(self, scores: Array, labels: Array) -> "MuProcess":
        """Return the process after one block; the scores before it make the cells."""
        seen = np.concatenate([self.scores, scores])
        if not len(self.scores):
            return MuProcess(wealth=self.wealth, best=self.best, scores=seen)
        cuts = np.quantile(self.scores, np.arange(1, CELLS) / CELLS)
        cell = np.searchsorted(cuts, scores, side="left")
        counts = np.bincount(2 * cell + labels, minlength=2 * CELLS)
        wealth = self.wealth + log_e_values() @ counts
        best = np.maximum(self.best, np.logaddexp.reduce(wealth, axis=1))
        return MuProcess(wealth=wealth, best=best, scores=seen)


@lru_cache(maxsize=1)
def log_e_values() -> Array:
    """Return the logarithms of the e-values. Shape: (mu, alternatives, 2 * cells), without and with the record."""
    mu = GRID[:, None] * np.ones(len(_GAPS))
    false, true = _cells(_pooled_cuts(mu + _GAPS), mu + _GAPS)
    near_false, near_true = _cells(_nearest_cuts(false, true, mu), mu)
    falling = np.maximum.accumulate((false / near_false)[..., ::-1], axis=-1)[..., ::-1]
    rising = np.maximum.accumulate(true / near_true, axis=-1)
    mean = np.maximum(1.0, _largest_mean(falling, rising, mu))[..., None]
    values = np.stack([falling / mean, rising / mean], axis=-1)
    return np.log(values.reshape(*mu.shape, 2 * CELLS))


def _largest_mean(falling: Array, rising: Array, mu: Array) -> Array:
    """Return the largest mean of e-values over all laws that mu allows.

    The values without the record fall over the cells, those with it rise. Summed by parts, the mean is a sum over cuts
    of (rise) * (true positive rate) - (fall) * (false positive rate), and each term has its maximum on the curve.
    """
    rises, falls = np.maximum(np.diff(rising), 1e-15), -np.diff(falling)
    slope, shift = falls / rises, mu[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = (-np.log(slope) - shift**2 / 2) / shift
        support = np.where(shift > 0, ndtr(quantile + shift) - slope * ndtr(quantile), np.maximum(0.0, 1 - slope))
    return (falling[..., 0] + rising[..., 0] + (rises * support).sum(axis=-1)) / 2


def _nearest_cuts(false: Array, true: Array, mu: Array) -> Array:
    """Return the cuts whose cells under N(0, 1) and N(mu, 1) are nearest in relative entropy; Newton's method.

    Shape: `false`, `true` and the result (mu, alternatives, cells or cuts); `mu` is the same for all alternatives.
    """
    start = _pooled_cuts(mu[:, :1])
    cuts, index = np.broadcast_to(start, (*mu.shape, CELLS - 1)).copy(), np.arange(CELLS - 1)
    for _ in range(_NEWTON):
        gradient, curvature = np.zeros(cuts.shape), np.zeros((*cuts.shape, CELLS - 1))
        for predicted, shift in ((false, 0.0), (true, mu[..., None])):
            density = np.exp(-((cuts - shift) ** 2) / 2) / math.sqrt(2 * math.pi)
            near = _shifted_cells(cuts, shift)
            step, ratio = np.diff(predicted / near), predicted / near**2
            gradient += density * step
            beside = -density[..., :-1] * density[..., 1:] * ratio[..., 1:-1]
            curvature[..., index, index] += density**2 * (ratio[..., 1:] + ratio[..., :-1])
            curvature[..., index, index] -= (cuts - shift) * density * step
            curvature[..., index[:-1], index[1:]] += beside
            curvature[..., index[1:], index[:-1]] += beside
        move = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        cuts = np.sort(cuts - np.clip(move, -_LONGEST_STEP, _LONGEST_STEP), axis=-1)
    return cuts


def _pooled_cuts(mu: Array) -> Array:
    """Return the cuts above which N(0, 1) and N(mu, 1), mixed equally, have the shares of the cells."""
    shift = mu[..., None]
    low, high = np.full((*mu.shape, CELLS - 1), -_FARTHEST), np.full((*mu.shape, CELLS - 1), _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = (ndtr(-middle) + ndtr(shift - middle)) / 2 > _SHARES
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


def _cells(cuts: Array, mu: Array) -> tuple[Array, Array]:
    """Return the probabilities of the cells under N(0, 1) and under N(mu, 1)."""
    return _shifted_cells(cuts, 0.0), _shifted_cells(cuts, mu[..., None])


def _shifted_cells(cuts: Array, shift: Array | float) -> Array:
    """Return the probabilities of the cells between cuts under N(shift, 1), from the lowest cell."""
    tails = ndtr(shift - cuts)
    ends = np.ones((*tails.shape[:-1], 1))
    cells: Array = -np.diff(np.concatenate([ends, tails, 0 * ends], axis=-1), axis=-1)
    return np.maximum(cells, 1e-300)
