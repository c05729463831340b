"""The loss of two mixtures of one shifted noise, of which the first lies to the right of the second."""

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar, Literal, get_args

from dpaudit.checks import meant, non_negative, one_of
from dpaudit.model.losses.sampled_ratios import absent

MixedNoise = Literal["gaussian", "laplace"]
"""The noise whose shifts are mixed: N(0, 1) or Laplace(0, 1)."""
Shifts = tuple[tuple[float, float], ...]
"""Pairs (shift, weight)."""

_SUM = 1e-9
_FAR = 50.0
_NEAR = 0.5  # losses up to which a difference of logarithms cancels
_EXACT = 400  # trials whose probabilities are rounded once
_LEAST = 1e-304  # of the largest probability; what is rarer is left out


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
    infinite_mass: ClassVar[float] = 0.0
    """The probability, under P, of an output that Q cannot produce."""

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

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return max(0.0, self.gain(self.output_of(epsilon), epsilon)[0])

    def output_of(self, epsilon: float) -> float:
        """Return about the output at which the loss reaches `epsilon`."""
        from scipy.optimize import brentq  # noqa: PLC0415  # optimisers load slowly

        low, high = self.below[0][0] - _FAR, self.above[-1][0] + _FAR
        if self.loss_at(low) > epsilon:
            return low
        if self.loss_at(high) <= epsilon:
            return high
        return float(brentq(lambda output: self.loss_at(output) - epsilon, low, high, xtol=2.0**-52, maxiter=1000))

    def gain(self, output: float, epsilon: float) -> tuple[float, float]:
        """Return P - e^epsilon Q of the outputs above one, and the sum of the sizes of what cannot cancel exactly.

        Shifts that both sides have, as where a record is not in the sample, cancel before their probabilities are
        rounded.
        """
        growth, tail = math.expm1(min(epsilon, 700.0)), _TAILS[self.noise]
        rows = [
            (tail(output - s), gap, growth * v, size) for s, _, v, gap, size in paired_shifts(self.above, self.below)
        ]
        sizes = (t * (abs(more) + (size if gap else 0.0)) for t, gap, more, size in rows)
        return math.fsum(t * (gap - more) for t, gap, more, _ in rows), math.fsum(sizes)

    def above_output(self, output: float) -> float:
        """Return the probability under P of the outputs above one."""
        return math.fsum(w * _TAILS[self.noise](output - s) for s, w in self.above)

    def loss_at(self, output: float) -> float:
        """Return the loss of an output in floating point."""
        loss = _log_density(self.noise, self.above, output) - _log_density(self.noise, self.below, output)
        return loss if abs(loss) > _NEAR else math.log1p(self._excess(output)[0])

    def blur_at(self, output: float) -> float:
        """Return what the loss of an output may be wrong by, for each unit that an exponent is rounded by."""
        loss = self.loss_at(output)
        return 1.0 if abs(loss) > _NEAR else min(1.0, self._excess(output)[1])

    def _excess(self, output: float) -> tuple[float, float]:
        """Return (p - q) / q of the densities p and q of an output, and the same of the sizes of its terms."""
        rows = paired_shifts(self.above, self.below)
        sizes = [math.log(max(w, v)) + _log_noise(self.noise, output - s) for s, w, v, *_ in rows]
        top = max(sizes)
        terms = [
            (math.exp(size - top) / max(w, v), gap, v) for size, (_, w, v, gap, _) in zip(sizes, rows, strict=True)
        ]
        under_q = math.fsum(e * v for e, _, v in terms)
        sums = (math.fsum(e * gap for e, gap, _ in terms), math.fsum(e * abs(gap) for e, gap, _ in terms))
        return sums[0] / under_q, sums[1] / under_q

    @property
    def furthest(self) -> float:
        """The largest distance of two shifts, those of both laws being paired by rank: a mixture of such pairs.

        A divergence of mixtures is at most the largest one of the pairs, as the hockey-stick divergence is jointly
        convex.

        >>> MixtureLoss(above=((0.0, 0.75), (1.0, 0.25)), below=((-1.0, 0.25), (0.0, 0.75))).furthest
        1.0
        """
        ranks = list(accumulate(weight for _, weight in self.below))
        before, largest = 0.0, 0.0
        for shift, weight in self.above:
            row = min(bisect_right(ranks, before), len(ranks) - 1)  # the lowest shift that shares a rank
            largest, before = max(largest, shift - self.below[row][0]), before + weight
        return largest

    def reversed(self) -> "MixtureLoss":
        """Return the loss of (Q, P): outputs mirrored, so that the loss still grows with them."""
        above, below = (tuple((-s, w) for s, w in side) for side in (self.below, self.above))
        return MixtureLoss(above=above, below=below, noise=self.noise)


def binomial_shifts(trials: int, rate: float, shift: float) -> Shifts:
    """Return (j shift, probability of j successes), j from 0 to `trials`, without what underflows.

    Up to 400 trials a probability is the float nearest to that of the rate's decimal; beyond, it is within 1e-11.
    Edge cases: what is left out is below 1e-300 in all, which upper bounds of mixtures count.

    >>> binomial_shifts(2, 0.5, 1.0)
    ((0.0, 0.25), (1.0, 0.5), (2.0, 0.25))
    """
    first, weights = binomial_weights(trials, rate)
    if trials <= _EXACT:
        q = meant(rate)
        counts = range(first, first + len(weights))
        weights = [float(math.comb(trials, j) * q**j * (1 - q) ** (trials - j)) for j in counts]
    return tuple(((first + index) * shift, weight) for index, weight in enumerate(weights))


def binomial_weights(trials: int, rate: float) -> tuple[int, list[float]]:
    """Return the first number of successes that is not negligible, and the probabilities from there on.

    They follow from each other, from the most likely number on, and are divided by their sum: no logarithm of a large
    factorial costs digits. Time: as many steps as there are such numbers, about 37 deviations to either side.

    >>> first, weights = binomial_weights(10**18, 1e-60)
    >>> first, weights[:2], len(weights)
    (0, [1.0, 1e-42], 8)
    """
    mode = min(trials, math.floor((trials + 1) * rate))
    if rate == 1:
        return trials, [1.0]
    odds = rate / absent(rate)
    above, below = [1.0], [1.0]
    for j in range(mode, trials):
        if above[-1] < _LEAST:
            break
        above.append(above[-1] * ((trials - j) / (j + 1) * odds))
    for j in range(mode, 0, -1):
        if below[-1] < _LEAST:
            break
        below.append(below[-1] * (j / (trials - j + 1) / odds))
    sizes = [size for size in (*below[:0:-1], *above) if size >= _LEAST]
    total = math.fsum(sizes)
    return mode - sum(size >= _LEAST for size in below[1:]), [size / total for size in sizes]


def _merged(name: str, side: Shifts) -> Shifts:
    """Return sorted shifts, equal ones merged and empty ones left out."""
    weight_at: dict[float, float] = {}
    for shift, weight in side:
        if not math.isfinite(shift):
            raise ValueError(f"Expected finite shifts {name}, got {shift}.")
        weight_at[float(shift)] = weight_at.get(float(shift), 0.0) + non_negative("weight", weight)
    merged = tuple(sorted((shift + 0.0, weight) for shift, weight in weight_at.items() if weight > 0))
    if abs(math.fsum(weight for _, weight in merged) - 1) > _SUM:
        raise ValueError(f"Expected weights {name} that sum to 1, got {side}.")
    return merged


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
    sizes = [math.log(w) + _log_noise(noise, output - s) for s, w in side]
    top = max(sizes)
    return top + math.log(math.fsum(math.exp(size - top) for size in sizes))


def _log_noise(noise: MixedNoise, away: float) -> float:
    """Return the logarithm of the noise's density, up to a constant."""
    return -away * away / 2 if noise == "gaussian" else -abs(away)


@lru_cache(maxsize=64)
def paired_shifts(above: Shifts, below: Shifts) -> tuple[tuple[float, float, float, float, float], ...]:
    """Return each shift with its weight on both sides, their difference, and the size of what that is computed from.

    Of the shift that is heaviest on both sides the weights are what the others leave of 1: the difference of two floats
    next to 1 would hide that of rare shifts.
    """
    weight_above, weight_below = dict(above), dict(below)
    rows = [
        (s, w := weight_above.get(s, 0.0), v := weight_below.get(s, 0.0), w - v, w + v)
        for s in sorted({*weight_above, *weight_below})
    ]
    heaviest = max(range(len(rows)), key=lambda i: min(rows[i][1:3]))
    shift, w, v, *_ = rows[heaviest]
    if min(w, v) > 0:
        others = [row[1:3] for i, row in enumerate(rows) if i != heaviest]
        gap, size = math.fsum(b - a for a, b in others), math.fsum(a + b for a, b in others)
        rows[heaviest] = shift, w, v, gap, size
    return tuple(rows)


_TAILS: dict[MixedNoise, Callable[[float], float]] = {
    "gaussian": lambda z: math.erfc(z / math.sqrt(2)) / 2,
    "laplace": lambda z: math.exp(-z) / 2 if z > 0 else 1 - math.exp(z) / 2,
}
"""Upper tails of the noises."""
