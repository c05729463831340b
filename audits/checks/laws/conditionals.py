"""Outputs of several numbers as uniform ones, by a mechanism's own density: each number's law given all others.

Along one number (or an entry of a symmetric matrix and its mirror image) the density with all others held is the
conditional law of that number. Its distribution function at the number that came is uniform, whatever the joint law.
Where the others do not change this law, numbers are independent, and one grid serves every row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array, Mechanism

_MOST = 16
_FINE, _COARSE, _GRID = 40_001, 4_001, 301
"""Points of a grid: of single numbers, of one among several, and for each row by itself."""

_REACH = 2.0
_SIZES = 2.0 ** np.arange(-80, 81)
"""Distances that a grid may reach, in units of how far samples lie apart."""

_NEAR, _FAR, _CLIMBS = 0.5, 45.0, 64
"""A grid is finest where the log density has fallen so little from its peak, and ends where it has fallen so far."""

_AWAY = 3 / 8
_ROWS, _FEWEST, _EVALUATIONS, _SAME = 3_000, 300, 20_000_000, 1e-7
_AT_ONCE = 100
_COMPARED = 40
_SEED = 7_411


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """Uniform numbers by column, whether columns are independent, the total mass if known, and unread numbers.

    Shape: `uniform` is (rows, columns). `unread` holds the places of numbers that the density does not read. `beside`
    holds, for numbers that depend on each other, all numbers of the same rows; `own` (columns, numbers) says which of
    these a column is made of. `smooth` says that the density has no edge, so that places are exact far out.
    Of whole numbers `counts` says how often each outcome came, and `chances` how probable it is.
    """

    uniform: Array
    independent: bool
    mass: float | None
    unread: tuple[int, ...]
    beside: Array | None = None
    own: Array | None = None
    smooth: bool = True
    counts: Array | None = None
    chances: Array | None = None

    @classmethod
    def together(cls, parts: "Sequence[Placed]") -> "Placed":
        """Return numbers of several samples, one behind the other; columns of different samples are no pairs."""
        uniform = np.concatenate([part.uniform for part in parts])
        smooth = all(part.smooth for part in parts)
        return cls(uniform=uniform, independent=uniform.shape[1] == 1, mass=None, unread=(), smooth=smooth)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """The density of a mechanism at one answer, for outputs as flat rows. `output` is (rows, numbers)."""

    mechanism: Mechanism
    answer: Array
    output: Array
    shape: tuple[int, ...]

    def log(self, rows: Array) -> Array:
        """Return the log density of flat rows. Shape: (rows, numbers) to (rows,)."""
        answers = np.broadcast_to(self.answer, (len(rows), *self.answer.shape))
        rows = rows.astype(np.int64) if self.whole else rows
        with np.errstate(all="ignore"):
            logs = np.asarray(self.mechanism.log_density(rows.reshape(-1, *self.shape), answers), dtype=np.float64)
        return logs.reshape(len(rows), -1).sum(axis=1)

    @property
    def whole(self) -> bool:
        """Whether outputs are whole numbers."""
        return self.output.dtype.kind in "biu"

    def span(self, index: int) -> tuple[float, float]:
        """Return where the samples of a number lie; as wide as those of all numbers where it never changes."""
        column = self.output[:, index].astype(np.float64)
        low, high = float(column.min()), float(column.max())
        if high > low or self.whole:
            return low, high
        half = float(np.ptp(self.output.astype(np.float64), axis=0).max()) / 2
        return low - half, high + half


def placed(law: Law) -> Placed | None:
    """Return the numbers of outputs on the scale of uniform ones; None where the density reads none of them.

    Of many numbers the first and the last eight are read. Numbers that depend on each other are read on fewer rows, at
    most 3,000.
    """
    directions, unread = _directions(law)
    if not directions:
        return Placed(uniform=np.zeros((0, 0)), independent=False, mass=None, unread=unread) if unread else None
    grids = [_grid(law, direction) for direction in directions]
    if all(_separate(law, direction) for direction in directions):
        logs = [_along(law, law.output[0], *parts) for parts in zip(directions, grids, strict=True)]
        curves = [_curve(law, log, grid) for log, grid in zip(logs, grids, strict=True)]
        columns = [_at(law, *parts) for parts in zip(directions, grids, curves, strict=True)]
        everything = len(directions) == law.output.shape[1]
        mass = _mass(law, curves, logs) if everything else None
        smooth = all(bool(np.isfinite(log).all()) for log in logs)
        return Placed(uniform=np.stack(columns, axis=1), independent=True, mass=mass, unread=unread, smooth=smooth)
    most = _EVALUATIONS // (_GRID * len(directions) * law.output.shape[1])
    rows = max(_FEWEST, min(_ROWS, most))
    columns = [_given(law, direction, grid, rows) for direction, grid in zip(directions, grids, strict=True)]
    beside = law.output[:rows].astype(np.float64)
    own = np.stack(directions) != 0
    uniform = np.stack(columns, axis=1)
    return Placed(uniform=uniform, independent=False, mass=None, unread=unread, beside=beside, own=own)


def _directions(law: Law) -> tuple[list[Array], tuple[int, ...]]:
    """Return unit moves of one number, or of an entry and its mirror image, and the places that are not read."""
    numbers, rows = law.output.shape[1], law.output[:_COMPARED].astype(np.float64)
    candidates = list(_mirrored(law)) or [np.eye(numbers)[index] for index in range(numbers)]
    compared = candidates if len(candidates) <= _MOST else candidates[: _MOST // 2] + candidates[-_MOST // 2 :]
    directions: list[Array] = []
    unread: list[int] = []
    for direction in compared:
        low, high = law.span(int(np.argmax(direction)))
        step = 1.0 if law.whole else 0.05 * (high - low) + 1e-12
        before, after = law.log(rows), law.log(rows + step * direction)
        if np.array_equal(before, after):
            unread.append(int(np.argmax(direction)))
        elif np.isfinite(after).any():
            directions.append(direction)
    return directions, tuple(unread)


def _mirrored(law: Law) -> Iterator[Array]:
    """Yield moves of entries together with their mirror images, where all outputs are symmetric matrices."""
    if len(law.shape) != 2 or law.shape[0] != law.shape[1]:
        return
    matrices = law.output.reshape(-1, *law.shape)
    if not np.array_equal(matrices, np.swapaxes(matrices, 1, 2)):
        return
    for i, j in zip(*np.triu_indices(law.shape[0]), strict=True):
        move = np.zeros(law.shape)
        move[i, j] = move[j, i] = 1.0
        yield move.reshape(-1)


def _grid(law: Law, direction: Array) -> Array:
    """Return places of a number, finest at the peak of its law, that reach to where the density is next to nothing."""
    low, high = law.span(int(np.argmax(direction)))
    if law.whole:
        beyond = int(_REACH * (high - low + 8))
        return np.arange(low - beyond, high + beyond + 1)
    width = max(high - low, abs(low) * _SAME) or 1.0
    peak, fallen = _peak(law, direction, width * _SIZES)
    near, far = (width * _SIZES[: 1 + int(np.searchsorted(fallen[:-1], fall))][-1] for fall in (_NEAR, _FAR))
    points = _FINE if law.output.shape[1] == 1 else _COARSE
    return peak + near * np.sinh(np.arcsinh(far / near) * np.linspace(-1, 1, points))


def _peak(law: Law, direction: Array, sizes: Array) -> tuple[float, Array]:
    """Return where the density of a number is largest, and how far its logarithm falls beyond each distance."""
    at = float(np.median(law.output[:, int(np.argmax(direction))]))
    offsets = np.concatenate([[0.0], -sizes, sizes])
    logs = np.zeros(len(offsets))
    for _ in range(_CLIMBS):
        logs = np.nan_to_num(_along(law, law.output[0], direction, at + offsets), nan=-np.inf)
        if logs.argmax() == 0:
            break
        at += float(offsets[logs.argmax()])
    with np.errstate(invalid="ignore"):
        fallen = np.nan_to_num(logs[0] - np.maximum(*logs[1:].reshape(2, -1)), nan=np.inf)
    least: Array = np.minimum.accumulate(fallen[::-1])[::-1]
    return at, least


def _along(law: Law, row: Array, direction: Array, places: Array) -> Array:
    """Return the log density where the moved number of one row is each of `places`."""
    shifts = places - float(row[int(np.argmax(direction))])
    return law.log(row + shifts[:, None] * direction)


def _curve(law: Law, logs: Array, grid: Array) -> Array:
    """Return the distribution function of a number on its grid, given the others of the first row; not scaled."""
    density = np.nan_to_num(np.exp(logs - np.max(logs, initial=-np.inf, where=~np.isnan(logs))), nan=0.0)
    parts = density if law.whole else (density[1:] + density[:-1]) / 2 * np.diff(grid)
    return np.concatenate([[0.0], np.cumsum(parts)])


def _separate(law: Law, direction: Array) -> bool:
    """Return whether the law of a number is the same whatever the others are, on some rows."""
    rows = law.output[:_COMPARED].astype(np.float64)
    column = rows[:, int(np.argmax(direction))]
    ends = [law.log(rows + (end - column)[:, None] * direction) for end in np.quantile(column, (0.1, 0.5, 0.9))]
    with np.errstate(invalid="ignore"):
        apart = np.stack([ends[1] - ends[0], ends[2] - ends[1]])
    finite = bool(np.isfinite(apart).all())
    return finite and bool(np.ptp(apart, axis=1).max() <= _SAME * (1 + np.abs(apart).max()))


def _at(law: Law, direction: Array, grid: Array, curve: Array) -> Array:
    """Return the distribution function at the number of every row; a place inside a whole number's step."""
    column = law.output[:, int(np.argmax(direction))]
    if not law.whole:
        return np.asarray(np.interp(column, grid, curve) / (curve[-1] or 1.0))
    index = (column - grid[0]).astype(np.int64)
    inside = _inside(direction, len(column))
    return np.asarray((curve[index] + inside * (curve[index + 1] - curve[index])) / curve[-1])


def _inside(direction: Array, rows: int) -> Array:
    """Return places inside the steps of a whole number; of another number they are others, or two would look alike."""
    return np.random.default_rng((_SEED, int(np.argmax(direction)))).random(rows)


def _given(law: Law, direction: Array, grid: Array, rows: int) -> Array:
    """Return the distribution function of a number given the others of its own row, on the first rows."""
    half = _GRID // 2
    probabilities = np.zeros(rows)
    inside = _inside(direction, rows)
    reach = float(grid[-1] - grid[0]) * _AWAY
    steps = np.arange(-half, half + 1) if law.whole else _graded(reach, half)
    for start in range(0, rows, _AT_ONCE):
        block = law.output[start : min(start + _AT_ONCE, rows)].astype(np.float64)
        moved = block[:, None, :] + steps[None, :, None] * direction
        logs = law.log(moved.reshape(-1, block.shape[1])).reshape(len(block), len(steps))
        density = np.nan_to_num(np.exp(logs - np.nanmax(logs, axis=1, keepdims=True)), nan=0.0)
        own = slice(start, start + len(block))
        if law.whole:
            below = density[:, :half].sum(axis=1) + inside[own] * density[:, half]
            probabilities[own] = below / density.sum(axis=1)
            continue
        parts = (density[:, 1:] + density[:, :-1]) / 2 * np.diff(steps)
        probabilities[own] = parts[:, :half].sum(axis=1) / parts.sum(axis=1)
    return probabilities


def _graded(reach: float, half: int) -> Array:
    """Return steps to both sides of 0, finer near it."""
    away = reach * (np.arange(1, half + 1) / half) ** 2
    return np.concatenate([-away[::-1], [0.0], away])


def _mass(law: Law, curves: list[Array], logs: list[Array]) -> float:
    """Return the mass of a density whose numbers are independent."""
    own = float(law.log(law.output[:1].astype(np.float64))[0])
    parts = [np.log(curve[-1]) + log.max() - own for curve, log in zip(curves, logs, strict=True)]
    return float(np.exp(own + sum(parts))) if np.isfinite(own) else 0.0


def unread_answers(law: Law, other: Any, unread: tuple[int, ...]) -> tuple[int, ...]:
    """Return the unread places whose number is one and the same in all runs of an answer, and moves with it.

    `other` holds flat outputs of another answer.
    """
    still = [index for index in unread if not np.ptp(law.output[:, index]) and not np.ptp(other[:, index])]
    return tuple(index for index in still if law.output[0, index] != other[0, index])
