"""Exact integer Laplace noise on integer queries of known l1 sensitivity."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import Count, NoiseSize, ratio, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss, ThreeLaws, opposed_loss, outer_losses
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting
from mechanisms._draws.exact import discrete_laplace

_SMALLEST, _LARGEST, _LARGEST_SHIFT = 2.0**-8, 2.0**53, 500.0
_MOST_ATOMS = 100_000  # of several records; the checker lists no more


@settled
class DiscreteLaplace:
    """Adds independent integers, with probabilities proportional to e^(-|k| / scale), to every coordinate.

    Unit: `scale` and the whole number `l1_sensitivity` in the unit of the query.
    Guarantee: exact loss of a whole move by l1_sensitivity on one coordinate: l1_sensitivity + 1 atoms. Spreading
    the move over coordinates never helps, by the argument given for Laplace noise. Sampled noise follows the stated
    law exactly (given uniform bits), in integer arithmetic: nothing about floating point is assumed.
    Raises: ValueError: a scale outside [2^-8, 2^53], a sensitivity that is no whole number or beyond 500 scales, or
        unknown neighbours.
    Source: Ghosh, Roughgarden and Sundararajan (2009); Canonne, Kamath and Steinke (2020), Algorithm 2.

    >>> DiscreteLaplace(scale=2, l1_sensitivity=1, neighbours="add_remove").loss().supremum
    0.5
    """

    name: ClassVar[str] = "discrete_laplace"
    item_axes: ClassVar[int] = 0
    exact_sampler: ClassVar[bool] = True

    scale: NoiseSize
    l1_sensitivity: Count
    neighbours: Neighbours

    def __post_init__(self) -> None:
        settle(self)
        if not _SMALLEST <= self.scale <= _LARGEST:
            raise ValueError(f"Expected scale={self.scale} in [2^-8, 2^53].")
        if self.l1_sensitivity > _LARGEST_SHIFT * self.scale:
            raise ValueError(f"Expected scale={self.scale} to be at least l1_sensitivity / {_LARGEST_SHIFT:g}.")

    @classmethod
    def calibrated(cls, claim: Claim, *, l1_sensitivity: int) -> Self:
        """Return the smallest noise for which one release meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        unit = cls(scale=float(l1_sensitivity), l1_sensitivity=l1_sensitivity, neighbours=claim.neighbours)
        return meeting(unit, claim)

    def loss(self) -> DiscreteLoss:
        """Return the exact loss of one release."""
        distance, rate = self.l1_sensitivity, 1 / self.scale
        fading = math.exp(-rate)
        inside = -math.expm1(-rate) / (1 + fading)
        between = tuple(
            ((2 * k - distance) / self.scale, inside * math.exp(-rate * (distance - k))) for k in range(1, distance)
        )
        largest = (distance / self.scale, 1 / (1 + fading))
        smallest = (-distance / self.scale, math.exp(-rate * distance) / (1 + fading))
        exact = ratio(distance, self.scale)
        return DiscreteLoss(atoms=(smallest, *between, largest), largest=exact, symmetric=True)

    def opposed(self, rate: float) -> tuple[DiscreteLoss, DiscreteLoss]:
        """Return the loss of a Poisson sample whose record is replaced, from above and as some pair attains it."""
        laws = self.three_laws(above=True)
        loss = opposed_loss(laws.masses, laws.more, rate)
        return outer_losses(loss, above=True), outer_losses(loss, above=False)

    def three_laws(self, *, above: bool) -> ThreeLaws:
        """Return the laws without a record, with one and with its opposite; an end stands for all outputs beyond it."""
        distance, fading = self.l1_sensitivity, math.exp(-1 / self.scale)
        outputs = np.arange(-distance, distance + 1)
        masses = -math.expm1(-1 / self.scale) / (1 + fading) * np.exp(-np.abs(outputs) / self.scale)
        masses[[0, -1]] = math.exp(-distance / self.scale) / (1 + fading)
        moved = np.where(outputs > 0, 2 * outputs - distance, -distance) / self.scale
        return ThreeLaws(masses=masses, more=moved, less=moved[::-1])

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus noise, in int64 and the same shape.

        Raises: ValueError: values that are not integers.
        """
        exact = integers(value)
        return exact + discrete_laplace(Fraction(self.scale), exact.size, rng).reshape(exact.shape)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each coordinate of `output`; sum over a release's own axes.

        Edge cases: minus infinity where the noise would be no whole number.
        """
        noise, rate = np.asarray(output) - np.asarray(value), 1 / self.scale
        log_mode = math.log(-math.expm1(-rate)) - math.log1p(math.exp(-rate))
        return of_whole(noise, log_mode - rate * np.abs(noise))

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def of_records(self, records: int) -> Self:
        """Return the same noise on a query that moves as far as `records` records move it.

        Its loss dominates records that change one after another: the ratios of whole shifts of log-concave noise grow
        with the output, so that the power curve of a chain is that of the sum of its shifts, also on several
        coordinates. Raises: ValueError: the shift is beyond the range of this mechanism.
        """
        if self.l1_sensitivity * records > _MOST_ATOMS:
            raise ValueError(f"Expected at most {_MOST_ATOMS:,} steps of l1_sensitivity.")
        return replace(self, l1_sensitivity=self.l1_sensitivity * records)

    def worst_pair(self) -> tuple[int, int]:
        """Return two answers of a scalar query as far apart as neighbours can be."""
        return self.l1_sensitivity, 0


def integers(value: Array) -> Array:
    """Return `value` as int64.

    Raises: ValueError: it holds anything but integers.
    """
    given = np.asarray(value)
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"Expected integers, got an array of {given.dtype}; round the query first, outside its noise.")
    return given.astype(np.int64)


def of_whole(noise: Array, log_probability: Array) -> Array:
    """Return the log probabilities of whole numbers, minus infinity for all others. Shape: that of both.

    >>> of_whole(np.array([1.0, 0.4]), np.array([-1.0, -1.0])).tolist()
    [-1.0, -inf]
    """
    return np.where(noise == np.rint(noise), log_probability, -np.inf)


EXAMPLES = (
    DiscreteLaplace(scale=1.0, l1_sensitivity=1, neighbours="replace_one"),
    DiscreteLaplace(scale=7.3, l1_sensitivity=3, neighbours="add_remove"),
)
