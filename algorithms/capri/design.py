"""The public random sets R and S of an epoch, and the map that they make of a cell.

R stands for the covariance of the epoch's points and S for the basis of the regression; both come from the
same law as the points, but from public randomness. Once they are drawn there is a public map from a cell w
to a vector h_w, and the only touch on data is the sum of reward times h_w. With features F (a row a cell),
P the projector on the span of S's features and A = P C_R P + ridge I,

    h_w = L^-1 P F_w,  A = L L^T,      s(w) = |h_w|,
    sigma(w)^2 = s(w)^2 + (|F_w|^2 - |P F_w|^2) / ridge,

which is Eq. (6) without any inverse of a Gram matrix; s <= sigma, with equality where w lies in the span.
"""

from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array

_RANK_TOLERANCE = 1e-10
_BLOCK_ROWS = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """How often each cell is in R, the covariance's points, and in S, the basis; shape (n_runs, N) each."""

    covariance: Array
    basis: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factors:
    """The public map of an epoch: `maps` holds h_w as columns, shape (n_runs, D, N).

    `reach` is the largest |h_w| over the active cells, `scale` the printed bound on it, at least as large;
    both of shape (n_runs,). A record moves the epoch's sum by at most 2 reward_bound scale.
    """

    maps: Array
    reach: Array
    scale: Array

    def apply(self, sums: Array) -> Array:
        """Return the sum of h_w over cells, each times its sum of rewards: (n_runs, N) to (n_runs, D)."""
        return (self.maps @ sums[:, :, None])[:, :, 0]

    def estimates(self, vectors: Array) -> Array:
        """Return <h_w, vector> for every cell: (n_runs, D) to (n_runs, N)."""
        return (vectors[:, None, :] @ self.maps)[:, 0, :]


def cell_law(context_probabilities: Array, active: Array) -> Array:
    """Return the probability of each cell: a context by its law, an action uniformly among the active ones.

    Shape: (C,) and (n_runs, C, X) to (n_runs, C * X).
    """
    law = context_probabilities[:, None] * active / active.sum(axis=2, keepdims=True)
    flat = law.reshape(len(active), -1)
    return flat / flat.sum(axis=1, keepdims=True)


def draw_design(law: Array, size: int, rng: np.random.Generator) -> Design:
    """Return R and S of `size` independent points each; `rng` is the public stream.

    Source: Algorithm 1, lines 4 to 8 and 21 to 25, drawn as counts.
    """
    basis = rng.multinomial(size, law)
    return Design(covariance=rng.multinomial(size, law), basis=basis)


def factorise(features: Array, design: Design, active: Array, ridge: float) -> Factors:
    """Return the public map of one epoch in every run; cells outside `active` are never asked for.

    Shape: features (N, D), active (n_runs, N). Memory: 8 n_runs (2 D N + 4 D^2) bytes.
    Where S holds every active cell the projector changes nothing on them and is left out.
    Source: Eq. (6) and Lemma 7.1, in the form given at the head of this file; the bound runs over every
    context, also those of probability 0.
    """
    covariance = _weighted_gram(features, design.covariance)
    targets = np.broadcast_to(features.T, (len(active), *features.T.shape))
    partial = np.flatnonzero((active & (design.basis == 0)).any(axis=1))
    if partial.size:
        projector = _projector(features, design.basis[partial] > 0)
        targets = targets.copy()
        targets[partial] = projector @ features.T
        covariance[partial] = projector @ covariance[partial] @ projector
    covariance[:, range(features.shape[1]), range(features.shape[1])] += ridge
    maps = _whitened(np.linalg.cholesky(covariance), targets)
    squares = np.where(active, (maps**2).sum(axis=1), 0.0)
    missed = np.where(active, (features**2).sum(axis=1) - (targets**2).sum(axis=1), 0.0)
    posterior = squares + np.maximum(missed, 0.0) / ridge
    return Factors(maps=maps, reach=np.sqrt(squares.max(axis=1)), scale=np.sqrt(posterior.max(axis=1)))


def _weighted_gram(features: Array, weights: Array) -> Array:
    """Return F^T diag(weights) F for every run, shape (runs, D, D), as one product of two large matrices.

    A product a run would be as many small ones, whose threads spend more time waiting than working.
    """
    runs, dimension = len(weights), features.shape[1]
    weighted = (features.T * weights[:, None, :]).reshape(runs * dimension, len(features))
    return (weighted @ features).reshape(runs, dimension, dimension)


def _whitened(root: Array, targets: Array) -> Array:
    """Return root^-1 targets for lower triangular roots, shape (runs, D, N).

    Forward substitution in blocks of rows (Golub and Van Loan, 2013, section 3.1.3); blocks this small stay
    on one thread, which on a busy machine is many times faster than a solver that starts some for every run.
    """
    maps = np.empty(targets.shape)
    starts = range(0, root.shape[1], _BLOCK_ROWS)
    for first in starts:
        rows = slice(first, first + _BLOCK_ROWS)
        remainder = np.array(targets[:, rows])
        for before in starts[: first // _BLOCK_ROWS]:
            columns = slice(before, before + _BLOCK_ROWS)
            remainder -= root[:, rows, columns] @ maps[:, columns]
        maps[:, rows] = np.linalg.inv(root[:, rows, rows]) @ remainder
    return maps


def _projector(features: Array, present: Array) -> Array:
    """Return the orthogonal projector on the span of the present cells' features, shape (runs, D, D)."""
    values, vectors = np.linalg.eigh(_weighted_gram(features, present))
    basis = vectors * (values > _RANK_TOLERANCE * values[:, -1:])[:, None, :]
    return basis @ np.swapaxes(basis, 1, 2)
