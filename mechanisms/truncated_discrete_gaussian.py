"""Exact integer Gaussian noise that never exceeds a bound, on an integer query."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from dpaudit.arguments import settled
from dpaudit.checks import (
    Count,
    FieldError,
    NoiseSize,
    Positive,
    settle,
)
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss, ThreeLaws, opposed_loss, outer_losses
from dpaudit.model.mechanism import Array
from mechanisms._draws.exact import discrete_gaussian
from mechanisms.discrete_laplace import integers, of_whole

_LARGEST = 100_000


@settled
class TruncatedDiscreteGaussian:
    """Adds integers k, |k| <= round(cut stddev), with probabilities proportional to e^(-k^2 / (2 stddev^2)).

    Unit: `stddev` (the parameter of the law before it is cut) and `l2_sensitivity` in the unit of the query; `cut` in
    units of stddev, so that a bound B is written as B / stddev.
    Guarantee: a record moves *one* coordinate, by up to l2_sensitivity. Outputs that only one of two answers can have
    lose everything: delta is at least the probability of the outermost l2_sensitivity noises. The sampler rejects draws
    of the exact discrete Gaussian beyond the bound, so that the law is exact given uniform bits.
    Raises: ValueError: stddev outside [0.1, 10^4], a cut outside [0.1, 1000], or a bound outside 1 .. 100,000.
    Source: Canonne, Kamath and Steinke (2020), Algorithm 3, for the draws.
    """

    name: ClassVar[str] = "truncated_discrete_gaussian"
    item_axes: ClassVar[int] = 0
    exact_sampler: ClassVar[bool] = True

    stddev: NoiseSize
    cut: Positive
    l2_sensitivity: Count
    neighbours: Neighbours

    def __post_init__(self) -> None:
        settle(self)
        if not 0.1 <= self.stddev <= 1e4:
            raise FieldError("stddev", f"Expected stddev={self.stddev} in [0.1, 10000].")
        if not (0.1 <= self.cut <= 1000 and 1 <= self.bound <= _LARGEST):
            raise FieldError("cut", f"Expected cut={self.cut} in [0.1, 1000], for a bound of 1 .. {_LARGEST}.")

    @property
    def bound(self) -> int:
        """The largest noise."""
        return round(self.cut * self.stddev)

    def loss(self) -> DiscreteLoss:
        """Return the exact loss of one release, with the mass that the cut gives away."""
        noise = np.arange(-self.bound, self.bound + 1)
        masses = np.exp(self.log_density(noise, np.asarray(0)))
        masses = masses / math.fsum(masses.tolist())
        shared = noise[: max(0, len(noise) - self.l2_sensitivity)]  # outputs that the other answer can have too
        losses = (2 * shared + self.l2_sensitivity) * self.l2_sensitivity / (2 * self.stddev**2)
        lost = min(1.0, math.fsum(masses[len(shared) :].tolist()))
        atoms = tuple(zip(losses.tolist(), masses[: len(shared)].tolist(), strict=True))
        return DiscreteLoss(atoms=atoms, infinite_mass=lost, reverse_infinite_mass=lost, symmetric=True)

    def opposed(self, rate: float) -> tuple[DiscreteLoss, DiscreteLoss]:
        """Return the loss of a Poisson sample whose record is replaced, from above and as some pair attains it."""
        laws = self.three_laws(above=True)
        loss = opposed_loss(laws.masses, laws.more, rate, alone=laws.alone)
        return outer_losses(loss, above=True), outer_losses(loss, above=False)

    def three_laws(self, *, above: bool) -> ThreeLaws:
        """Return the laws without a record, with one and with its opposite, which have some outputs alone."""
        noise, distance = np.arange(-self.bound, self.bound + 1), self.l2_sensitivity
        masses = np.exp(self.log_density(noise, np.asarray(0)))
        masses = masses / math.fsum(masses.tolist())
        exponents = (2 * noise - distance) * distance / (2 * self.stddev**2)
        moved = np.where(noise - distance >= -self.bound, exponents, -np.inf)
        alone = math.fsum(masses[max(0, len(noise) - distance) :].tolist())
        return ThreeLaws(masses=masses, more=moved, less=moved[::-1], alone=min(1.0, alone))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus noise, in int64 and the same shape.

        Raises: ValueError: values that are not integers.
        """
        exact = integers(value)
        noise = discrete_gaussian(Fraction(self.stddev), exact.size, rng)
        while (beyond := np.abs(noise) > self.bound).any():
            noise[beyond] = discrete_gaussian(Fraction(self.stddev), int(beyond.sum()), rng)
        return exact + noise.reshape(exact.shape)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each coordinate of `output`.

        Edge cases: minus infinity beyond the bound, and where the noise would be no whole number.
        """
        noise = np.asarray(output) - np.asarray(value)
        weights = -0.5 * (np.arange(-self.bound, self.bound + 1) / self.stddev) ** 2
        total = math.log(math.fsum(np.exp(weights).tolist()))
        inside: Array = np.where(np.abs(noise) <= self.bound, -0.5 * (noise / self.stddev) ** 2 - total, -np.inf)
        return of_whole(noise, inside)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise, cut as many stddev away."""
        return replace(self, stddev=self.stddev * factor)

    def of_records(self, records: int) -> Self:
        """Return the same noise on a query that moves as far as `records` records move it.

        Its loss dominates records that change one after another: the ratios of whole shifts of log-concave noise grow
        with the output, so that the power curve of a chain is that of the sum of its shifts, also on several
        coordinates. Raises: ValueError: the shift is beyond the range of this mechanism.
        """
        return replace(self, l2_sensitivity=self.l2_sensitivity * records)

    def worst_pair(self) -> tuple[int, int]:
        """Return two answers of a scalar query as far apart as neighbours can be."""
        return self.l2_sensitivity, 0


EXAMPLES = (
    TruncatedDiscreteGaussian(stddev=2.0, cut=3.0, l2_sensitivity=1, neighbours="replace_one"),
    TruncatedDiscreteGaussian(stddev=5.0, cut=2.4, l2_sensitivity=3, neighbours="add_remove"),
)
