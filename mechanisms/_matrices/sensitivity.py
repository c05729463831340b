"""The distance by which one record moves the rows of a strategy matrix, over all schedules of its participations.

A record enters up to `participations` elements that lie `separation` or more apart, each time with a vector of length 1
at most. With G = C^T C, the squared move on a schedule is at most the sum of |G_ij| over its pairs, and is that where
signs of the contributions can make every term positive. Numbers are squared, in units of one contribution's bound.
Source: Choquette-Choo, McMahan, Rush and Thakurta (2023), Section 3; Kalinin and Lampert (2024) for Toeplitz matrices.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np

from dpaudit.model.mechanism import Array
from mechanisms._matrices.counts import best_counts
from mechanisms._matrices.strategies import Strategy, square_root_coefficients, strategy_matrix

_MOST_SCHEDULES, _MOST_SIGNS = 20_000, 12
_DENSE = 512
_FINE, _FEW = 32, 32  # of a full tree: the largest separation that is counted element by element, and participations
_UNIT = 2.0**-52


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Bounds on the squared move, the elements (from 0) and signs that attain the lower one, and how it was found."""

    lower: float
    upper: float
    elements: tuple[int, ...]
    signs: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Return whether both ends are the same whole number."""
        return self.lower == self.upper and self.lower == round(self.lower)


@lru_cache(maxsize=64)
def squared_move(
    strategy: Strategy, horizon: int, entries: tuple[float, ...], participations: int, separation: int
) -> Moved:
    """Return bounds on the squared move; equal up to rounding where the docstrings below say exact."""
    most = min(participations, -(-horizon // separation))
    if strategy == "full_tree":
        return _tree(horizon, most, min(separation, horizon))
    if strategy == "explicit":
        return _dense(strategy_matrix(strategy, horizon, entries), most, separation)
    coefficients = np.asarray((entries or square_root_coefficients(horizon))[:horizon])
    falling = bool(np.all(coefficients >= 0) and np.all(np.diff(coefficients) <= 0))
    if falling or most == 1 or len(coefficients) <= separation:
        return _first_schedule(coefficients, horizon, most, separation)
    if horizon <= _DENSE:
        return _dense(strategy_matrix(strategy, horizon, entries), most, separation)
    norm = float(coefficients @ coefficients)
    return _between(norm, most**2 * norm, (0,), (1,), horizon)


def _first_schedule(coefficients: Array, horizon: int, most: int, separation: int) -> Moved:
    """Exact for a Toeplitz matrix whose worst schedule is the earliest: 0, separation, 2 separation, ...

    That is so for one participation and for columns that do not overlap, whose norms fall along time; and for
    coefficients that are not negative and fall: an entry of G falls with its place and with the distance of its pair.
    """
    elements = tuple(separation * i for i in range(most))
    total = np.zeros(horizon)
    for element in elements:
        length = min(len(coefficients), horizon - element)
        total[element : element + length] += coefficients[:length]
    square = math.fsum((total * total).tolist())
    return _between(square, square, elements, (1,) * most, horizon)


def _tree(horizon: int, most: int, separation: int) -> Moved:
    """Exact for the full tree, up to 32 participations at separations up to 32; else bounds that are often equal.

    Larger separations are counted in blocks of 2^k elements, k as small as can be: from below schedules lie on the
    blocks' first elements, from above two of them may lie at the far ends of their blocks. Each participation counts
    once on each level within its block.
    """
    plain = _tree_by_levels(horizon, most, separation)
    if most > _FEW:
        return plain
    level = max(0, math.ceil(math.log2(separation / _FINE)))
    block = 1 << level
    nearest = max(1, -(-(separation + 1) // block) - 1) if level else separation
    upper, _ = best_counts(-(-horizon // block), most, nearest, level)
    lower, places = best_counts(horizon // block, most, -(-separation // block), level)
    if lower < plain.lower:
        return replace(plain, upper=min(plain.upper, float(upper)))
    elements = tuple(block * number for number in places)
    return Moved(
        lower=float(lower), upper=min(plain.upper, float(upper)), elements=elements, signs=(1,) * len(elements)
    )


def _tree_by_levels(horizon: int, most: int, separation: int) -> Moved:
    """Bounds for the full tree: from above level by level, from below the best of some schedules; often equal.

    A node of 2^level elements holds at most ceil(2^level / separation) participations, and the sum of squares of counts
    is largest where as few nodes as can be hold all.
    """
    upper = 0
    for level in range(horizon.bit_length()):
        full = min(most, -(-(1 << level) // separation))
        nodes, left_over = divmod(most, full)
        upper += nodes * full**2 + left_over**2
    best = 0
    chosen: tuple[int, ...] = (0,)
    for elements in _regular(horizon, most, separation):
        counts = [sum(first <= e < last for e in elements) for first, last in _around(horizon, elements)]
        if (square := sum(count**2 for count in counts)) > best:
            best, chosen = square, elements
    return Moved(lower=float(best), upper=float(upper), elements=chosen, signs=(1,) * len(chosen))


def _around(horizon: int, elements: tuple[int, ...]) -> set[tuple[int, int]]:
    """Return the nodes of the full tree that hold one of the elements."""
    blocks = ((e >> level << level, level) for e in elements for level in range(horizon.bit_length()))
    return {(first, first + (1 << level)) for first, level in blocks if first + (1 << level) <= horizon}


def _regular(horizon: int, most: int, separation: int) -> Iterator[tuple[int, ...]]:
    """Yield schedules of equal gaps, and those that leave the fewest nodes between neighbours."""
    room = horizon - (most - 1) * separation
    for start in range(min(room, 64)):
        yield tuple(start + separation * i for i in range(most))
    if most > 1:
        gap = (horizon - 1) // (most - 1)
        yield tuple(gap * i for i in range(most))


def _dense(matrix: Array, most: int, separation: int) -> Moved:
    """Bounds by the Gram matrix: exact for one participation, for columns that do not overlap, and where signs agree.

    Schedules are counted out as far as they are few; else each row of the Gram matrix takes the schedule that is worst
    for it alone, which is exact where one schedule is worst for all of its rows, and within a few percent often.
    """
    horizon = matrix.shape[1]
    norms = np.einsum("ij,ij->j", matrix, matrix)
    if most == 1 or _width(matrix) <= separation:
        value, elements = _best_norms(norms, most, separation)
        return _between(value, value, elements, (1,) * len(elements), horizon)
    gram = matrix.T @ matrix
    counted = sum(math.comb(horizon - (n - 1) * (separation - 1), n) for n in range(1, most + 1))
    largest = int(np.argmax(norms))
    if counted > _MOST_SCHEDULES:
        lower, elements = float(norms[largest]), (largest,)
        upper, near = _by_rows(np.abs(gram), most, separation)
        for schedule in (near, *_regular(horizon, most, separation)):
            if (square := float(gram[np.ix_(schedule, schedule)].sum())) > lower:
                lower, elements = square, schedule
        return _between(lower, max(lower, upper), elements, (1,) * len(elements), horizon)
    chosen = max(_schedules(horizon, most, separation), key=lambda s: float(np.abs(gram[np.ix_(s, s)]).sum()))
    inside = gram[np.ix_(chosen, chosen)]
    signs = _signs(inside)
    square = float(np.asarray(signs) @ inside @ np.asarray(signs))
    upper = float(np.abs(inside).sum())
    blur = _UNIT * (horizon + 64) * most**2 * float(norms.max())
    if upper - square <= 2 * blur:
        square = upper
    return Moved(lower=max(0.0, square - blur), upper=upper + blur, elements=chosen, signs=signs)


def _by_rows(sizes: Array, most: int, separation: int) -> tuple[float, tuple[int, ...]]:
    """Return an upper bound on the sum of `sizes` over all pairs of a schedule, and a schedule that is nearly worst.

    Row i adds at most the largest sum over a schedule that holds i; these largest sums are added over a schedule. Both
    are dynamic programs: before[c] and after[c] hold, for each row, the best c elements on one side of a place.
    Source: Choquette-Choo et al. (2023, amplified banded matrix factorisation), Section 4.
    """
    horizon = len(sizes)
    before, after = (np.zeros((most, horizon, horizon + 1)) for _ in range(2))
    for c in range(1, most):
        for column in range(horizon):
            taken = sizes[:, column] + before[c - 1][:, max(0, column + 1 - separation)]
            before[c][:, column + 1] = np.maximum(before[c][:, column], taken)
        for column in reversed(range(horizon)):
            taken = sizes[:, column] + after[c - 1][:, min(horizon, column + separation)]
            after[c][:, column] = np.maximum(after[c][:, column + 1], taken)
    rows = np.arange(horizon)
    left, right = np.maximum(0, rows + 1 - separation), np.minimum(horizon, rows + separation)
    sums = [before[c][rows, left] + after[most - 1 - c][rows, right] for c in range(most)]
    return _best_norms(sizes[rows, rows] + np.max(sums, axis=0), most, separation)


def _width(matrix: Array) -> int:
    """Return how many rows, from its diagonal on, the longest column fills."""
    rows, columns = np.nonzero(matrix)
    return int((rows - columns).max()) + 1 if len(rows) else 1


def _best_norms(norms: Array, most: int, separation: int) -> tuple[float, tuple[int, ...]]:
    """Return the largest sum of norms over schedules, and that schedule, by a dynamic program over the elements."""
    horizon = len(norms)
    best: list[list[tuple[float, tuple[int, ...]]]] = [[(0.0, ())] * (horizon + 1)]
    for _ in range(most):
        row: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for end in range(1, horizon + 1):
            value, elements = best[-1][max(0, end - separation)]
            row.append(max(row[-1], (value + float(norms[end - 1]), (*elements, end - 1))))
        best.append(row)
    return best[-1][-1]


def _schedules(horizon: int, most: int, separation: int) -> Iterator[tuple[int, ...]]:
    """Yield every schedule of 1 to `most` elements that lie `separation` or more apart.

    Fewer participations can move further: many leave no choice of their places.
    """

    def extend(chosen: tuple[int, ...], start: int) -> Iterator[tuple[int, ...]]:
        if chosen:
            yield chosen
        for element in range(start, horizon if len(chosen) < most else start):
            yield from extend((*chosen, element), element + separation)

    yield from extend((), 0)


def _signs(gram: Array) -> tuple[int, ...]:
    """Return signs of the contributions of one schedule: those that make every term positive, or the best tried."""
    size = len(gram)
    signs_so_far = [1] + [0] * (size - 1)
    for _ in range(size):
        for i, j in product(range(size), repeat=2):
            if signs_so_far[i] and not signs_so_far[j] and gram[i, j]:
                signs_so_far[j] = signs_so_far[i] * (1 if gram[i, j] > 0 else -1)
    coloured = tuple(sign or 1 for sign in signs_so_far)
    if size > _MOST_SIGNS:
        return coloured
    tried = (coloured, *((1, *other_signs) for other_signs in product((1, -1), repeat=size - 1)))
    return max(tried, key=lambda signs: float(np.asarray(signs) @ gram @ np.asarray(signs)))


def _between(lower: float, upper: float, elements: tuple[int, ...], signs: tuple[int, ...], horizon: int) -> Moved:
    """Return bounds moved outwards by what rounding can have done to sums of so many squares."""
    blur = _UNIT * (horizon + 64)
    return Moved(lower=lower * (1 - blur), upper=upper * (1 + blur), elements=elements, signs=signs)
