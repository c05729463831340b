"""The mean of likelihood ratios over steps, on knots evenly spaced in logarithms: sums of positive terms alone.

A law is an array of masses: that of ratio 0, then those of the ratios e^(low + i step). A ratio between two knots is
shared between them so that its mean stays: of a law this dominates, as what is asked is convex in the ratio; of labels
it is a draw that the ratio decides. No difference is taken, so that rounding is relative wherever the mass lies.
"""

import math
from typing import NamedTuple

import numpy as np

from dpaudit.verifier.refusals import Array

ROUNDED = 1e-11
"""Relative, for each step: more than rounding makes of a sum of 2^14 positive terms."""


class Knots(NamedTuple):
    """Ratios e^`low`, e^(`low` + `step`), .., as many as `size`."""

    low: float
    step: float
    size: int

    @property
    def logarithms(self) -> Array:
        """The logarithms of the ratios."""
        return np.asarray(self.low + self.step * np.arange(self.size))


def knots_for(low: float, high: float, steps: int, size: int) -> Knots:
    """Return about so many knots from `low` to `high`, and room above for the sum of as many ratios as `steps`."""
    step = max((high - low) / size, 1e-6)
    return Knots(low, step, math.ceil((high + math.log(steps) - low) / step) + 4 * steps.bit_length() + 4)


def on_knots(knots: Knots, logarithms: Array, masses: Array) -> Array:
    """Return masses at ratios shared between the knots on both sides, those below the first one with ratio 0."""
    phase = np.maximum((logarithms - knots.low) / knots.step, 0.0)
    where = np.floor(phase).astype(np.int64)
    up = masses * (np.expm1((phase - where) * knots.step) / math.expm1(knots.step))
    shrink = np.exp(np.minimum(logarithms - knots.low, 0.0))
    law = np.bincount(where + 1, (masses - up) * shrink, knots.size + 1) + np.bincount(where + 2, up, knots.size + 1)
    law[0] += float((masses * -np.expm1(np.minimum(logarithms - knots.low, 0.0))).sum())
    return np.asarray(law)


def summed(knots: Knots, steps: int, each: Array, record: Array | None = None) -> tuple[Array, Array]:
    """Return the law of a sum over steps, and that where one step, each as likely, has the `record`'s law.

    Guarantee: every mass is right to a relative `ROUNDED` for each step.
    """
    record = each if record is None else record
    total, marked, done = each, record, 1
    for bit in f"{steps:b}"[1:]:
        marked = _joined(knots, marked, total) if record is not each else total
        total, done = _joined(knots, total, total), 2 * done
        if bit == "1":
            if record is not each:
                marked = (done * _joined(knots, marked, each) + _joined(knots, total, record)) / (done + 1)
            total, done = _joined(knots, total, each), done + 1
    return total, marked if record is not each else total


def _joined(knots: Knots, first: Array, second: Array) -> Array:
    """Return the law of a sum of two ratios: e^a (1 + e^-d) for each distance d, and as it is but for d far out.

    From the distance `far` on a sum lies next to its larger ratio, and all smaller ratios count together.
    """
    size, step, grown = knots.size, knots.step, math.expm1(knots.step)
    far = min(size, math.ceil(-math.log(grown) / step) + 1)
    a, b = first[1:], second[1:]
    law = np.zeros(size + math.ceil(math.log(2) / step) + 2)
    law[:size] += first[0] * b + second[0] * a
    for distance in range(far):
        above = math.log1p(math.exp(-distance * step)) / step
        moved = int(above)
        both = a[distance:] * b[: size - distance]
        if distance:
            both += a[: size - distance] * b[distance:]
        up = both * (math.expm1((above - moved) * step) / grown)
        law[distance + moved : size + moved] += both - up
        law[distance + moved + 1 : size + moved + 1] += up
    ratios = np.exp(knots.logarithms - knots.low)
    for large, small in ((a, b), (b, a)):
        below, means = (np.cumsum(row)[: size - far] for row in (small, small * ratios))
        up = large[far:] * (means / ratios[far:] / grown)
        law[far:size] += large[far:] * below - up
        law[far + 1 : size + 1] += up
    return np.append(first[0] * second[0], law[:size])
