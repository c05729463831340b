"""Laws of the noisy sums of a run at an explicit pair of data sets, and their exact likelihood ratio.

At such a pair the other records add a constant, which the adversary subtracts. What is left, in standard deviations of
the noise, is noise alone on one data set, and noise with a shift at secret steps on the other:

    sampled      at every step independently, with a probability: (1 - q) N(0, 1) + q N(shift, 1) a step
    allocated    at one uniform step of every epoch: the average of N(shift e_i) over the steps i of the epoch

A last epoch that is cut short holds the record's step with probability (its length) / (steps of an epoch).
Source: Chua et al. (2024) for shuffled batches and balls in bins; Balle, Barthe and Gaboardi (2018) for fixed sizes.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSteps:
    """A record that is in the batch of each of `steps` steps with probability `rate`, each step by itself.

    >>> SampledSteps(shift=1.0, rate=0.5, steps=3).log_ratio(np.full((2, 3), 0.5)).tolist()
    [0.0, 0.0]
    """

    shift: float
    rate: float
    steps: int

    def moved(self, rng: np.random.Generator, n_runs: int) -> Array:
        """Return at which steps the record takes part. Shape: (n_runs, steps), booleans."""
        return np.asarray(rng.random((n_runs, self.steps)) < self.rate)

    def log_ratio(self, view: Array) -> Array:
        """Return each run's log likelihood ratio, with the record over without. Shape: (n_runs, steps) to (n_runs,)."""
        keep = math.log1p(-self.rate) if self.rate < 1 else -math.inf
        moved = math.log(self.rate) + self.shift * view - self.shift**2 / 2
        return np.logaddexp(keep, moved).sum(axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedSteps:
    """A record that is in one batch out of `batches` in every epoch, over `steps` steps in all.

    >>> AllocatedSteps(shift=1.0, batches=2, steps=4).log_ratio(np.full((1, 4), 0.5)).tolist()
    [0.0]
    """

    shift: float
    batches: int
    steps: int

    def moved(self, rng: np.random.Generator, n_runs: int) -> Array:
        """Return at which steps the record takes part. Shape: (n_runs, steps), booleans."""
        epochs = -(-self.steps // self.batches)
        chosen = rng.integers(self.batches, size=(n_runs, epochs, 1)) == np.arange(self.batches)
        return np.asarray(chosen.reshape(n_runs, -1)[:, : self.steps])

    def log_ratio(self, view: Array) -> Array:
        """Return each run's log likelihood ratio, with the record over without. Shape: (n_runs, steps) to (n_runs,)."""
        total = np.zeros(len(view))
        for start in range(0, self.steps, self.batches):
            seen = view[:, start : min(start + self.batches, self.steps)]
            ratios = self.shift * seen - self.shift**2 / 2
            moved = np.logaddexp.reduce(ratios, axis=1) - math.log(self.batches)
            unseen = 1 - seen.shape[1] / self.batches
            total += moved if unseen == 0 else np.logaddexp(moved, math.log(unseen))
        return total


SecretSteps = SampledSteps | AllocatedSteps
"""Where a record takes part, and how far it moves a step."""


def simulated(law: SecretSteps, data: int, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the noisy sums of runs without the record (`data` 0) or with it (1).

    Shape: (n_runs, steps), in standard deviations of the declared noise.
    """
    noise = rng.standard_normal((n_runs, law.steps))
    return noise + law.shift * law.moved(rng, n_runs) if data else noise
