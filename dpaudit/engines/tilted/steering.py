"""Tilt, centre, window and grid of a composition, found in plain floating point.

Nothing here enters a proof: any tilt, width and window give true bounds, and good ones give narrow bounds. With
K(s) = ln E_P[e^(s L)] the weight e^(s L) has its mean at K'(s), and the sum that is delta(epsilon) its largest terms
near epsilon where K'(s) - 1/s - 1/(1+s) = epsilon (the saddle of K(s) - s epsilon - ln s - ln(1+s)).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.transform import Floats

COARSE = 1000
"""Cells of one loss where it is looked at in floating point."""
_NEAR = 1 << 10  # cells around 0 that stay apart
_JOINED = 1.005  # sizes of losses that are joined beyond
_FINEST = 1e-9  # a deviation, in units of the largest loss, below which a tilt gains nothing
_FLAT = 1e-2  # a deviation, in units of 1 / tilt, below which nearly all weight lies on one loss
_SPREAD = 0.02  # of a variance
_ON_KNOT = 1e-6  # of a spacing
_ROUGHNESS = 1.0 / 6.0  # mean of (l - a)(b - l) over a cell of width 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Atoms:
    """Losses and masses of one part in floating point, how often it occurs, and which share lies between knots.

    Knots are `width` apart.
    """

    width: float
    losses: Floats
    logarithms: Floats
    between: Floats
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """A tilt, the epsilon it is best for, and mean, deviation and roughness of the weighted sum.

    `roughness` times the width squared is the variance that knots add to the sum; `added` is what the atoms added.
    """

    tilt: float
    epsilon: float
    mean: float
    deviation: float
    roughness: float
    added: float
    log_delta: float

    @property
    def spread(self) -> bool:
        """Whether the atoms have spread the sum so much that the aim may be a poor one."""
        return self.added > _SPREAD * self.deviation**2


def atoms_of(pair: FinitePair, times: int, width: float, spacing: float | None) -> Atoms:
    """Return the masses of a pair in floating point, by their losses; those on knots of a `spacing` add no variance.

    A pair of which nothing is finite steers as one tiny mass at 0.
    """
    if not len(pair.losses):
        pair = FinitePair(losses=np.zeros(1), masses=np.zeros(1))
    order = np.argsort(pair.losses, kind="stable")
    losses, masses = pair.losses[order], np.maximum(pair.masses[order], 1e-300)
    between = masses.copy()
    if spacing is not None:
        phases = (losses[-1] - losses) / spacing
        between[np.abs(phases - np.rint(phases)) < _ON_KNOT] = 0.0
    masses, losses, between = _joined(masses, losses, between, width)
    return Atoms(
        width=width,
        losses=losses,
        logarithms=np.log(masses),
        between=np.asarray(between / masses, np.float64),
        times=times,
    )


def _joined(masses: Floats, losses: Floats, between: Floats, width: float) -> tuple[Floats, Floats, Floats]:
    """Return atoms of which those far from 0, of about one size, are joined at their mean."""
    sizes = np.maximum(np.abs(losses) / (_NEAR * width), 1.0)
    apart = np.abs(losses) <= _NEAR * width
    class_of = np.sign(losses) * np.floor(np.log(sizes) / math.log(_JOINED))
    starts = np.flatnonzero(np.concatenate([[True], apart[1:] | (np.diff(class_of) != 0)]))
    total = np.add.reduceat(masses, starts)
    return total, np.add.reduceat(masses * losses, starts) / total, np.add.reduceat(between, starts)


def aim(parts: Sequence[Atoms], tilt: float) -> Aim:
    """Return what the tilt `tilt` aims at."""
    log_moment = mean = variance = rough = added = 0.0
    for part in parts:
        sizes = part.logarithms + tilt * part.losses
        top = float(sizes.max())
        weights = np.exp(sizes - top)
        total = float(weights.sum())
        weights /= total
        middle = float(weights @ part.losses)
        log_moment += part.times * (top + math.log(total))
        mean += part.times * middle
        variance += part.times * float(weights @ (part.losses - middle) ** 2)
        own = part.times * float(weights @ part.between) * _ROUGHNESS
        rough += own
        added += own * part.width**2
    epsilon = mean - 1 / tilt - 1 / (1 + tilt)
    spread = variance + 1 / tilt**2 + 1 / (1 + tilt) ** 2
    return Aim(
        tilt=tilt,
        epsilon=epsilon,
        mean=mean,
        deviation=math.sqrt(variance),
        roughness=rough,
        added=added,
        log_delta=log_moment - tilt * epsilon - math.log(tilt * (1 + tilt)) - math.log(2 * math.pi * spread) / 2,
    )


def aimed_at_epsilon(parts: Sequence[Atoms], epsilon: float) -> Aim:
    """Return the aim whose epsilon is `epsilon`, or the nearest there is."""
    return _sought(parts, lambda tried: tried.epsilon > epsilon)


def aimed_at_delta(parts: Sequence[Atoms], delta: float) -> Aim:
    """Return the aim whose delta is about `delta`, at an epsilon of 0 or more."""
    goal = math.log(delta)
    candidate = _sought(parts, lambda candidate: candidate.log_delta < goal)
    return candidate if candidate.epsilon > 0 else aimed_at_epsilon(parts, 0.0)


def _sought(parts: Sequence[Atoms], beyond: Callable[[Aim], bool]) -> Aim:
    """Return the smallest tilt that is `beyond` what is asked, searched in logarithms around 1 over the deviation.

    A tilt that leaves nearly all weight on the largest loss is as large as any is of use.
    """
    largest = max(float(np.abs(part.losses).max()) for part in parts)
    scale = max(math.sqrt(sum(part.times * _variance(part) for part in parts)), _FINEST * largest) or 1.0
    low, high = math.log(1e-2 / scale), math.log(1e9 / scale)
    for _ in range(14):
        middle = (low + high) / 2
        candidate = aim(parts, math.exp(middle))
        largest_only = candidate.tilt * scale > 1 and candidate.deviation * candidate.tilt < _FLAT
        low, high = (low, middle) if largest_only or beyond(candidate) else (middle, high)
    return aim(parts, math.exp(high))


def _variance(part: Atoms) -> float:
    """Return the variance of one loss, not weighted."""
    weights = np.exp(part.logarithms)
    weights /= weights.sum()
    return float(weights @ (part.losses - weights @ part.losses) ** 2)
