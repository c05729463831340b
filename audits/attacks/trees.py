"""Boosted trees of depth three, for columns that are informative only jointly.

Examples are a number beside an index, or the low bits of a double beside its size. The trees are fitted to the
residuals of an additive model. Trees are kept only if they raise the likelihood of runs that did not grow them, so that
none is kept where columns do not interact.
"""

from dataclasses import dataclass

import numpy as np

from audits.attacks.logistic import log_likelihood
from dpaudit.model.mechanism import Array

_DEPTH = 3
_PATIENCE = 4
_RATE = 0.4
_RIDGE = 5.0
_VALIDATING = 0.25
_LEAST_GAIN = 3.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """A tree of depth three: every node asks whether the bin of its column is above its cut; eight leaves.

    Shape: `columns` and `cuts` are (7,), `values` is (8,).
    """

    columns: Array
    cuts: Array
    values: Array

    def __call__(self, codes: Array) -> Array:
        """Return the amount that the tree adds to the log odds of each run. Shape: `codes` is (columns, runs)."""
        leaf = np.zeros(codes.shape[1], dtype=np.intp)
        runs = np.arange(codes.shape[1])
        for level in range(_DEPTH):
            node = leaf + 2**level - 1
            leaf = 2 * leaf + (codes[self.columns[node], runs] > self.cuts[node])
        return self.values[leaf]


def grow_trees(codes: Array, sizes: tuple[int, ...], odds: Array, labels: Array, most: int) -> tuple[Tree, ...]:
    """Return the trees that improve log odds, none if none does. Deterministic.

    Shape: `codes` is (columns, runs), whole numbers below `sizes`; `odds` and `labels` are (runs,). A quarter of the
    runs decide how many trees there are, at most `most`.
    Source: Friedman (2001), gradient boosting, with Newton steps.
    """
    grown = len(labels) - int(_VALIDATING * len(labels))
    growing, validating = codes[:, :grown], codes[:, grown:]
    grown_odds, validated_odds = odds[:grown].copy(), odds[grown:].copy()
    best, useful = float(log_likelihood(validated_odds, labels[grown:])) + _LEAST_GAIN, 0
    trees: list[Tree] = []
    while len(trees) < min(most, useful + _PATIENCE):
        share = 1 / (1 + np.exp(-grown_odds))
        tree = _grown(growing, max(sizes), labels[:grown] - share, share * (1 - share))
        trees.append(tree)
        grown_odds += tree(growing)
        validated_odds += tree(validating)
        if (reached := float(log_likelihood(validated_odds, labels[grown:]))) > best:
            best, useful = reached, len(trees)
    return tuple(trees[:useful])


def _grown(codes: Array, size: int, gradient: Array, curvature: Array) -> Tree:
    """Return the tree whose greedy questions explain most of the gradient."""
    leaf = np.zeros(codes.shape[1], dtype=np.intp)
    runs = np.arange(codes.shape[1])
    columns = np.zeros(2**_DEPTH - 1, dtype=np.intp)
    cuts = np.zeros(2**_DEPTH - 1, dtype=np.intp)
    for level in range(_DEPTH):
        nodes = 2**level
        offset = leaf * size
        gains = np.empty((len(codes), nodes, size))
        for index, column in enumerate(codes):
            key = offset + column
            g, h = (np.bincount(key, w, minlength=nodes * size).reshape(nodes, size) for w in (gradient, curvature))
            left, weight = np.cumsum(g, axis=1), np.cumsum(h, axis=1)
            right, other = left[:, -1:] - left, weight[:, -1:] - weight
            gains[index] = left**2 / (weight + _RIDGE) + right**2 / (other + _RIDGE)
        best = gains.transpose(1, 0, 2).reshape(nodes, -1).argmax(axis=1)
        columns[nodes - 1 : 2 * nodes - 1], cuts[nodes - 1 : 2 * nodes - 1] = np.divmod(best, size)
        node = leaf + nodes - 1
        leaf = 2 * leaf + (codes[columns[node], runs] > cuts[node])
    total = np.bincount(leaf, gradient, minlength=2**_DEPTH)
    values = _RATE * total / (np.bincount(leaf, curvature, minlength=2**_DEPTH) + _RIDGE)
    return Tree(columns=columns, cuts=cuts, values=values)
