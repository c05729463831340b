"""The window of knots for a question: its width, tilt and place, chosen so that the bracket has a wanted width."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.engines.pairs.closed import lattice_spacing
from dpaudit.engines.pairs.finite_pair import placed
from dpaudit.engines.pairs.looks import met_above, span_of
from dpaudit.engines.precision import Precision
from dpaudit.engines.tilted.steering import Aim, Atoms, atoms_of
from dpaudit.model.losses import SimpleLoss

_OUTSIDE = 1e-6  # of the difference allowed in delta: weights that may lie on either side of the window
_SLOPES = tuple(0.003 * 1.3**step for step in range(40))
"""Slopes of the moments that bound the weights outside, over the deviation."""
_SMALLEST = 1 << 10  # knots
_SHARED = 1 << 13  # knots that any number of parts may take
_SPARE = 60  # releases for each of which two knots are left free: that of either side may reach further by as much
_LONGEST = 1 << 17  # knots of one loss
_GIVE = 0.25  # octaves by which knots may be wider than wanted
_TOO_WIDE = 7  # wanted widths: the bracket is then about 50 times as wide as wanted, and more knots are taken
_WHOLE = 1 << 13  # knots that are few enough to hold everything
_MANY = 4  # atoms for each cell that is wanted, from which on they are joined where they only steer


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A number of knots of a width, from the loss `bottom` on, and the aim that placed it."""

    aim: Aim
    width: float
    bottom: float
    size: int

    @property
    def tilt(self) -> float:
        """The tilt of the weights, per knot."""
        return self.aim.tilt * self.width


def coarse(parts: Sequence[tuple[SimpleLoss, int]], tail: float, cells: int) -> tuple[Atoms, ...]:
    """Return all parts in `cells` cells each, atoms that share no grid being counted as rough."""
    spacings = _spacings(parts)
    (spacing,) = spacings if len(spacings) == 1 else (None,)
    atoms = []
    for loss, times in parts:
        width = span_of(loss, tail) / cells
        pair = met_above(loss, width, tail)
        pair = placed(pair, width) if len(pair.losses) > _MANY * cells else pair
        atoms.append(atoms_of(pair, times, width, spacing))
    return tuple(atoms)


def window(
    parts: Sequence[tuple[SimpleLoss, int]], atoms: Sequence[Atoms], aim: Aim, precision: Precision, least_width: float
) -> Window:
    """Return the window in which the weighted sum lies, with knots as near as `precision` asks and the rest allows.

    `least_width` is 0 unless losses made of others are among the parts, which are slow to put on many knots.
    """
    lowest = math.fsum(part.times * float(part.losses[0]) for part in atoms)
    highest = math.fsum(part.times * float(part.losses[-1]) for part in atoms)
    outside = math.log(_OUTSIDE * precision.delta)
    low, high = (_end(atoms, aim, sign, outside) for sign in (-1.0, 1.0))
    if aim.epsilon < low:
        low = aim.epsilon - (aim.mean - aim.epsilon) / 2
    low, high = max(low, lowest), min(high, highest)
    span = max(high - low, 1e-3 * aim.deviation, 1e-300)
    counts = (precision.least, precision.most)
    least, most = (max(_SMALLEST, 1 << int(math.log2(knots / len(parts)))) for knots in counts)
    most = max(most, min(precision.most, _SHARED))
    wanted = min(_wanted(aim, precision) or max(_spacings(parts), default=math.inf), span)
    if highest - lowest <= max(span, wanted * _WHOLE):
        low, span = lowest, max(highest - lowest, wanted)
    if not least_width and most * wanted * _TOO_WIDE < span:
        most = max(most, min(precision.widest, 1 << math.ceil(math.log2(span / (wanted * _TOO_WIDE)))))
    size = min(most, max(least, 1 << math.ceil(math.log2(span / wanted) - _GIVE)))
    spare = 8 + 2 * min(_SPARE, sum(part.times for part in atoms))
    width = _snapped(parts, span / (size - spare))
    while (size - spare) * width < span and size < most:
        size *= 2
    longest = max(float(part.losses[-1] - part.losses[0]) for part in atoms)
    knots = _LONGEST if least_width else max(_LONGEST, size // 2)
    width = max(width, span / (size - spare), longest / knots, least_width)
    size = min(size, 1 << math.ceil(math.log2(span / width + spare)))  # wider knots need fewer
    return Window(aim=aim, width=width, bottom=low - 3 * width, size=size)


def _wanted(aim: Aim, precision: Precision) -> float:
    """Return the width at which both sides together differ as wanted; 0 where all atoms are on knots.

    Knots add `roughness` width^2 to the variance, which multiplies delta by 1 + tilt (1 + tilt) / 2 times that.
    """
    epsilon = max(aim.epsilon, aim.deviation * 0.1)
    if not aim.roughness > 0:
        return 0.0
    if not epsilon > 0:
        return math.inf
    allowed = min(precision.epsilon * epsilon / (1 + aim.tilt), precision.delta / (aim.tilt * (1 + aim.tilt)))
    return math.sqrt(allowed / aim.roughness)


def _end(atoms: Sequence[Atoms], aim: Aim, sign: float, outside: float) -> float:
    """Return a loss beyond which weight e^`outside` lies, by Chernoff's inequality in floating point."""
    if not aim.deviation:
        return aim.mean
    slopes = [sign * slope / aim.deviation for slope in _SLOPES]
    ends = [(_growth(atoms, aim, slope) - outside) / slope for slope in slopes]
    return min(ends) if sign > 0 else max(ends)


def _growth(atoms: Sequence[Atoms], aim: Aim, slope: float) -> float:
    """Return the logarithm of the mean of e^(slope loss) under the weights."""
    total = 0.0
    for part in atoms:
        sizes = part.logarithms + aim.tilt * part.losses
        total += part.times * (_log_sum(sizes + slope * part.losses) - _log_sum(sizes))
    return total


def _log_sum(sizes: np.ndarray) -> float:
    """Return the logarithm of the sum of exponentials."""
    top = float(sizes.max())
    return top + math.log(float(np.exp(sizes - top).sum()))


def _spacings(parts: Sequence[tuple[SimpleLoss, int]]) -> set[float]:
    """Return the different distances between the atoms of losses that have some."""
    return {spacing for loss, _ in parts if (spacing := lattice_spacing(loss)) is not None}


def _snapped(parts: Sequence[tuple[SimpleLoss, int]], width: float) -> float:
    """Return a width, at most `width`, that puts all atoms on knots, where one spacing does so."""
    spacings = _spacings(parts)
    if len(spacings) != 1:
        return width
    (spacing,) = spacings
    return spacing / 2.0 ** max(0, math.ceil(math.log2(spacing / width)))
