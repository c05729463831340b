"""Pairs for releases at one secret step of few: the mean of likelihood ratios on knots evenly spaced in logarithms.

A window of evenly spaced ratios must cap the largest ones, which are few steps' whole cost. On knots e^(low + i h) a
ratio between two knots is shared between both so that its mean stays, which dominates as delta is the mean of a convex
function of the ratio; a label is shared by chance. The place of a sum e^u + e^v depends on u and u - v alone. All terms
are positive, so that rounding is relative.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dpaudit.engines.pairs.finite_pair import FinitePair, told_apart
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import SampledOrder

_MOST_STEPS = 1 << 10  # a sum of more is known closely on evenly spaced ratios
_OF_SQUARE = 32.0  # times the mean square of a ratio: a mean over more steps is next to 1, where even knots are closer
_LARGE = 8.0  # a loss from which on evenly spaced ratios are too far apart
_RARE: dict[SampledOrder, float] = {"remove": 1e-12, "add": 1e-5}  # the probability under P of what these may cap
_KNOTS, _LEAST_KNOTS = 1 << 13, 1 << 12
_FARTHEST = 1e-30  # the probability under P of larger ratios, which count as told apart, and of smaller ones under Q
_LARGEST = 600.0
_ROUNDING = 1e-11  # relative, for each step: more than sums of 2^14 positive terms err by
_UNIT = 2.0**-53
Laws: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioKnots:
    """The ratios e^(low + i step) for i from 0 to size - 1; a law on them has a further mass, of ratio 0, in front."""

    low: float
    step: float
    size: int

    @property
    def logarithms(self) -> Floats:
        """The logarithms of the ratios."""
        return np.asarray(self.low + self.step * np.arange(self.size), np.float64)

    def shared(self, logarithms: Floats, masses: Floats) -> Floats:
        """Return masses at ratios as masses on the knots, of the same sum and the same mean ratio."""
        inside = np.exp(np.minimum(logarithms - self.low, 0.0))
        phase = np.maximum(logarithms - self.low, 0.0) / self.step
        knot = phase.astype(np.int64)
        upper = inside * np.expm1((phase - knot) * self.step) / math.expm1(self.step)
        on_knots = np.zeros(self.size + 1)
        np.add.at(on_knots, knot + 1, masses * (inside - upper))
        np.add.at(on_knots, knot + 2, masses * upper)
        on_knots[0] += float((masses * -np.expm1(np.minimum(logarithms - self.low, 0.0))).sum())
        return on_knots

    def added(self, first: Floats, second: Floats) -> Floats:
        """Return the law of the sum of two independent ratios.

        Where the larger one is so much larger that the sum lies below its next knot, all smaller ones count at once.
        """
        a, b, size = first[1:], second[1:], self.size
        next_knot = math.expm1(self.step)
        close = min(size, math.ceil(-math.log(next_knot) / self.step) + 1)
        law = np.zeros(2 * size)
        law[:size] = first[0] * b + second[0] * a
        for gap in range(close):
            phase = math.log1p(math.exp(-gap * self.step)) / self.step
            knot = int(phase)
            product = a[gap:] * b[: size - gap] + (b[gap:] * a[: size - gap] if gap else 0.0)
            upper = product * (math.expm1((phase - knot) * self.step) / next_knot)
            law[gap + knot : size + knot] += product - upper
            law[gap + knot + 1 : size + knot + 1] += upper
        ratios = np.exp(self.step * np.arange(size))
        for larger, smaller in ((a, b), (b, a)):
            product = larger[close:] * np.cumsum(smaller)[: size - close]
            upper = larger[close:] * np.cumsum(smaller * ratios)[: size - close] / (ratios[close:] * next_knot)
            law[close:size] += product - upper
            law[close + 1 : size + 1] += upper
        return np.concatenate([[first[0] * second[0]], law[:size]])

    def power(self, law: Floats, steps: int) -> Floats:
        """Return the law of the sum of as many ratios of one law."""
        if steps == 1:
            return law
        half = self.power(law, steps // 2)
        both = self.added(half, half)
        return self.added(both, law) if steps % 2 else both

    def of_steps(self, without: Floats, record: Floats, steps: int) -> Laws:
        """Return the laws of the sum of all steps: none with the record, and one, each as likely, with the record."""
        if steps == 1:
            return without, record
        half, marked = self.of_steps(without, record, steps // 2)
        unmarked, marked = self.added(half, half), self.added(marked, half)
        if steps % 2:
            marked = ((steps - 1) * self.added(marked, without) + self.added(unmarked, record)) / steps
            unmarked = self.added(unmarked, without)
        return unmarked, marked


def is_few(step: FinitePair, steps: int, order: SampledOrder) -> bool:
    """Return whether steps are so few, and ratios so large, that evenly spaced ratios do not hold them."""
    square = float(step.masses @ np.exp(np.minimum(step.losses, _LARGEST)))
    large = float(step.masses[step.losses > _LARGE].sum()) > _RARE[order]
    return large and 1 < steps <= min(_MOST_STEPS, _OF_SQUARE * square)


def few_above(step: FinitePair, steps: int, width: float, order: SampledOrder) -> FinitePair:
    """Return a pair that dominates the allocation of one step, which `step` dominates, in an order of the neighbours.

    Guarantee: ratios that are capped are given to infinity with all their probability under P.
    """
    knots, cap = _knots(step, steps, width)
    under_q = step.masses * np.exp(-step.losses) * (1 + step.error + 1e-14)
    each = knots.shared(np.minimum(step.losses, cap), under_q)
    each[0] += step.missing
    law = knots.power(each, steps) * (1 + steps * _ROUNDING)
    means = knots.logarithms - math.log(steps)
    lost = float(step.masses[step.losses > cap].sum()) * (1 + step.error + 1e-12)
    removed = FinitePair(
        losses=means,
        masses=np.asarray(law[1:] * np.exp(means), np.float64),
        infinite=min(1.0, step.infinite + lost),
        missing=float(law[0]),
        error=step.error + 8 * _UNIT * (8 + float(np.abs(means).max())),
    )
    return removed if order == "remove" else removed.reversed()


def few_below(step: FinitePair, steps: int, width: float, order: SampledOrder) -> FinitePair:
    """Return a pair that the allocation of one step dominates: the sum of labels, under the one law and the other."""
    knots, cap = _knots(step, steps, width)
    at = np.minimum(step.losses, cap)
    without, record = (knots.shared(at, row) for row in (step.masses * np.exp(-step.losses), step.masses))
    unmarked, marked = knots.of_steps(without, record, steps)
    first, second = (marked, unmarked) if order == "remove" else (unmarked, marked)
    off = steps * (_ROUNDING + step.error)
    return told_apart(first * (1 - off), second * (1 + off), step.infinite * (1 - 1e-12) if order == "remove" else 0.0)


def _reached(losses: Floats, masses: Floats) -> float:
    """Return the largest loss but for what is rarer than matters."""
    ranks = np.argsort(-losses, kind="stable")
    beyond = int(np.searchsorted(np.cumsum(masses[ranks]), _FARTHEST))
    return float(losses[ranks[min(beyond, len(ranks) - 1)]])


def _knots(step: FinitePair, steps: int, width: float) -> tuple[RatioKnots, float]:
    """Return knots for the sum of all steps, about a `width` apart, and the logarithm of the largest ratio."""
    cap = min(_reached(step.losses, step.masses), _LARGEST)
    low = min(cap, max(-_reached(-step.losses, step.masses * np.exp(-step.losses)), cap - _LARGEST))
    count = min(_KNOTS, max(_LEAST_KNOTS, math.ceil(2 * (cap - low) / width)))
    apart = max((cap - low) / count, 1e-6)
    size = math.ceil((cap + math.log(steps) - low) / apart) + 4 * steps.bit_length() + 4
    return RatioKnots(low=low, step=apart, size=size), cap
