"""A learned score for few runs: two thresholds on one column, averaged over columns and thresholds.

Two thresholds cut one column into three intervals. Either each interval has odds of its own with a Beta posterior, or
the outer intervals have opposite odds and the middle one has odds 0. The score is the posterior average: each model is
weighted by the likelihood of the labels. Saturated tails, one threshold and a middle interval are special cases.
`learn_violation` assumes that a claim is false: its models are the mirrored ones, with outer odds above the claim. A
bet against a claim gains only if that is so, and this prior leaves out smaller odds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np
from scipy.special import betainc, betaln, expit, logsumexp

from audits.attacks.discriminant import Discriminant
from audits.attacks.table import Table
from dpaudit.model.mechanism import Array

_CUTS = 9
_COLUMNS = 12
_PRIOR = 0.6
_SYMMETRIC = 3.0

Modelling: TypeAlias = Callable[[Array, Array, float], tuple[tuple[Array, float], ...]]
"""From runs of the second and the first neighbour in each interval, and a prior log weight: (shares, log evidence)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThresholdOdds:
    """Posterior log odds of the second neighbour; a model is (column, low, high, share in each interval)."""

    table: Table
    discriminant: Discriminant
    models: tuple[tuple[int, float, float, Array], ...]
    weights: Array

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        columns = _columns(self.table.numbers(view), self.discriminant)
        share = np.zeros(len(columns))
        for (column, low, high, shares), weight in zip(self.models, self.weights, strict=True):
            share += weight * shares[_intervals(columns[:, column], low, high)]
        odds: Array = np.log(share) - np.log1p(-share)
        return odds


def learn_thresholds(view: Any, labels: Array, rng: np.random.Generator) -> ThresholdOdds:
    """Return posterior log odds learned from labelled runs. Deterministic: `rng` is not used.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(200) < 0.5
    >>> score = learn_thresholds(rng.normal(size=200) + 3 * labels, labels, rng)
    >>> low, high = score(np.array([-1.0, 4.0]))
    >>> bool(low < 0 < high)
    True
    """
    return _averaged(view, labels, _free_shares)


def learn_violation(view: Any, labels: Array, epsilon: float) -> ThresholdOdds:
    """Return posterior log odds as `learn_thresholds` does, given that those of the outer intervals exceed `epsilon`.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(20) < 0.5
    >>> score = learn_violation(rng.laplace(size=20) + 3 * labels, labels, 1.0)
    >>> bool(score(np.array([4.0]))[0] > 1.0)
    True
    """
    return _averaged(view, labels, partial(_shares_beyond, float(expit(epsilon))))


def _averaged(view: Any, labels: Array, models_of: Modelling) -> ThresholdOdds:
    """Return the average of the models of every pair of cuts, weighted by their evidence."""
    table = Table.learned(view)
    numbers = table.numbers(view)
    discriminant = Discriminant.learned(numbers, labels)
    columns = _columns(numbers, discriminant)
    models: list[tuple[int, float, float, Array]] = []
    evidence: list[float] = []
    for column in range(columns.shape[1]):
        for low, high, prior in _cuts(columns[:, column]):
            intervals = _intervals(columns[:, column], low, high)
            second = np.bincount(intervals[labels], minlength=4)
            first = np.bincount(intervals[~labels], minlength=4)
            for shares, support in models_of(second, first, prior):
                models.append((column, low, high, shares))
                evidence.append(support)
    weights = np.exp(np.array(evidence) - logsumexp(evidence))
    relevant = np.flatnonzero(weights > 1e-4 * weights.max())
    return ThresholdOdds(
        table=table,
        discriminant=discriminant,
        models=tuple(models[i] for i in relevant),
        weights=weights[relevant] / weights[relevant].sum(),
    )


def _free_shares(second: Array, first: Array, prior: float) -> tuple[tuple[Array, float], ...]:
    """Return (shares of the second neighbour, log evidence) of two models: free shares, and mirrored ones."""
    right, wrong = second[2] + first[0], second[0] + first[2]
    share = (right + _PRIOR) / (right + wrong + 2 * _PRIOR)
    undecided = (second + first).sum() - right - wrong
    return (
        ((second + _PRIOR) / (first + second + 2 * _PRIOR), _evidence(second, first)),
        (_mirrored(share), _evidence(right, wrong) - undecided * float(np.log(2)) + prior),
    )


def _shares_beyond(least: float, second: Array, first: Array, prior: float) -> tuple[tuple[Array, float], ...]:
    """Return the same of both mirrored models, with the share of right guesses uniform above `least`."""
    right, wrong = second[2] + first[0], second[0] + first[2]
    undecided = float((second + first).sum() - right - wrong) * float(np.log(2))
    models = []
    for good, bad, turned in ((right, wrong, False), (wrong, right, True)):
        whole = _log_beta_above(least, good + 1, bad + 1)
        share = max(least, float(np.exp(_log_beta_above(least, good + 2, bad + 1) - whole)))
        models.append((_mirrored(1 - share if turned else share), whole - undecided + prior))
    return tuple(models)


def _mirrored(share: float) -> Array:
    """Return the shares of four intervals: the outer two mirror each other; the middle one and NaN have odds 0."""
    return np.array([1 - share, 0.5, share, 0.5])


def _log_beta_above(least: float, a: float, b: float) -> float:
    """Return the log integral of p^(a-1) (1-p)^(b-1) over p above `least`."""
    return float(betaln(a, b) + np.log(max(float(betainc(b, a, 1 - least)), 1e-300)))


def _columns(numbers: Array, discriminant: Discriminant) -> Array:
    """Return the first columns, with the discriminant in front where there are several."""
    if numbers.shape[1] == 1:
        return numbers
    return np.column_stack([discriminant.project(numbers), numbers[:, :_COLUMNS]])


def _evidence(second: Array, first: Array) -> float:
    """Return the log probability of the labels in each interval, its odds averaged over a Beta prior."""
    return float(np.sum(betaln(second + _PRIOR, first + _PRIOR) - betaln(_PRIOR, _PRIOR)))


def _cuts(column: Array) -> list[tuple[float, float, float]]:
    """Return pairs of cuts, low <= high, and a prior log weight; equal ones make a single threshold.

    Pairs that cut off equally many runs at both ends weigh more: most noise is symmetric.
    """
    known = np.unique(column[~np.isnan(column)])
    if len(known) < 2:
        return [(np.inf, np.inf, 0.0)]
    middles = known[:-1] / 2 + known[1:] / 2 if len(known) <= _CUTS + 1 else _quantiles(column)
    pairs = combinations_with_replacement(range(len(middles)), 2)
    last = len(middles) - 1
    return [(float(middles[i]), float(middles[j]), _SYMMETRIC if i + j == last else 0.0) for i, j in pairs]


def _quantiles(column: Array) -> Array:
    """Return `_CUTS` observed values, evenly spread over the runs."""
    known = np.sort(column[~np.isnan(column)])
    cuts: Array = np.unique(known[np.linspace(0, len(known) - 1, _CUTS + 2)[1:-1].astype(int)])
    return cuts


def _intervals(column: Array, low: float, high: float) -> Array:
    """Return 0 below `low`, 1 between, 2 from `high` on, 3 for NaN."""
    intervals: Array = np.where(np.isnan(column), 3, (column >= low).astype(int) + (column >= high).astype(int))
    return intervals


learn_zones = learn_thresholds
"""The former name of `learn_thresholds`. Deprecated."""
