"""The learned attack for any output: an additive model of the log odds over binned columns.

With independent noise in every coordinate the true log odds are a sum over coordinates, as in an additive model. Joint
columns (sums, extremes, the whitened linear discriminant) detect what no single coordinate shows, such as noise that
cancels. Trees model the interactions that remain. For outputs with few distinct values the odds of each value are
estimated from its counts, with the additive odds as a starting point.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.columns import joined, most_informative
from audits.attacks.counting import CountedOdds
from audits.attacks.discriminant import Discriminant
from audits.attacks.linear_odds import LinearOdds
from audits.attacks.logistic import log_likelihood, log_ratio
from audits.attacks.table import Bins, Table
from audits.attacks.trees import Tree, grow_trees
from audits.experiment.views import take
from dpaudit.model.mechanism import Array

_ROUNDS = 100
_RATE = 0.4
_RIDGE = 1.0
_LEAST_GAIN, _ATOM_GAIN = 1.0, 2.5
_MOST_COLUMNS = 64
_MOST_BINS = 256
_MOST_FITTED = 5_000_000
_TREES, _TREES_FROM, _TREE_BINS, _TREE_COLUMNS = 60, 1_000, 48, 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearnedScore:
    """Estimated log odds that the second neighbour ran; a function of one run's output alone."""

    table: Table
    discriminant: Discriminant
    columns: Array
    bins: Bins
    weights: tuple[Array, ...]
    coarse: Bins
    trees: tuple[Tree, ...]

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        numbers = joined(self.table.numbers(view), self.discriminant)[:, self.columns]
        score = _sum_of_weights(self.bins.codes(numbers), self.weights)
        if self.trees:
            codes = self.coarse.codes(numbers[:, : len(self.coarse.edges)]).T
            score += sum(tree(codes) for tree in self.trees)
        return score


def learn_score(view: Any, labels: Array, rng: np.random.Generator) -> "LearnedScore | CountedOdds":
    """Return a score learned from labelled runs; the counted runs must be others.

    Shape: `view` has the runs axis first, `labels` is (runs,) and true where the second neighbour ran.
    Deterministic: `rng` is not used.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2000) < 0.5
    >>> score = learn_score(rng.normal(size=2000) + labels, labels, rng)
    >>> low, high = score(np.array([-1.0, 2.0]))
    >>> bool(low < 0 < high)
    True
    """
    table = Table.learned(view)
    numbers = table.numbers(view)
    if CountedOdds.suits(numbers):
        if CountedOdds.few(numbers):
            return CountedOdds.learned(table, numbers, labels)
        return CountedOdds.learned(table, numbers, labels, _starting_odds(table, view, labels))
    return _additive(table, numbers, labels, most_trees=_TREES)


def _starting_odds(table: Table, view: Any, labels: Array) -> Array:
    """Return rough log odds of each run: of the linear model where it predicts the last quarter of the runs better."""
    numbers = table.numbers(view)
    early = len(labels) - len(labels) // 4
    additive = _additive(table, numbers, labels, most_trees=0)
    linear = LinearOdds.learned(table, numbers[:early], labels[:early])
    if linear is not None:
        late = _additive(table, numbers[:early], labels[:early], most_trees=0)(
            take(view, np.arange(early, len(labels)))
        )
        late_labels = labels[early:]
        if log_likelihood(linear.of(numbers[early:]), late_labels) >= log_likelihood(late, late_labels):
            linear = LinearOdds.learned(table, numbers, labels)
            return additive(view) if linear is None else linear.of(numbers)
    return additive(view)


def _additive(table: Table, numbers: Array, labels: Array, *, most_trees: int) -> LearnedScore:
    """Return the additive model, with up to `most_trees` trees on it; at most 5 million numbers are learned from."""
    fitted = max(1, _MOST_FITTED // numbers.shape[1])
    numbers, labels = numbers[:fitted], labels[:fitted]
    discriminant = Discriminant.learned(numbers, labels)
    everything = joined(numbers, discriminant)
    most = int(np.clip(len(labels) ** 0.5, 4, _MOST_BINS))
    bins = Bins.learned(everything, most)
    columns = most_informative(bins, everything, labels, _MOST_COLUMNS)
    bins = Bins(edges=tuple(bins.edges[i] for i in columns))
    informative = everything[:, columns]
    codes = bins.codes(informative)
    weights = _boosted(bins, codes, labels)
    coarse = Bins(edges=())
    grown: tuple[Tree, ...] = ()
    if most_trees and numbers.shape[1] > 1 and len(labels) >= _TREES_FROM:
        coarse = Bins.learned(informative[:, :_TREE_COLUMNS], _TREE_BINS)
        odds = _sum_of_weights(codes, weights) + log_ratio(labels)
        shown = np.ascontiguousarray(coarse.codes(informative[:, :_TREE_COLUMNS]).T)
        grown = grow_trees(shown, coarse.sizes, odds, labels, most_trees)
    return LearnedScore(
        table=table,
        discriminant=discriminant,
        columns=columns,
        bins=bins,
        weights=weights,
        coarse=coarse,
        trees=grown,
    )


def _sum_of_weights(codes: Array, weights: tuple[Array, ...]) -> Array:
    """Return the additive log odds of each run, as if both neighbours had run equally often."""
    score = np.zeros(len(codes))
    for column, weight in enumerate(weights):
        score += weight[codes[:, column]]
    return score


def _boosted(bins: Bins, codes: Array, labels: Array) -> tuple[Array, ...]:
    """Return one weight a bin beside the log ratio of the runs, by boosted stumps: Newton steps on the logistic loss.

    Atoms come first, each alone: a rare value is no part of the tail that it happens to lie in. The search stops at a
    stump that gains less than chance would, so that constant odds stay constant.
    Source: Friedman, Hastie and Tibshirani (2000), additive logistic regression.
    """
    weights = [np.zeros(size) for size in bins.sizes]
    odds = np.full(len(labels), log_ratio(labels))
    cuts = np.array([len(edges) for edges in bins.edges])
    least = np.maximum(_LEAST_GAIN, 1.4 * np.log(np.maximum(cuts, 1)) - 3.2)
    unused = np.full(len(weights), np.log(len(weights)))
    for column, atoms in enumerate(bins.atoms):
        step = _atom_weights(codes[:, column], labels, odds, (bins.sizes[column], atoms), float(unused[column]))
        weights[column] += step
        odds += step[codes[:, column]]
    for _ in range(_ROUNDS):
        share = 1 / (1 + np.exp(-odds))
        stumps = [
            _best_stump(
                np.bincount(codes[:, column], labels - share, minlength=size),
                np.bincount(codes[:, column], share * (1 - share), minlength=size),
            )
            for column, size in enumerate(bins.sizes)
        ]
        gains = np.array([gain for gain, _ in stumps]) - least - unused
        best = int(np.argmax(gains))
        step = stumps[best][1]
        if gains[best] < 0:
            break
        unused[best] = 0.0
        weights[best] += step
        odds += step[codes[:, best]]
    return tuple(weights)


def _atom_weights(codes: Array, labels: Array, odds: Array, places: tuple[int, Array], penalty: float) -> Array:
    """Return the log odds that each atom of a column adds, one value a bin; 0 where chance explains what it shows.

    `places` are the number of bins and the bins of atoms; `penalty` is for the choice among columns.
    """
    size, atoms = places
    added = np.zeros(size)
    if len(atoms) == 0:
        return added
    share = 1 / (1 + np.exp(-odds))
    gradient = np.bincount(codes, labels - share, minlength=size)[atoms]
    curvature = np.bincount(codes, share * (1 - share), minlength=size)[atoms]
    second, runs = (np.bincount(codes, weight, minlength=size)[atoms] for weight in (labels, np.ones(len(codes))))
    gains = gradient**2 / (curvature + _RIDGE) / 2 - penalty - np.log(len(atoms))
    before = np.bincount(codes, odds, minlength=size)[atoms] / np.maximum(runs, 1)
    own = np.log((second + 0.5) / (runs - second + 0.5))
    added[atoms] = np.where(gains > _ATOM_GAIN, own - before, 0.0)
    return added


def _best_stump(gradient: Array, curvature: Array) -> tuple[float, Array]:
    """Return the gain and the shrunken step, one value a bin, of the best single cut of one column."""
    left, weight = np.cumsum(gradient)[:-1], np.cumsum(curvature)[:-1]
    right, other = gradient.sum() - left, curvature.sum() - weight
    gains = (left**2 / (weight + _RIDGE) + right**2 / (other + _RIDGE)) / 2
    cut = int(np.argmax(gains))
    below = _RATE * left[cut] / (weight[cut] + _RIDGE)
    above = _RATE * right[cut] / (other[cut] + _RIDGE)
    return float(gains[cut]), np.where(np.arange(len(gradient)) <= cut, below, above)
