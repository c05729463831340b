"""Noisy sums of small Poisson samples whose truth is enumerated: every data set, replaced record and output."""

import math
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.declaration import Declaration, Release, Repeat, Subsample
from mechanisms import DiscreteGaussian, DiscreteLaplace, TruncatedDiscreteGaussian

Noise: TypeAlias = DiscreteLaplace | DiscreteGaussian | TruncatedDiscreteGaussian
Law: TypeAlias = NDArray[np.float64]
_REACH = 60


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Noise on the sum of the records of a sample, whole numbers of at most `moved`, released so many times."""

    noise: Noise
    moved: int
    records: int
    rate: float
    times: int

    def declaration(self) -> Declaration:
        """Return the declaration, written without a look at the records."""
        sample = Subsample(part=Release(label="sum", mechanism=self.noise), rate=self.rate)
        return Repeat(part=sample, times=self.times) if self.times > 1 else sample

    def delta(self, epsilon: float) -> float:
        """Return the largest delta over all others and all replaced records; both orders are among the pairs."""
        values = range(-self.moved, self.moved + 1)
        largest = 0.0
        for others in product(values, repeat=self.records - 1):
            laws = [self._whole((value, *others)) for value in values]
            for p, q in product(laws, repeat=2):
                largest = max(largest, float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()))
        return largest

    def _whole(self, records: tuple[int, ...]) -> Law:
        """Return the law of all rounds on a data set."""
        once = np.zeros(2 * _REACH + 1)
        for held in product((False, True), repeat=len(records)):
            chosen = sum(held)
            chance = self.rate**chosen * (1 - self.rate) ** (len(records) - chosen)
            once += chance * self._law(sum(value for value, there in zip(records, held, strict=True) if there))
        whole: Law = np.ones(1)
        for _ in range(self.times):
            whole = np.asarray(np.outer(whole, once).ravel(), np.float64)
        return whole

    def _law(self, answer: int) -> Law:
        """Return the law of one output."""
        outputs = np.arange(-_REACH, _REACH + 1)
        return np.asarray(np.exp(self.noise.log_density(outputs, np.asarray(answer))), np.float64)


def draw_counted(rng: np.random.Generator) -> Counted:
    """Return a random system, of noise that is next to nothing beyond the outputs that are enumerated."""
    moved = int(rng.integers(1, 3))
    size = float(np.round(rng.uniform(0.6, 1.8), 2))
    noises: tuple[Noise, ...] = (
        DiscreteLaplace(scale=size, l1_sensitivity=moved, neighbours="add_remove"),
        DiscreteGaussian(stddev=size, l2_sensitivity=moved, neighbours="add_remove"),
        TruncatedDiscreteGaussian(stddev=size, cut=2.5, l2_sensitivity=moved, neighbours="add_remove"),
    )
    return Counted(
        noise=noises[int(rng.integers(0, 3))],
        moved=moved,
        records=int(rng.integers(1, 4)) if moved == 1 else int(rng.integers(1, 3)),
        rate=float(np.round(rng.uniform(0.05, 1), 3)),
        times=int(rng.integers(1, 3)),
    )
