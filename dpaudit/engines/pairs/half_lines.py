"""Cells of the loss of two mixtures of shifts of one noise, whose loss grows with the output.

A cell is an interval of outputs between two knots; knots are whole multiples of the width, one of them at 0, and the
output of each is found by Newton's method on a table. What the method leaves is measured and counts as `slack`.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpaudit.engines.pairs.cells import TINY, Cells
from dpaudit.engines.pairs.mixture import MOST_CELLS
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import MixtureLoss

_NODES = 5  # of the quadrature in each panel
_PANEL = 0.1  # twice a panel's length times the reach of its outputs
_TABLE = 1 << 13
_STEPS = 6
_WEIGHTS = 2e-12  # relative; what a weight, the tables and the atoms may be wrong by
_MANY = 1e-11  # the same for more than 400 weights, whose binomial probabilities come from logarithms
_ROWS = 1 << 16  # panels that are integrated at a time


@dataclass(frozen=True, slots=True)
class _Line:
    """Both mixtures as arrays of shifts and weights."""

    noise: str
    above: tuple[Floats, Floats]
    below: tuple[Floats, Floats]

    def log_densities(self, at: Floats) -> tuple[Floats, Floats]:
        """Return both log densities, up to one constant."""
        return self._log_density(self.above, at), self._log_density(self.below, at)

    def _log_density(self, side: tuple[Floats, Floats], at: Floats) -> Floats:
        away = at[..., None] - side[0]
        sizes = np.log(side[1]) - (away * away / 2 if self.noise == "gaussian" else np.abs(away))
        top = sizes.max(axis=-1)
        return np.asarray(top + np.log(np.exp(sizes - top[..., None]).sum(axis=-1)), np.float64)

    def loss(self, at: Floats) -> Floats:
        """Return the loss of each output."""
        first, second = self.log_densities(at)
        return first - second

    def slope(self, at: Floats) -> Floats:
        """Return how fast the loss grows."""
        return np.asarray(self._pull(self.above, at) - self._pull(self.below, at), np.float64)

    def _pull(self, side: tuple[Floats, Floats], at: Floats) -> Floats:
        away = at[..., None] - side[0]
        sizes = np.log(side[1]) - (away * away / 2 if self.noise == "gaussian" else np.abs(away))
        share = np.exp(sizes - sizes.max(axis=-1, keepdims=True))
        force = -away if self.noise == "gaussian" else -np.sign(away)
        return np.asarray((share * force).sum(axis=-1) / share.sum(axis=-1), np.float64)

    def tail(self, side: tuple[Floats, Floats], at: float, *, right: bool) -> float:
        """Return the probability beyond an output, on one side of it."""
        away = (at - side[0]) * (1 if right else -1)
        if self.noise == "gaussian":
            return float(side[1] @ ndtr(-away)) + TINY
        return float(side[1] @ np.where(away > 0, np.exp(-np.abs(away)) / 2, 1 - np.exp(-np.abs(away)) / 2)) + TINY


def half_line_cells(loss: MixtureLoss, width: float, tail: float) -> Cells:
    """Return cells of about `width`; losses of probability about `tail` may be left outside.

    Guarantee: both integrals of each cell are right to a relative `error`, as in `mixture.mixture_cells`: where the
    length of a panel times the largest distance to a shift is at most 1/20, five Gauss-Legendre nodes err by less than
    1e-16 of the integral. The integrand p (1 - e^(l_j - L)) is positive; a loss that is off by `slack` moves it by
    2 slack / width of itself.
    """
    above, below = (np.array(side, np.float64).T for side in (loss.above, loss.below))
    line = _Line(loss.noise, (above[0], above[1]), (below[0], below[1]))
    low, high = _range(loss, line, tail)
    ends = line.loss(np.array([low, high]))
    h = max(width, float(ends[1] - ends[0]) / (MOST_CELLS - 4))
    first = math.floor(float(ends[0]) / h)
    knots = np.asarray(h * np.arange(first, math.ceil(float(ends[1]) / h) + 1), np.float64)
    outputs = _outputs(line, knots, low, high)
    inner = line.loss(outputs[1:-1])
    size = max(abs(low), abs(high)) * (abs(loss.above[-1][0]) + abs(loss.below[0][0]) + 1)
    rounding = 2.0**-48 * (1 + size)
    slack = rounding + (float(np.abs(inner - knots[1:-1]).max()) if len(inner) else 0.0)
    up, down = _integrals(line, outputs, knots, h)
    outside = [line.tail(line.above, high, right=True), line.tail(line.above, low, right=False)]
    if loss.noise == "laplace":  # beyond all shifts the loss is constant: two atoms
        for mass, end in zip(outside, (high, low), strict=True):
            _add_atom(up, down, mass, float(line.loss(np.array([end]))[0]), knots)
        outside = [TINY, TINY]
    scale = -math.expm1(-h)
    return Cells(
        origin=h * first,
        width=h,
        up=np.maximum(up / scale, TINY),
        down=np.maximum(down / scale, TINY),
        above=outside[0],
        below=outside[1],
        below_other=line.tail(line.below, low, right=False) if loss.noise == "gaussian" else 0.0,
        error=(_MANY if len(loss.above) + len(loss.below) > 400 else _WEIGHTS)
        + 1e-15 * (40 + 4 * (abs(low) + abs(high)) ** 2)
        + 2 * slack / h,
        slack=slack,
    )


def _range(loss: MixtureLoss, line: _Line, tail: float) -> tuple[float, float]:
    """Return outputs between which all but a probability of about `tail` lies; beyond all shifts of a Laplace noise.

    A shift so rare that `tail` is met without it does not widen the range.
    """
    low, high = loss.below[0][0], loss.above[-1][0]
    if loss.noise == "laplace":
        return low, high
    tail = max(tail, 1e-290)
    reach = math.sqrt(2 * math.log(1 / tail)) + 0.1
    first, last = float(line.above[0][line.above[1] > tail / len(line.above[1])][-1]), high + reach
    while last - first > 0.1 and first < last:
        middle = (first + last) / 2
        first, last = (middle, last) if line.tail(line.above, middle, right=True) > tail else (first, middle)
    return low - reach, last


def _outputs(line: _Line, knots: Floats, low: float, high: float) -> Floats:
    """Return outputs at which the loss is each knot, the ends of the range for the first and the last."""
    table = np.linspace(low, high, _TABLE)
    losses = np.maximum.accumulate(line.loss(table))
    index = np.clip(np.searchsorted(losses, knots), 1, _TABLE - 1)
    lefts, rights = table[index - 1], table[index]
    at = (lefts + rights) / 2
    for _ in range(_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (line.loss(at) - knots) / line.slope(at)
        at = np.clip(np.where(np.isfinite(step), at - step, at), lefts, rights)
    at[0], at[-1] = low, high
    return np.asarray(np.maximum.accumulate(at), np.float64)


def _add_atom(up: Floats, down: Floats, mass: float, loss: float, knots: Floats) -> None:
    """Add an atom to the integrals of the cell in which its loss lies."""
    cell = min(max(int(np.searchsorted(knots, loss)) - 1, 0), len(up) - 1)
    h = float(knots[1] - knots[0])
    rise = min(max(loss - float(knots[cell]), 0.0), h)
    up[cell] += mass * -math.expm1(-rise)
    down[cell] += mass * math.expm1(h - rise) * math.exp(-h)


def _integrals(line: _Line, outputs: Floats, knots: Floats, h: float) -> tuple[Floats, Floats]:
    """Return p - q e^(l_j) and q e^(l_j) - p e^-h of each cell, panel by panel; no panel holds a kink of the noise."""
    number = len(knots) - 1
    up, down = np.zeros(number), np.zeros(number)
    if line.noise == "laplace":
        kinks = np.concatenate([line.above[0], line.below[0]])
        edges = np.unique(np.concatenate([outputs, kinks]))
    else:
        edges = outputs
    starts, stops = edges[:-1], edges[1:]
    cells = np.clip(np.searchsorted(outputs, (starts + stops) / 2) - 1, 0, number - 1)
    shifts = np.concatenate([line.above[0], line.below[0]])
    spread = float(shifts.max() - shifts.min()) + 1
    far = np.maximum(np.abs(starts), np.abs(stops)) + float(np.abs(shifts).max()) if line.noise == "gaussian" else 2.0
    pieces = np.maximum(1, np.ceil(2 * (stops - starts) * (far + spread) / _PANEL)).astype(np.int64)
    pieces[stops <= starts] = 0
    owner = np.repeat(np.arange(len(starts)), pieces)
    piece = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    constant = -math.log(2 * math.pi) / 2 if line.noise == "gaussian" else -math.log(2)
    for start in range(0, len(owner), _ROWS):
        part = slice(start, start + _ROWS)
        length = ((stops - starts) / np.maximum(pieces, 1))[owner[part]]
        at = starts[owner[part]][:, None] + length[:, None] * (piece[part][:, None] + (1 + nodes) / 2)
        first, second = line.log_densities(at)
        mass = length[:, None] / 2 * weights * np.exp(first + constant)
        cell = cells[owner[part]]
        rise = np.clip(first - second - knots[cell][:, None], 0.0, h)
        up += np.bincount(cell, (mass * -np.expm1(-rise)).sum(axis=1), number)
        fall = np.expm1(h - rise) * math.exp(-h)
        down += np.bincount(cell, (mass * fall).sum(axis=1), number)
    return up, down
