"""The laws of the outputs on two neighbours, cell by cell: their true epsilon, and the bound of the best event."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audits.bounds.bisection import bisected
from audits.bounds.guessing import guessing_epsilon
from dpaudit.model.mechanism import Array

_NOTHING = 1e-13
_CUTS = 120
_LARGEST = 60.0
_MOST = 50.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """Probabilities of the same cells under both neighbours; `outcomes` names the cells of a discrete output.

    Shape: `first` and `second` are (cells,), `outcomes` (cells, columns).
    """

    first: Array
    second: Array
    outcomes: Array | None = None

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            total = float(getattr(self, name).sum())
            if not abs(total - 1) < 1e-6:
                raise ValueError(f"Expected {name} to sum to 1, got {total!r}; the cells leave something out.")

    def epsilon(self, delta: float = 0.0) -> float:
        """Return the smallest epsilon at `delta`, both ways; cells below 1e-13 under both neighbours are left out."""
        return max(_one_way(self.first, self.second, delta), _one_way(self.second, self.first, delta))

    def best_bound(self, runs: int, delta: float, significance: float) -> tuple[float, float]:
        """Return the bound that the best pair of tails gives at its expected counts, and its standard error.

        An oracle: the law is known, no run is spent on learning, and counts equal their means.
        """
        used = np.flatnonzero(self.first + self.second > 0)
        order = used[np.argsort(self.ratios()[used], kind="stable")]
        up = np.concatenate([[0.0], np.cumsum(self.second[order][::-1])]) / 2
        up_wrong = np.concatenate([[0.0], np.cumsum(self.first[order][::-1])]) / 2
        down = np.concatenate([[0.0], np.cumsum(self.first[order])]) / 2
        down_wrong = np.concatenate([[0.0], np.cumsum(self.second[order])]) / 2
        size = len(order)
        places = np.unique(np.concatenate([_tails(size), size - _tails(size)]))
        highs, lows = places[:, None], places[None, :]
        right = up[highs] + down[lows]
        guesses = right + up_wrong[highs] + down_wrong[lows]
        allowed = (highs + lows <= size) & (guesses > 0)
        bounds = np.where(allowed, guessing_epsilon(right * runs, guesses * runs, runs, delta, significance), 0.0)
        best = np.unravel_index(int(np.argmax(bounds)), bounds.shape)
        share = min(float(right[best] / max(guesses[best], 1e-300)), 1 - 1e-12)
        error = 1 / math.sqrt(max(float(guesses[best]) * runs * share * (1 - share), 0.25))
        return float(bounds[best]), error

    def ratios(self) -> Array:
        """Return the log odds of the second neighbour in each cell, kept within 60."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(self.second) - np.log(self.first)
        return np.clip(np.nan_to_num(ratio, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)


def binned(first: Callable[[Array], Array], second: Callable[[Array], Array], edges: Array) -> Law:
    """Return the law of a number whose distribution functions are `first` and `second`, cut at `edges`."""
    cuts = [np.concatenate([[0.0], distribution(edges), [1.0]]) for distribution in (first, second)]
    return Law(first=np.diff(cuts[0]), second=np.diff(cuts[1]))


def laplace_cdf(mean: float, scale: float) -> Callable[[Array], Array]:
    """Return the distribution function of Laplace noise around `mean`."""

    def distribution(x: Array) -> Array:
        tail = np.exp(-np.abs(x - mean) / scale) / 2
        return np.where(x < mean, tail, 1 - tail)

    return distribution


def laplace_law(shift: float, scale: float) -> Law:
    """Return the law of Laplace noise around 0 and around `shift`; both kinks are edges of cells."""
    edges = np.concatenate([np.linspace(-8 * scale, 0, 80, endpoint=False), np.linspace(0, shift, 400)])
    edges = np.concatenate([edges, shift + np.linspace(0, 8 * scale, 81)[1:]])
    return binned(laplace_cdf(0.0, scale), laplace_cdf(shift, scale), edges)


def repeated(law: Law, times: int, width: float = 1e-3) -> Law:
    """Return the law of the summed log odds of `times` independent copies, rounded to `width` a copy.

    What is rounded is a function of the outputs, so the epsilon of the result is at most the truth.
    """
    places = np.round(law.ratios() / width).astype(int)
    low = int(places.min())
    single = [np.bincount(places - low, weights) for weights in (law.first, law.second)]
    sums = [np.ones(1), np.ones(1)]
    for _ in range(times):
        sums = [np.convolve(total, part) for total, part in zip(sums, single, strict=True)]
    return Law(first=sums[0], second=sums[1])


def _one_way(above: Array, below: Array, delta: float) -> float:
    """Return the smallest epsilon >= 0 with sum (above - e^epsilon below)_+ <= delta."""
    if delta == 0.0:
        used = above > _NOTHING
        if bool((below[used] == 0).any()):
            return math.inf
        return max(0.0, float(np.log(above[used] / below[used]).max()))

    def exceeds(epsilon: float) -> bool:
        return float(np.maximum(above - math.exp(epsilon) * below, 0).sum()) > delta

    return math.inf if exceeds(_MOST) else bisected(exceeds, 0.0, _MOST, 80)[1]


def _tails(size: int) -> Array:
    """Return places to cut `size` sorted cells, all of them where there are few."""
    even = np.linspace(0, size, min(size, _CUTS) + 1).astype(int)
    return np.unique(np.concatenate([np.arange(min(size, _CUTS // 3) + 1), even]))
