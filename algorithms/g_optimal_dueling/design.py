"""G-optimal designs: weights of comparisons under which the worst one is estimated as well as possible.

By the equivalence theorem the smallest max_z |z|^2 in the metric V(p)^-1, V(p) = sum p_z z z^T, is the dimension
of the span, and a design that reaches it has a support of r (r + 1) / 2 vectors at most.
Source: Kiefer and Wolfowitz (1960); Wynn (1970), Fedorov (1972) and Atwood (1973) for the steps.
"""

from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array

_RANK_TOLERANCE = 1e-9
_LIGHT = 1e-4
_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Comparisons to play: pairs (first, second) of options, their vectors and weights.

    Shape: first, second, weights (G,), vectors (G, d). `rank` is the dimension of all comparisons' span, `worst`
    the largest |z|^2 in the metric of the design.
    """

    first: Array
    second: Array
    vectors: Array
    weights: Array
    rank: int
    worst: float


def comparisons(features: Array, survivors: Array) -> tuple[Array, Array, Array]:
    """Return one ordered pair of survivors for each distinct direction +-z, and its z; zero vectors are left out."""
    rows, columns = np.triu_indices(len(survivors), 1)
    first, second = survivors[rows], survivors[columns]
    vectors = features[first] - features[second]
    lead = np.abs(vectors) > 1e-12
    some: Array = np.any(lead, axis=1)
    sign = np.sign(vectors[np.arange(len(vectors)), lead.argmax(axis=1)])
    _, firsts = np.unique(np.round(vectors * sign[:, None], 10), axis=0, return_index=True)
    distinct = np.sort(firsts[some[firsts]])
    return first[distinct], second[distinct], vectors[distinct]


def g_optimal(features: Array, survivors: Array, tolerance: float) -> Design:
    """Return a design over the comparisons of `survivors` whose worst comparison is within `tolerance` of the best.

    Guarantee: max |z|^2 <= (1 + tolerance) r in the metric of the weights, r the dimension of the span; at most
    r (r + 1) / 2 comparisons.
    """
    first, second, vectors = comparisons(features, survivors)
    if not len(vectors):
        return Design(first=first, second=second, vectors=vectors, weights=np.zeros(0), rank=0, worst=0.0)
    basis = _basis(vectors)
    points = vectors @ basis
    weights = _pruned(points, _optimised(points, tolerance / 2), tolerance)
    support = np.flatnonzero(weights > 0)
    spread = points[support].T @ (weights[support, None] * points[support])
    worst = float(np.einsum("ij,ij->i", points @ np.linalg.inv(spread), points).max())
    return Design(
        first=first[support],
        second=second[support],
        vectors=vectors[support],
        weights=weights[support],
        rank=basis.shape[1],
        worst=worst,
    )


def _basis(vectors: Array) -> Array:
    """Return an orthonormal basis of the span; shape (d, r)."""
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    return directions[:, values > _RANK_TOLERANCE * values[-1]]


def _optimised(points: Array, tolerance: float) -> Array:
    """Return weights by steps towards the worst point and away from the best one of the support.

    The inverse and the squared lengths follow each step by a rank-one update, O(points r) a step.
    """
    rank = points.shape[1]
    weights = _start(points)
    inverse = np.linalg.inv(points.T @ (weights[:, None] * points))
    lengths = np.einsum("ij,ij->i", points @ inverse, points)
    for step in range(_MOST_STEPS):
        high = int(lengths.argmax())
        if lengths[high] <= rank * (1 + tolerance):
            break
        support = np.flatnonzero(weights)
        low = int(support[lengths[support].argmin()])
        point = high if lengths[high] - rank >= rank - lengths[low] else low
        size = (lengths[point] / rank - 1) / (lengths[point] - 1) if abs(lengths[point] - 1) > 1e-12 else -np.inf
        if point == low:
            size = max(size, -weights[low] / (1 - weights[low])) if weights[low] < 1 else size
        inverse, lengths = _moved(points, inverse, lengths, point, size)
        weights *= 1 - size
        weights[point] = max(weights[point] + size, 0.0)
        if weights[point] < 1e-12:
            weights[point] = 0.0
        if step % 200 == 199:
            weights /= weights.sum()
            inverse = np.linalg.inv(points.T @ (weights[:, None] * points))
            lengths = np.einsum("ij,ij->i", points @ inverse, points)
    return weights / weights.sum()


def _moved(points: Array, inverse: Array, lengths: Array, point: int, size: float) -> tuple[Array, Array]:
    """Return inverse and squared lengths after p <- (1 - size) p + size at `point` (Sherman and Morrison)."""
    direction = inverse @ points[point]
    share = size / (1 - size + size * lengths[point])
    moved = (inverse - share * np.outer(direction, direction)) / (1 - size)
    return moved, (lengths - share * (points @ direction) ** 2) / (1 - size)


def _start(points: Array) -> Array:
    """Return even weights on at most 2 r points that span: the extremes along successive orthogonal directions.

    Source: Kumar and Yildirim (2005).
    """
    rank = points.shape[1]
    chosen: list[int] = []
    directions = np.eye(rank)
    spanned = np.zeros((rank, 0))
    for axis in range(rank):
        direction = directions[:, axis] - spanned @ (spanned.T @ directions[:, axis])
        if np.linalg.norm(direction) < 1e-9:
            residual = points - points @ spanned @ spanned.T
            direction = residual[np.linalg.norm(residual, axis=1).argmax()]
        best = int(np.abs(points @ direction).argmax())
        chosen.append(best)
        across = points[best] - spanned @ (spanned.T @ points[best])
        norm = np.linalg.norm(across)
        if norm > 1e-9:
            spanned = np.column_stack([spanned, across / norm])
    if spanned.shape[1] < rank:
        return np.full(len(points), 1 / len(points))
    weights = np.zeros(len(points))
    weights[np.unique(chosen)] = 1 / len(np.unique(chosen))
    return weights


def _pruned(points: Array, weights: Array, tolerance: float) -> Array:
    """Return weights on r (r + 1) / 2 points at most: light ones dropped, then by Caratheodory's theorem.

    While there are more, some change of weights moves nothing of V(p); it is followed until a weight is 0, in
    the direction in which the sum of weights does not fall, and the weights are normalised.
    """
    rank = points.shape[1]
    pruned = np.where(weights >= _LIGHT, weights, 0.0)
    pruned /= pruned.sum()
    spread = points.T @ (pruned[:, None] * points)
    if np.linalg.matrix_rank(spread) < rank or _worst(points, spread) > rank * (1 + tolerance):
        pruned = weights.copy()
    limit = rank * (rank + 1) // 2
    upper = np.triu_indices(rank)
    while np.count_nonzero(pruned) > limit:
        support = np.flatnonzero(pruned)[: limit + 1]
        moments = (points[support][:, upper[0]] * points[support][:, upper[1]]).T
        change = np.linalg.svd(moments)[2][-1]
        change = change if change.sum() >= 0 else -change
        falling = change < -1e-15
        reach = (pruned[support][falling] / -change[falling]).min()
        moved = pruned[support] + reach * change
        moved[np.flatnonzero(falling)[(pruned[support][falling] / -change[falling]).argmin()]] = 0.0
        pruned[support] = np.maximum(moved, 0.0)
    return pruned / pruned.sum()


def _worst(points: Array, spread: Array) -> float:
    """Return the largest squared length in the metric of `spread`."""
    return float(np.einsum("ij,ij->i", points @ np.linalg.inv(spread), points).max())
