"""A pair of laws (P, Q) on finitely many outputs: one that dominates a loss, or one that it dominates.

An atom has its loss l and its probability m under P; under Q it has m e^-l. A pair from above is rounded so that its
curve is nowhere below that of the loss; one from below so that each probability under P is no larger, and each under Q
no less, once the pair's relative `error` is counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.engines.transform import Floats
from dpaudit.model.losses.sampled_ratios import absent, log_absent, sampled_losses

_UNIT = 2.0**-53
_TINY, _DUST, _RARE = 1e-300, 1e-295, 1e-290
_MOST = 1 << 22  # knots of a pair
_WEIGHTS = 4e-11  # relative; what the weights of an average may be wrong by


@dataclass(frozen=True, slots=True, kw_only=True)
class FinitePair:
    """Atoms, and what either law has alone: `infinite` under P, `missing` under Q. Atoms err by a relative `error`."""

    losses: Floats
    masses: Floats
    infinite: float = 0.0
    missing: float = 0.0
    error: float = 0.0

    def reversed(self) -> "FinitePair":
        """Return the pair (Q, P)."""
        size = float(np.abs(self.losses).max(initial=0.0))
        return FinitePair(
            losses=-self.losses,
            masses=self.masses * np.exp(-self.losses),
            infinite=self.missing,
            missing=self.infinite,
            error=self.error + 4 * _UNIT * (2 + size),
        )

    def sampled(self, rate: float) -> "FinitePair":
        """Return the pair ((1 - rate) Q + rate P, Q).

        An atom goes from l to ln(1 - rate + rate e^l), its probability under Q staying; a loss that is computed within
        some ulps moves that probability as little.
        """
        losses = sampled_losses(self.losses, rate)
        masses = rate * self.masses + absent(rate) * self.masses * np.exp(-self.losses)
        if self.missing:
            losses = np.append(losses, log_absent(rate))
            masses = np.append(masses, absent(rate) * self.missing)
        size = float(np.abs(self.losses).max(initial=0.0)) - log_absent(rate)
        return FinitePair(
            losses=np.asarray(losses, np.float64),
            masses=np.asarray(masses, np.float64),
            infinite=rate * self.infinite,
            error=self.error + 8 * _UNIT * (4 + size),
        )

    def gathered(self, width: float) -> "FinitePair":
        """Return the pair with the atoms of each cell of a width as one output, which this pair dominates."""
        width = _bounded(self, width)
        at = np.floor(self.losses / width).astype(np.int64)
        first = int(at.min(initial=0))
        masses = np.bincount(at - first, self.masses)
        others = np.bincount(at - first, self.masses * np.exp(-self.losses))
        likely = (masses > _TINY) & (others > _TINY)
        size = float(np.abs(self.losses).max(initial=0.0))
        return FinitePair(
            losses=np.log(masses[likely] / others[likely]),
            masses=np.asarray(masses[likely], np.float64),
            infinite=self.infinite,
            missing=self.missing,
            error=self.error + 4 * _UNIT * (len(self.losses) + size + 8),
        )

    def without_dust(self) -> "FinitePair":
        """Return a pair from above whose atoms are no rarer than floats tell apart; the others count as infinite."""
        seen = self.masses > _DUST
        if seen.all():
            return self
        lost = float(self.masses[~seen].sum()) * (1 + self.error + 1e-12)
        infinite = min(1.0, self.infinite + lost)
        return replace(self, losses=self.losses[seen], masses=self.masses[seen], infinite=infinite)

    def delta_above(self, epsilon: float) -> float:
        """Return delta(epsilon) of a pair from above, rounded up."""
        above = self.losses > epsilon
        finite = float((self.masses[above] * -np.expm1(epsilon - self.losses[above])).sum())
        blur = 4 * _UNIT * (1 + abs(epsilon) + float(np.abs(self.losses).max(initial=0.0))) * float(self.masses.sum())
        return min(1.0, (finite + self.infinite + blur) * (1 + self.error + 1e-12) + _TINY)

    def deltas_above(self, width: float, number: int) -> Floats:
        """Return delta at 0, width, 2 width, ... of a pair from above, rounded up, in one pass over the atoms.

        With e = j width, S the mass of losses of e + width or more, and c what those between both places gain,
        delta(e) = c + (1 - e^-width) S + e^-width delta(e + width): sums of terms that are never negative.
        """
        at = np.clip(np.floor(self.losses / width), -1, number - 1).astype(np.int64)
        positive = at >= 0
        at, losses, masses = at[positive], self.losses[positive], self.masses[positive]
        gains = np.bincount(at, masses * np.maximum(0.0, -np.expm1(width * at - losses)), number)
        beyond = np.append(np.cumsum(np.bincount(at, masses, number)[::-1])[-2::-1], 0.0)
        decay, finite = math.exp(-width), gains - math.expm1(-width) * beyond
        for j in range(number - 2, -1, -1):
            finite[j] += decay * finite[j + 1]
        size = float(np.abs(self.losses).max(initial=0.0))
        blur = 4 * _UNIT * (1 + width * np.arange(number) + size) * float(self.masses.sum())
        summed = 4 * _UNIT * (number + int(np.bincount(at).max(initial=0)))
        return np.minimum(1.0, (finite + self.infinite + blur) * (1 + self.error + 1e-12 + summed) + _TINY)

    def delta_below(self, epsilon: float) -> float:
        """Return delta(epsilon) of a pair from below, rounded down: the best threshold of the loss."""
        above = self.losses > epsilon
        masses, losses = self.masses[above], self.losses[above]
        under_q = masses * np.exp(np.minimum(epsilon - losses, 0.0))
        total = float(masses.sum()) * (1 - self.error - 1e-12) - float(under_q.sum()) * (1 + self.error + 1e-12)
        return max(0.0, total + self.infinite * (1 - self.error - 1e-12))


def told_apart(lower: Floats, upper: Floats, infinite: float) -> FinitePair:
    """Return a pair from below by the laws of a label, rounded down under P and up under Q; rare ones are left out."""
    likely = (lower > _RARE) & (upper > _RARE)
    losses = np.asarray(np.log(lower[likely] / upper[likely]), np.float64)
    return FinitePair(losses=losses, masses=lower[likely], infinite=infinite, error=1e-13)


def average(pairs: Sequence[tuple[float, FinitePair]]) -> FinitePair:
    """Return the pair whose outputs show a public coin, and then what the coin picks."""
    return FinitePair(
        losses=np.concatenate([pair.losses for _, pair in pairs]),
        masses=np.concatenate([weight * pair.masses for weight, pair in pairs]),
        infinite=math.fsum(weight * pair.infinite for weight, pair in pairs),
        missing=math.fsum(weight * pair.missing for weight, pair in pairs),
        error=max(pair.error for _, pair in pairs) + _WEIGHTS,
    )


def stitched(positive: FinitePair, negative: FinitePair, width: float) -> FinitePair:
    """Return a pair above `positive` at epsilons of 0 or more and above `negative` below, both being from above.

    Atoms of `positive` above 0 give the curve at x = e^epsilon >= 1. For x <= 1 the curve of any pair is 1 - x plus
    what its atoms of negative loss gain, so that atoms of `negative` give it, if all probabilities sum to 1 under P and
    to at most as much under Q: an atom at 0 fills them up, and what Q would then have too much is given to infinity.
    """
    width = max(_bounded(pair, width) for pair in (positive, negative))
    right, left = (placed(pair, width) for pair in (positive, negative))
    above, below = right.losses > width / 2, left.losses < -width / 2
    losses = np.concatenate([left.losses[below], right.losses[above]])
    masses = np.concatenate([left.masses[below], right.masses[above]])
    under_p = math.fsum(masses) + right.infinite
    under_q = math.fsum(masses * np.exp(-losses)) + left.missing
    error = max(positive.error, negative.error) + 1e-13
    middle = max(0.0, 1 - under_p) + error
    excess = max(0.0, under_q - under_p)
    return FinitePair(
        losses=np.append(losses, 0.0),
        masses=np.append(masses, middle),
        infinite=right.infinite + excess,
        missing=left.missing + max(0.0, 1 - under_q - middle),
        error=error,
    )


def stitched_below(positive: FinitePair, negative: FinitePair, near: float) -> FinitePair:
    """Return a pair below the one that has the outputs of `positive` over 0, those of `negative` below, and one more.

    Outputs within `near` of 0 are merged with the rest, of which either law has what the others leave.
    """
    above, below = positive.losses > near, negative.losses < -near
    losses = np.concatenate([negative.losses[below], positive.losses[above]])
    masses = np.concatenate([negative.masses[below], positive.masses[above]])
    error = max(positive.error, negative.error) + 1e-12
    under_p = 1 - (math.fsum(masses) + positive.infinite) * (1 + error)
    under_q = 1 - math.fsum(masses * np.exp(-losses)) * (1 - error)
    if under_p > _TINY and under_q > _TINY:
        losses, masses = np.append(losses, math.log(under_p / under_q)), np.append(masses, under_p)
    return FinitePair(losses=losses, masses=masses, infinite=positive.infinite, error=error)


def _bounded(pair: FinitePair, width: float) -> float:
    """Return a width with which a pair has at most some millions of knots; any width serves a proof."""
    span = float(pair.losses.max(initial=0.0)) - float(pair.losses.min(initial=0.0))
    return max(width, span / _MOST)


def placed(pair: FinitePair, width: float) -> FinitePair:
    """Return a pair on whole multiples of a width that dominates `pair`: atoms split between two, keeping p and q.

    The curve at every multiple stays what it was.
    """
    width = _bounded(pair, width)
    size = float(np.abs(pair.losses).max(initial=0.0))
    first, masses = split_masses(pair, width, 0.0)
    occupied = np.flatnonzero(masses)
    return replace(
        pair,
        losses=np.asarray(width * (first + occupied), np.float64),
        masses=np.asarray(masses[occupied], np.float64),
        error=pair.error + 1e-13 + 4 * _UNIT * size,
    )


def split_masses(pair: FinitePair, width: float, knot: float) -> tuple[int, Floats]:
    """Return atoms split between the knots beside them, a whole number of widths from `knot`, which keeps p and q.

    Shape: the number of the first knot, and the masses from it on.
    Guarantee: each share is right to a relative 1e-14, given the place of the atom among the knots.
    """
    phases = (pair.losses - knot) / width
    at = np.floor(phases)
    part = phases - at
    first = int(at.min(initial=0.0))
    places = (at - first).astype(np.int64)
    scale = math.expm1(-width)
    lift = np.expm1(-part * width) / scale
    stay = np.exp(-part * width) * np.expm1(-(1 - part) * width) / scale
    return first, added_up(places, pair.masses * stay, pair.masses * lift)


def added_up(at: NDArray[np.int64], low: Floats, high: Floats) -> Floats:
    """Return the sums of `low` at the knots `at` and of `high` at those above, up to the last that is not 0."""
    number = int(at.max(initial=0)) + 2
    sums = np.bincount(at, low, number) + np.bincount(at + 1, high, number)
    return np.asarray(sums if sums[-1] else sums[:-1], np.float64)
