"""Exact integer Gaussian noise on an integer query."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim, UnsupportedError
from dpaudit.arguments import settled
from dpaudit.checks import Count, NoiseSize, meant, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss, ThreeLaws, opposed_loss, outer_losses
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting
from mechanisms._draws.exact import discrete_gaussian
from mechanisms.discrete_laplace import integers, of_whole

_SMALLEST, _LARGEST, _LARGEST_MU, _REACH = 0.1, 1e4, 10.0, 22.0
_FAR_MASS = 1e-106  # at least the probability of what lies beyond _REACH on both sides


@settled
class DiscreteGaussian:
    """Adds integers with probabilities proportional to e^(-k^2 / (2 stddev^2)).

    Unit: `stddev` (the parameter; for stddev >= 1 the standard deviation agrees with it to 1e-6) and the whole
    number `l2_sensitivity` in the unit of the query.
    Guarantee: a record moves *one* coordinate, by up to l2_sensitivity: a count, or one cell of a histogram. (Where it
    moves several, their losses compose; unlike real Gaussian noise, this noise knows directions.) Sampled noise
    follows the stated law exactly (given uniform bits); nothing about floating point is assumed.
    The loss takes infinitely many values. `loss` keeps the outputs within 22 stddev of either answer and counts the
    rest, below 1e-106 under either law (Canonne, Kamath and Steinke 2020, Proposition 25), as infinite loss:
    an upper bound. `attained_loss` merges those outputs into the outermost ones kept: a lower bound, equal in
    float64 but for that mass. Memory: 44 stddev + l2_sensitivity atoms.
    Raises: ValueError: stddev outside [0.1, 1e4], a sensitivity that is no whole number or beyond 10 stddev, or
        unknown neighbours.
    Source: Canonne, Kamath and Steinke (2020), Theorem 7 and Algorithm 3.
    """

    name: ClassVar[str] = "discrete_gaussian"
    item_axes: ClassVar[int] = 0
    exact_sampler: ClassVar[bool] = True

    stddev: NoiseSize
    l2_sensitivity: Count
    neighbours: Neighbours

    def __post_init__(self) -> None:
        settle(self)
        if not _SMALLEST <= self.stddev <= _LARGEST:
            raise ValueError(f"Expected stddev={self.stddev} in [{_SMALLEST:g}, {_LARGEST:g}].")
        if self.l2_sensitivity > _LARGEST_MU * self.stddev:
            raise ValueError(f"Expected stddev={self.stddev} to be at least l2_sensitivity / {_LARGEST_MU:g}.")

    @classmethod
    def calibrated(cls, claim: Claim, *, l2_sensitivity: int) -> Self:
        """Return the smallest noise for which one release meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: delta is 0, which no Gaussian noise meets.
            ValueError: the noise would have to be outside the range of `stddev`.
        """
        unit = cls(stddev=float(l2_sensitivity), l2_sensitivity=l2_sensitivity, neighbours=claim.neighbours)
        if not isinstance(claim, MeasuredClaim) and claim.delta == 0:
            raise UnsupportedError("No Gaussian noise reaches delta=0; allow a positive delta, or use Laplace noise.")
        return meeting(unit, claim)

    def loss(self) -> DiscreteLoss:
        """Return a loss that dominates the exact one by less than 1e-106 in delta.

        In concentrated budgets it costs what Gaussian noise of that deviation costs, without any mass.
        Source: Canonne, Kamath and Steinke (2020), Theorem 4.
        """
        rho = self.l2_sensitivity**2 / (2 * meant(self.stddev) ** 2)
        return DiscreteLoss(
            atoms=self._atoms(), infinite_mass=_FAR_MASS, reverse_infinite_mass=_FAR_MASS, rho=rho, symmetric=True
        )

    def attained_loss(self) -> DiscreteLoss:
        """Return the loss of an observer who cannot tell far outputs apart."""
        return DiscreteLoss(atoms=self._atoms(), symmetric=True)

    def opposed(self, rate: float) -> tuple[DiscreteLoss, DiscreteLoss]:
        """Return the loss of a Poisson sample whose record is replaced, from above and as some pair attains it."""
        laws = [self.three_laws(above=above) for above in (True, False)]
        above, attained = (opposed_loss(law.masses, law.more, rate, unknown=law.left_out) for law in laws)
        return outer_losses(above, above=True), outer_losses(attained, above=False)

    def three_laws(self, *, above: bool) -> ThreeLaws:
        """Return the laws without a record, with one and with its opposite; what lies far out is counted as lost."""
        distance = self.l2_sensitivity
        reach = math.ceil(_REACH * self.stddev) + 1 + distance
        outputs = np.arange(-reach, reach + 1)
        moved = (2 * outputs - distance) * distance / (2 * self.stddev**2)
        return ThreeLaws(
            masses=np.exp(self.log_density(outputs, np.asarray(0))),
            more=moved,
            less=moved[::-1],
            left_out=_FAR_MASS if above else 0.0,
        )

    def _atoms(self) -> tuple[tuple[float, float], ...]:
        """Return (loss, probability) of every output kept, for an answer l2_sensitivity away from 0."""
        distance, variance = self.l2_sensitivity, self.stddev**2
        reach = math.ceil(_REACH * self.stddev) + 1
        outputs = np.arange(-reach, distance + reach + 1)
        losses = (2 * outputs - distance) * distance / (2 * variance)
        probabilities = np.exp(self.log_density(outputs, np.asarray(distance)))
        return tuple(zip(losses.tolist(), probabilities.tolist(), strict=True))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` plus noise, in int64 and the same shape.

        Raises: ValueError: values that are not integers.
        """
        exact = integers(value)
        return exact + discrete_gaussian(Fraction(self.stddev), exact.size, rng).reshape(exact.shape)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each coordinate of `output`, minus infinity where its noise is not whole."""
        noise = np.asarray(output) - np.asarray(value)
        return of_whole(noise, -0.5 * (noise / self.stddev) ** 2 - _log_total(self.stddev))

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
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


def _log_total(stddev: float) -> float:
    """Return the log of the sum of e^(-k^2 / (2 stddev^2)) over all integers, by Poisson summation if wide."""
    terms = range(1, 12)
    if stddev < 1:
        return math.log1p(2 * math.fsum(math.exp(-0.5 * (k / stddev) ** 2) for k in terms))
    series = math.fsum(math.exp(-2 * (math.pi * stddev * k) ** 2) for k in terms)
    return math.log(stddev) + 0.5 * math.log(2 * math.pi) + math.log1p(2 * series)


EXAMPLES = (
    DiscreteGaussian(stddev=1.0, l2_sensitivity=1, neighbours="replace_one"),
    DiscreteGaussian(stddev=0.6, l2_sensitivity=1, neighbours="replace_one"),
    DiscreteGaussian(stddev=12.7, l2_sensitivity=3, neighbours="add_remove"),
)
