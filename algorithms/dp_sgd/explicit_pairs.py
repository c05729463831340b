"""Audits of DP-SGD at the explicit pair of data sets that its sampling is hardest on, simulated by the declared law.

No training runs: these cases show what the declared sampling and noise let an attack see, not what code does. At such a
pair the other records add a constant, which the adversary subtracts. What is left, in standard deviations of the noise,
is noise alone on one data set, and noise with a shift at secret steps on the other:

    sampled      at every step independently, with a probability: (1 - q) N(0, 1) + q N(shift, 1) a step
    allocated    at one uniform step of every epoch: the average of N(shift e_i) over the steps i of the epoch

A last epoch that is cut short holds the record's step with probability (its length) / (steps of an epoch).
Source: Chua et al. (2024) for shuffled batches and balls in bins; Balle, Barthe and Gaboardi (2018) for fixed sizes.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from algorithms.dp_sgd.plan import plan_of
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit import AuditCase
from dpaudit.model.losses.binomial import binomial_pmf
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
        total: Array = np.logaddexp(keep, moved).sum(axis=1)
        return total


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


def simulated(law: SecretSteps, data: int, factor: float, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the noisy sums of runs without the record (`data` 0) or with it (1), with a factor of the declared noise.

    Shape: (n_runs, steps), in standard deviations of the declared noise.
    """
    noise: Array = factor * rng.standard_normal((n_runs, law.steps))
    return noise + law.shift * law.moved(rng, n_runs) if data else noise


VIEW = "simulated gradients"

_PAIRS = {
    "shuffled": "all other records are the opposite of one record",
    "without_replacement": "all other records are the opposite of one record",
    "allocation": "all other records contribute nothing",
    "truncated_poisson": "all other records contribute nothing",
}


def explicit_cases(settings: DpSgdSettings) -> tuple[AuditCase, ...]:
    """Return the case at the explicit pair of the declared sampling; none for Poisson samples, which canaries attack.

    The score is the exact likelihood ratio of all noisy sums. Memory: 8 bytes a run and step, a chunk at a time.
    """
    law = law_of(settings)
    if law is None:
        return ()

    def run(data: int, rng: np.random.Generator, n_runs: int) -> Array:
        return simulated(law, data, 1.0, rng, n_runs)

    def weakened(factor: float) -> AuditCase:
        def less_noise(data: int, rng: np.random.Generator, n_runs: int) -> Array:
            return simulated(law, data, factor, rng, n_runs)

        return replace(case, run=less_noise)

    case = AuditCase(
        name=f"dp_sgd simulated by its declared law, sampling {settings.sampling}",
        view=VIEW,
        description=(
            f"Noisy sums of every step where {_PAIRS[settings.sampling]}, drawn from the declared law: no training "
            "ran, and nothing is said of code."
        ),
        neighbours=(0, 1),
        relation=settings.neighbours,
        run=run,
        score=law.log_ratio,
        weakened=weakened,
    )
    return (case,)


def law_of(settings: DpSgdSettings) -> SecretSteps | None:
    """Return where the record of the explicit pair takes part, and by how many deviations; None for Poisson samples.

    Against opposite records one record moves a sum by two clipping norms, against records that add nothing by one.
    """
    steps, noise = int(settings.steps or 0), float(settings.noise_multiplier or 0)
    match settings.sampling:
        case "shuffled":
            plan = plan_of(settings)
            return AllocatedSteps(shift=2 / plan.noise_multiplier, batches=plan.batches, steps=plan.steps)
        case "allocation":
            return AllocatedSteps(shift=1 / noise, batches=plan_of(settings).batches, steps=steps)
        case "without_replacement":
            return SampledSteps(shift=2 / noise, rate=float(settings.sample_rate or 0), steps=steps)
        case "truncated_poisson":
            return SampledSteps(shift=1 / noise, rate=_kept(settings), steps=steps)
        case _:
            return None


def _kept(settings: DpSgdSettings) -> float:
    """Return the probability that a record is in a Poisson sample cut to `batch_bound` records."""
    rate, bound, others = float(settings.sample_rate or 0), settings.batch_bound or 1, (settings.population or 1) - 1
    drawn = np.arange(others + 1)
    return rate * float(binomial_pmf(drawn, others, rate) @ np.minimum(1.0, bound / (drawn + 1)))
