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

Modelling: TypeAlias = Callable[[Array, Array, Array], tuple[tuple[Array, Array], ...]]
"""From runs of the second and the first neighbour in each interval, and prior log weights: (shares, log evidence).

Shape: runs and shares are (pairs of cuts, 4), the weights and the evidence (pairs of cuts,).
"""


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
        return np.log(share) - np.log1p(-share)


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
        cuts, pairs, priors = _cuts(columns[:, column])
        second, first = (_counted(columns[side, column], cuts, pairs) for side in (labels, ~labels))
        kinds = models_of(second, first, priors)
        for index, (low, high) in enumerate(cuts[pairs].tolist()):
            models += [(column, low, high, shares[index]) for shares, _ in kinds]
            evidence += [float(support[index]) for _, support in kinds]
    weights = np.exp(np.array(evidence) - logsumexp(evidence))
    relevant = np.flatnonzero(weights > 1e-4 * weights.max())
    return ThresholdOdds(
        table=table,
        discriminant=discriminant,
        models=tuple(models[i] for i in relevant),
        weights=weights[relevant] / weights[relevant].sum(),
    )


def _counted(values: Array, cuts: Array, pairs: Array) -> Array:
    """Return how many values lie in each of the four intervals of each pair of cuts. Shape: (pairs, 4)."""
    numbers = values[~np.isnan(values)]
    reached = (numbers[:, None] >= cuts).sum(axis=1)
    below = np.cumsum(np.bincount(reached, minlength=len(cuts) + 1))  # of all that reach so many cuts or fewer
    low, high = below[pairs].T
    missing = np.full(len(pairs), len(values) - len(numbers))
    return np.stack([low, high - low, len(numbers) - high, missing], axis=1)


def _free_shares(second: Array, first: Array, prior: Array) -> tuple[tuple[Array, Array], ...]:
    """Return (shares of the second neighbour, log evidence) of two models: free shares, and mirrored ones."""
    right, wrong = second[:, 2] + first[:, 0], second[:, 0] + first[:, 2]
    share = (right + _PRIOR) / (right + wrong + 2 * _PRIOR)
    undecided = (second + first).sum(axis=1) - right - wrong
    decided = _evidence(right[:, None], wrong[:, None])
    return (
        ((second + _PRIOR) / (first + second + 2 * _PRIOR), _evidence(second, first)),
        (_mirrored(share), decided - undecided * float(np.log(2)) + prior),
    )


def _shares_beyond(least: float, second: Array, first: Array, prior: Array) -> tuple[tuple[Array, Array], ...]:
    """Return the same of both mirrored models, with the share of right guesses uniform above `least`."""
    right, wrong = second[:, 2] + first[:, 0], second[:, 0] + first[:, 2]
    undecided = ((second + first).sum(axis=1) - right - wrong) * float(np.log(2))
    models = []
    for good, bad, turned in ((right, wrong, False), (wrong, right, True)):
        evidence = _log_beta_above(least, good + 1, bad + 1)
        share = np.maximum(least, np.exp(_log_beta_above(least, good + 2, bad + 1) - evidence))
        models.append((_mirrored(1 - share if turned else share), evidence - undecided + prior))
    return tuple(models)


def _mirrored(share: Array) -> Array:
    """Return the shares of four intervals: the outer two mirror each other; the middle one and NaN have odds 0."""
    half = np.full(len(share), 0.5)
    return np.stack([1 - share, half, share, half], axis=1)


def _log_beta_above(least: float, a: Array, b: Array) -> Array:
    """Return the log integrals of p^(a-1) (1-p)^(b-1) over p above `least`."""
    return betaln(a, b) + np.log(np.maximum(betainc(b, a, 1 - least), 1e-300))


def _columns(numbers: Array, discriminant: Discriminant) -> Array:
    """Return the first columns, with the discriminant in front where there are several."""
    if numbers.shape[1] == 1:
        return numbers
    return np.column_stack([discriminant.project(numbers), numbers[:, :_COLUMNS]])


def _evidence(second: Array, first: Array) -> Array:
    """Return the log probability of the labels in each row's intervals, their odds averaged over a Beta prior."""
    return (betaln(second + _PRIOR, first + _PRIOR) - betaln(_PRIOR, _PRIOR)).sum(axis=1)


def _cuts(column: Array) -> tuple[Array, Array, Array]:
    """Return cuts in order, pairs of their places, low <= high, and prior log weights; equal ones are one threshold.

    Pairs that cut off equally many runs at both ends weigh more: most noise is symmetric. Shape: `pairs` is (pairs, 2).
    """
    numbers = np.unique(column[~np.isnan(column)])
    if len(numbers) < 2:
        return np.array([np.inf]), np.zeros((1, 2), dtype=int), np.zeros(1)
    middles = numbers[:-1] / 2 + numbers[1:] / 2 if len(numbers) <= _CUTS + 1 else _quantiles(column)
    pairs = np.array(list(combinations_with_replacement(range(len(middles)), 2)))
    return middles, pairs, np.where(pairs.sum(axis=1) == len(middles) - 1, _SYMMETRIC, 0.0)


def _quantiles(column: Array) -> Array:
    """Return `_CUTS` observed values, evenly spread over the runs."""
    numbers = np.sort(column[~np.isnan(column)])
    return np.unique(numbers[np.linspace(0, len(numbers) - 1, _CUTS + 2)[1:-1].astype(int)])


def _intervals(column: Array, low: float, high: float) -> Array:
    """Return 0 below `low`, 1 between, 2 from `high` on, 3 for NaN."""
    return np.where(np.isnan(column), 3, (column >= low).astype(int) + (column >= high).astype(int))
