"""The loss of two mixtures of one shifted noise, of which the first lies to the right of the second."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from dpaudit.checks import meant, non_negative, one_of

MixedNoise = Literal["gaussian", "laplace"]
"""The noise whose shifts are mixed: N(0, 1) or Laplace(0, 1)."""
Shifts = tuple[tuple[float, float], ...]
"""Pairs (shift, weight)."""

_SUM = 1e-9
_FAR = 50.0
_HALVINGS = 80
_EXACT = 400  # trials whose probabilities are rounded once
_LEAST = -90.0  # the logarithm of a probability that is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureLoss:
    """The loss of a mixture of shifts `above` against a mixture of shifts `below`, both of one noise.

    Unit: shifts in deviations of a Gaussian, or scales of a Laplace noise; weights are probabilities. No shift of
    `above` is less than one of `below`: as the noise is log-concave, the loss then grows with the output, and half
    lines are the optimal tests.
    Raises: ValueError: weights that do not sum to 1 within 1e-9, or a shift of `above` below one of `below`.
    Source: Neyman and Pearson (1933), for half lines as optimal tests.

    >>> moved = MixtureLoss(above=((0.0, 0.9), (0.5, 0.1)), below=((-0.5, 0.1), (0.0, 0.9)))
    >>> round(moved.hockey_stick(0.1), 10)
    0.0085320897
    """

    above: Shifts
    below: Shifts
    noise: MixedNoise = "gaussian"

    def __post_init__(self) -> None:
        one_of("noise", self.noise, get_args(MixedNoise))
        for name in ("above", "below"):
            object.__setattr__(self, name, _merged(name, getattr(self, name)))
        if self.above[0][0] < self.below[-1][0]:
            raise ValueError(
                f"Expected every shift above ({self.above[0][0]} is one) to be at least every shift below "
                f"({self.below[-1][0]} is one)."
            )

    @property
    def supremum(self) -> float:
        """The largest finite loss, rounded up."""
        return _largest(self.noise, self.above, self.below)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return 0.0

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        _, (first, second) = self.upper_tails(epsilon)
        return max(0.0, first - math.exp(min(epsilon, 700.0)) * second)

    def upper_tails(self, epsilon: float) -> tuple[float, tuple[float, float]]:
        """Return about the output at which the loss reaches `epsilon`, and both probabilities above that output."""
        low, high = self.below[0][0] - _FAR, self.above[-1][0] + _FAR
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.loss_at(middle) <= epsilon else (low, middle)
        tail = _TAILS[self.noise]
        first, second = (math.fsum(w * tail(high - s) for s, w in side) for side in (self.above, self.below))
        return high, (first, second)

    def loss_at(self, output: float) -> float:
        """Return the loss of an output in floating point."""
        return _log_density(self.noise, self.above, output) - _log_density(self.noise, self.below, output)

    def reversed(self) -> "MixtureLoss":
        """Return the loss of (Q, P): outputs mirrored, so that the loss still grows with them."""
        above, below = (tuple((-s, w) for s, w in side) for side in (self.below, self.above))
        return MixtureLoss(above=above, below=below, noise=self.noise)


def binomial_shifts(trials: int, rate: float, shift: float) -> Shifts:
    """Return (j shift, probability of j successes), j from 0 to `trials`, without what underflows.

    Up to 400 trials a probability is the float nearest to that of the rate's decimal; beyond, it is within 1e-11.

    >>> binomial_shifts(2, 0.5, 1.0)
    ((0.0, 0.25), (1.0, 0.5), (2.0, 0.25))
    """
    rest = 1 - meant(rate)
    whole, log_rate, log_rest = math.lgamma(trials + 1), math.log(rate), math.log1p(-rate)
    found = []
    for j in range(trials + 1):
        size = whole - math.lgamma(j + 1) - math.lgamma(trials - j + 1) + j * log_rate + (trials - j) * log_rest
        if size > _LEAST:
            exact = math.comb(trials, j) * meant(rate) ** j * rest ** (trials - j) if trials <= _EXACT else None
            found.append((j * shift, math.exp(size) if exact is None else float(exact)))
    return tuple(found)


def _merged(name: str, side: Shifts) -> Shifts:
    """Return sorted shifts, equal ones merged and empty ones left out."""
    found: dict[float, float] = {}
    for shift, weight in side:
        if not math.isfinite(shift):
            raise ValueError(f"Expected finite shifts {name}, got {shift}.")
        found[float(shift)] = found.get(float(shift), 0.0) + non_negative("weight", weight)
    kept = tuple(sorted((shift + 0.0, weight) for shift, weight in found.items() if weight > 0))
    if abs(math.fsum(weight for _, weight in kept) - 1) > _SUM:
        raise ValueError(f"Expected weights {name} that sum to 1, got {side}.")
    return kept


def _largest(noise: MixedNoise, above: Shifts, below: Shifts) -> float:
    """Return the limit of the loss at large outputs, rounded up."""
    if above == below:
        return 0.0
    (top, weight), (other, share) = above[-1], below[-1]
    if noise == "gaussian":
        return math.inf if top > other else math.nextafter(math.log(weight / share), math.inf) + 1e-15
    first = math.log(math.fsum(w * math.exp(s - top) for s, w in above))
    second = math.log(math.fsum(w * math.exp(s - other) for s, w in below))
    size = abs(top) + abs(other) + abs(first) + abs(second)
    return math.fsum((top, -other, first, -second)) + 1e-15 * (1 + size)


def _log_density(noise: MixedNoise, side: Shifts, output: float) -> float:
    """Return the logarithm of the density, up to a constant of the noise."""
    sizes = [math.log(w) - ((output - s) ** 2 / 2 if noise == "gaussian" else abs(output - s)) for s, w in side]
    top = max(sizes)
    return top + math.log(math.fsum(math.exp(size - top) for size in sizes))


_TAILS: dict[MixedNoise, Callable[[float], float]] = {
    "gaussian": lambda z: math.erfc(z / math.sqrt(2)) / 2,
    "laplace": lambda z: math.exp(-z) / 2 if z > 0 else 1 - math.exp(z) / 2,
}
"""Upper tails of the noises."""
