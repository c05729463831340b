"""Lower bounds on Renyi divergences from several cells of a score, by the variational formula of Donsker and Varadhan.

For every function g, R_a(P|Q) >= a / (a - 1) ln E_P e^{(a - 1) g} - ln E_Q e^{a g}. A quarter of the scores teaches g,
the log ratio of cells; the other scores bound both means by bets of fixed size, which depend on counts of cells alone.
Source: Birrell, Dupuis, Katsoulakis, Rey-Bellet and Wang (2021), Theorem 3.1; Waudby-Smith and Ramdas (2024).
"""

import math

import numpy as np

from audits.bounds.bisection import largest_refuted
from dpaudit.checks import open_probability
from dpaudit.model.mechanism import Array

_TAUGHT = 0.25
_FEW, _FEW_CELLS, _CELLS = 2_000, 4, 16
_MOST_BET = 0.9
_STEPS = 60
_ROUNDING = 1e-9


def cells_renyi(ins: Array, outs: Array, order: float, significance: float, rng: np.random.Generator) -> float:
    """Return a lower bound on the Renyi divergence of `order` between the laws of two samples of scores, or 0.

    Shape: (n1,), (n0,). The quarter that teaches also chooses the order of the two data sets.
    Guarantee: wrong with probability at most `significance` for independent scores of any law, for an order that was
    fixed before; several orders need a part of the significance each. A negative estimate is reported as 0.
    Edge cases: 0 for fewer than 8 scores on a side. Equal scores share a cell.
    Raises: ValueError: an order of 1 or less, or `significance` outside (0, 1).

    >>> rng = np.random.default_rng(0)
    >>> 0.7 < cells_renyi(rng.normal(1, 1, 20_000), rng.normal(0, 1, 20_000), 2.0, 0.01, rng) < 1.0
    True
    """
    open_probability("significance", significance)
    if not 1 < order < math.inf:
        raise ValueError(f"Expected order={order!r} to be finite and above 1.")
    if min(len(ins), len(outs)) < 2 / _TAUGHT:
        return 0.0
    (taught_in, counted_in), (taught_out, counted_out) = (_parted(np.asarray(x, float), rng) for x in (ins, outs))
    edges = _edges(np.concatenate([taught_in, taught_out]), min(len(counted_in), len(counted_out)))
    lessons = _in_cells(taught_in, edges), _in_cells(taught_out, edges)
    counts = _in_cells(counted_in, edges), _in_cells(counted_out, edges)
    forward, backward = (_expected(a, b, order) for a, b in (lessons, lessons[::-1]))
    if backward > forward:
        lessons, counts = (lessons[1], lessons[0]), (counts[1], counts[0])
    return max(0.0, _bound(lessons, counts, order, significance) - _ROUNDING)


def _bound(lessons: tuple[Array, Array], counts: tuple[Array, Array], order: float, significance: float) -> float:
    """Return the formula's value at limits of both means, each at half the significance."""
    ratio = _log_ratio(*lessons)
    upper = np.exp((order - 1) * ratio), lessons[0], counts[0]
    lower = np.exp(order * ratio), lessons[1], counts[1]
    first = _mean_limit(*upper, significance / 2)
    second = -_mean_limit(-lower[0], lower[1], lower[2], significance / 2)
    if first <= 0:
        return 0.0
    return order / (order - 1) * math.log(first) - math.log(second)


def _mean_limit(values: Array, lesson: Array, counts: Array, significance: float) -> float:
    """Return a lower limit of the mean of a variable with `values` in cells, from `counts` of each.

    The wealth prod (1 + bet (x - m)) has mean at most 1 for every mean up to m, for a bet that other runs chose.
    """
    least, width = float(values.min()), float(np.ptp(values))
    if width == 0:
        return least
    x, runs = (values - least) / width, int(counts.sum())
    weights = (lesson + 0.5) / (lesson + 0.5).sum()
    variance = float((weights * x**2).sum() - (weights * x).sum() ** 2)
    bet = min(_MOST_BET, math.sqrt(2 * math.log(1 / significance) / (runs * max(variance, 1e-12))))

    def rejected(mean: float) -> bool:
        return float((counts * np.log1p(bet * (x - mean))).sum()) >= -math.log(significance)

    return least + width * largest_refuted(rejected, 1.0, _STEPS)


def _expected(first: Array, second: Array, order: float) -> float:
    """Return the divergence of the taught cells, smoothed."""
    p, q = _shares(first), _shares(second)
    return float(np.log((p**order * q ** (1 - order)).sum()) / (order - 1))


def _log_ratio(first: Array, second: Array) -> Array:
    """Return the log ratio of the taught cells, smoothed by half a count each."""
    return np.log(_shares(first)) - np.log(_shares(second))


def _shares(counts: Array) -> Array:
    """Return the shares of cells with half a count more each."""
    return (counts + 0.5) / (counts.sum() + 0.5 * len(counts))


def _parted(sample: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a random quarter of a sample and the rest."""
    shuffled = rng.permutation(sample)
    size = int(_TAUGHT * len(sample))
    return shuffled[:size], shuffled[size:]


def _edges(pooled: Array, counted: int) -> Array:
    """Return the edges between cells, quantiles of the pooled scores that teach."""
    cells = _FEW_CELLS if counted < _FEW else _CELLS
    return np.unique(np.quantile(pooled, np.arange(1, cells) / cells, method="inverted_cdf"))


def _in_cells(sample: Array, edges: Array) -> Array:
    """Return how many scores lie in each cell."""
    return np.bincount(np.searchsorted(edges, sample, side="left"), minlength=len(edges) + 1).astype(float)
