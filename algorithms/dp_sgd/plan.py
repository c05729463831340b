"""The plan of a training run, fixed before any record is read: its history, its noise and what the loop needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from algorithms.dp_sgd import loop
from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.reading import TrainingRecord, read_checkpoint
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit.errors import ConfigError
from dpaudit.model.claim import Neighbours
from dpaudit.training import Training

_ACCURACY = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(loop.Settings):
    """What one run through Opacus needs, and how its batches are drawn."""

    sampling: str

    def training(self, records: int) -> Training:
        """Return the run as a watch's declaration."""
        return Training(
            noise_multiplier=self.noise_multiplier,
            max_grad_norm=self.max_grad_norm,
            sample_rate=1 / self.batches,
            steps=self.steps,
            records=records,
        )


def plan_of(settings: DpSgdSettings) -> Plan:
    """Return what a run through Opacus needs.

    Raises: ConfigError: several segments, or a rate that is not 1 / a number of batches.
    """
    record = record_of(settings)
    if len(record.history) > 1:
        raise ConfigError(
            f"The history has {len(record.history)} segments, which cannot be run again; certify it without a "
            "[problem]."
        )
    noise, rate, steps = next(iter(record.history))
    batches = round(1 / rate)
    if abs(batches * rate - 1) > 1e-6:
        raise ConfigError(
            f"Opacus samples with 1 / number of batches; sample_rate={rate:.6g} is none. Try {1 / batches:.6g}."
        )
    return Plan(
        noise_multiplier=noise,
        max_grad_norm=settings.max_grad_norm,
        batches=batches,
        steps=steps,
        mode=settings.grad_sample_mode,
        poisson=settings.sampling == "poisson",
        sampling=settings.sampling,
        learning_rate=settings.learning_rate,
    )


def record_of(settings: DpSgdSettings) -> TrainingRecord:
    """Return the run as a record: the checkpoint's, or the stated numbers.

    With calibration "tight" the noise is the smallest that meets the claim, within a relative 1e-4 and never below.
    Raises: ConfigError: an unusable checkpoint.
    """
    if settings.checkpoint is not None:
        return read_checkpoint(
            settings.checkpoint,
            tuning_runs=settings.tuning_runs,
            max_grad_norm=settings.max_grad_norm,
            poisson=settings.sampling == "poisson",
        )
    return TrainingRecord(
        history=((_noise(settings), float(settings.sample_rate or 0), int(settings.steps or 0)),),
        poisson=True,
        secure_mode=False,
        tuning_runs=settings.tuning_runs,
        max_grad_norm=settings.max_grad_norm,
    )


def _noise(settings: DpSgdSettings) -> float:
    """Return the noise multiplier: the given one, or the smallest that meets the claim."""
    if settings.noise_multiplier is not None:
        return float(settings.noise_multiplier)
    rate, steps = float(settings.sample_rate or 0), int(settings.steps or 0)
    epochs = math.ceil(rate * steps - 1e-9)
    shuffled = settings.sampling == "shuffled"
    relation: Neighbours = "add_remove" if shuffled else settings.neighbours

    def meets(noise: float) -> bool:
        history = ((noise / 2, 1.0, epochs),) if shuffled else ((noise, rate, steps),)
        return epsilon_of_history(history, settings.delta, relation) <= settings.epsilon

    return _smallest(meets)


def _smallest(meets: Callable[[float], bool]) -> float:
    """Return the smallest noise multiplier that meets a claim, within a relative 1e-4 and never below."""
    low, high = 0.25, 1.0
    while not meets(high):
        low, high = high, 2 * high
    while high > low * (1 + _ACCURACY):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
