"""Every outcome of a composition of atoms, counted: how often each loss occurs decides the sum and its probability.

n copies of a loss with two atoms have n + 1 outcomes, with three (n + 1)(n + 2) / 2; several losses have the product.
Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3, for n equal black boxes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.engines.engine import Ends, Engine, crossing
from dpaudit.engines.precision import Precision
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss, SimpleLoss

Floats: TypeAlias = NDArray[np.float64]
_ULP = 2.0**-52
_MOST = 1 << 20  # outcomes
_MOST_ATOMS = 8  # of one loss
_STATED = 1e-14  # relative; what floating point may have done to a stated probability
_RAREST = -700.0  # the logarithm of a probability that is left out
_LOST = 1e-297  # more than the probabilities of all outcomes that are left out
_LEAST = 1e-290  # a sum from which on what is left out does not matter
_NUDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5)
"""Relative distances from the crossing in floating point at which a proved one is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Sums of losses, sorted, with their probabilities under P within a relative `error`; sums err by `blur`."""

    sums: Floats
    masses: Floats
    error: float
    blur: float

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return bounds on the sum of m (1 - e^(`epsilon` - l)) over losses l above `epsilon`.

        A term whose gap is positive within `blur` only counts for the upper bound. Where floats underflow, the lower
        bound is 0 and the upper one above 0.
        """
        start = int(np.searchsorted(self.sums, epsilon - self.blur, side="right"))
        gaps, masses = self.sums[start:] - epsilon, self.masses[start:]
        blur = self.blur + _ULP * abs(epsilon)
        lower = float(masses @ -np.expm1(-np.maximum(gaps - blur, 0.0))) * (1 - self.error)
        upper = float(masses @ -np.expm1(-np.maximum(gaps + blur, 0.0))) * (1 + self.error)
        return lower if lower > _LEAST else 0.0, min(1.0, upper + _LOST)

    def crossing(self, delta: float) -> float:
        """Return in floating point the epsilon at which the sum of `delta` is as large as `delta`, at least 0.

        It is the largest epsilon with P(S) - e^epsilon Q(S) = `delta`, S the sums from some one on.
        """
        top = slice(int(np.searchsorted(self.sums, 0.0, side="right")), None)
        sums, masses = self.sums[top][::-1], self.masses[top][::-1]
        rest = np.cumsum(masses) - delta
        reached = rest > 0
        if not reached.any():
            return 0.0
        with np.errstate(divide="ignore"):
            under_q = np.logaddexp.accumulate(np.log(masses) - sums)
        return max(0.0, float((np.log(rest[reached]) - under_q[reached]).max()))


@lru_cache(maxsize=4)
def outcomes(composition: Composition) -> Outcomes:
    """Return all outcomes without a loss at infinity.

    An exponent adds numbers no larger than `size`, and `gammaln` is taken as good to 16 units in its last place, so
    that a probability is right to a relative 64 size ulp, and a stated one to `_error_of` each time it occurs.
    """
    sums, logs, size, stated = np.zeros(1), np.zeros(1), 16.0, 0.0
    reach = blur = 0.0
    for loss, times in composition.parts:
        values, probabilities = _atoms(loss)
        counts = _counts(times, len(values))
        factorials = gammaln(np.arange(times + 1) + 1.0)
        part = factorials[times] - factorials[counts].sum(axis=1) + counts @ np.log(probabilities)
        sums = np.add.outer(sums, counts @ values).ravel()
        logs = np.add.outer(logs, part).ravel()
        size += math.lgamma(times + 1) + times * (1 + float(np.abs(np.log(probabilities)).max()))
        stated += times * _error_of(loss)
        largest = times * float(np.abs(values).max())
        reach, blur = reach + largest, blur + largest * (loss.rounding if isinstance(loss, DiscreteLoss) else 0.0)
    kept = np.flatnonzero(logs > _RAREST)
    order = kept[np.argsort(sums[kept], kind="stable")]
    return Outcomes(
        sums=np.asarray(sums[order], np.float64),
        masses=np.asarray(np.exp(logs[order]), np.float64),
        error=64 * _ULP * size + stated + _ULP * len(order),
        blur=8 * _ULP * reach + blur,
    )


def _atoms(loss: SimpleLoss) -> tuple[Floats, Floats]:
    """Return the finite losses of a loss and their probabilities under P."""
    match loss:
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            low = math.exp(-epsilon)
            share = np.array([low, 1.0]) / (1 + low) * (1 - delta)
            kept = share > 0
            return np.array([-epsilon, epsilon])[kept], share[kept]
        case DiscreteLoss(atoms=atoms):
            values, probabilities = np.array(atoms).reshape(-1, 2).T
            return values, probabilities
        case _:
            raise AssertionError(f"{loss} has no atoms.")


def _error_of(loss: SimpleLoss) -> float:
    """Return the relative error of a stated probability: that of floating point, and what all miss a sum of 1 by."""
    if not isinstance(loss, DiscreteLoss):
        return 0.0
    return _STATED + abs(math.fsum(probability for _, probability in loss.atoms) + loss.infinite_mass - 1)


def _counts(times: int, kinds: int) -> NDArray[np.int64]:
    """Return in how many ways `times` releases fall on so many atoms, one row a way."""
    if kinds == 1:
        return np.array([[times]], np.int64)
    if kinds == 2:
        first = np.arange(times + 1, dtype=np.int64)
        return np.stack([times - first, first], axis=1)
    rows = [np.insert(_counts(times - n, kinds - 1), 0, n, axis=1) for n in range(times + 1)]
    return np.concatenate(rows)


def _ways(composition: Composition) -> Iterator[int]:
    """Yield the number of outcomes of each part, or more than are enumerated."""
    for loss, times in composition.parts:
        kinds = 2 if isinstance(loss, ApproximateLoss) else len(loss.atoms) if isinstance(loss, DiscreteLoss) else 0
        few = 0 < kinds <= _MOST_ATOMS and times <= _MOST and loss.infinite_mass < 1
        yield math.comb(times + kinds - 1, kinds - 1) if few else _MOST + 1


def _delta(composition: Composition, epsilon: float) -> Ends:
    """Bound delta(epsilon)."""
    floor, ceiling = total_infinite_mass(composition)
    lower, upper = outcomes(composition).delta(epsilon)
    return max(0.0, (floor + lower) * (1 - 4 * _ULP)), min(1.0, (ceiling + upper) * (1 + 4 * _ULP))


def _epsilon(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Bound the smallest epsilon with delta(epsilon) <= delta."""
    floor, ceiling = total_infinite_mass(composition)
    if delta < floor:
        return math.inf, math.inf
    if delta == 0:
        return 0.0, math.inf
    limit = max(0.0, total_supremum(composition)[1]) if delta >= ceiling else math.inf
    lower, upper = (min(_proved(composition, delta, delta - ceiling, side), limit) for side in (-1, 1))
    return lower, upper


def _proved(composition: Composition, delta: float, finite: float, side: int) -> float:
    """Return an epsilon near the crossing for which the bound of one side is proved; `finite` is left for sums."""
    counted = outcomes(composition)
    near = counted.crossing(finite / (1 + side * min(counted.error, 0.5)))
    if side < 0 and not near:
        return 0.0
    for nudge in _NUDGES:
        epsilon = max(0.0, near + side * (nudge * near + counted.blur * (nudge > 0)))
        lower, upper = _delta(composition, epsilon)
        if upper <= delta if side > 0 else lower > delta:
            return epsilon
    return crossing(lambda at: _delta(composition, at), delta)[side > 0]


def _covers(composition: Composition) -> bool:
    """Return whether several releases have atoms only, and few outcomes in all."""
    total = 1
    for ways in _ways(composition):
        total *= ways
        if total > _MOST:
            return False
    return composition.events > 1


ENUMERATION = Engine(
    name="enumeration",
    covers=_covers,
    delta_ends=lambda composition, epsilon, precision: _delta(composition, epsilon),
    epsilon_ends=_epsilon,
)
