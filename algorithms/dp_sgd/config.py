"""DP-SGD's config: what is claimed of a run, what it declares, and the run itself, through Opacus."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from algorithms.dp_sgd import cases as _cases
from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.reading import TrainingRecord, read_checkpoint
from algorithms.dp_sgd.review import review
from algorithms.dp_sgd.running import Settings, transcript_of
from algorithms.dp_sgd.traps import breaking, findings_of
from algorithms.problems.affairs import Classification
from dpaudit import (
    AuditCase,
    Claim,
    Condition,
    ConfigError,
    Declaration,
    Finding,
    Neighbours,
    Parallel,
    Release,
    Repeat,
    Stated,
    Streams,
    Transcript,
)
from dpaudit.checks import count, one_of, open_probability, positive
from dpaudit.model.claim import NEIGHBOURS
from mechanisms import Gaussian

_SAMPLINGS = ("poisson", "shuffled")
_CALIBRATIONS = ("given", "tight")
_MODES = ("hooks", "ghost")
_ACCURACY = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class DpSgd:
    """Training with noisy sums of clipped gradients, as Opacus runs it, for a claim.

    Parameters: `noise_multiplier`, the noise over `max_grad_norm`, the clipping norm; `sample_rate`, with which each
    record is in a step's batch (Opacus: 1 / number of batches); `steps`. Or `checkpoint`, a file of Opacus or a JSON
    file of its accountant's state, in place of noise, rate and steps. `sampling` "poisson", or "shuffled" for a loader
    that deals every record once an epoch, where nothing is amplified; `calibration` "given", or "tight" for the least
    noise that meets the claim; `grad_sample_mode` "hooks" or "ghost"; `tuning_runs`, how many runs on the same data led
    to this one. For `replace_one` the epsilon of Poisson sampling is stated by `epsilon_of_history`, not folded.
    Raises: ValueError: a field outside its range, or one that is missing. ConfigError: an unusable checkpoint.
    Source: Abadi et al. (2016), Algorithm 1.

    >>> config = DpSgd(epsilon=8, delta=1e-5, noise_multiplier=1.1, sample_rate=1 / 12, steps=240)
    >>> config.declaration().parts[0].times
    240
    """

    name: ClassVar[str] = "dp_sgd"

    epsilon: float
    delta: float
    noise_multiplier: float | None = None
    sample_rate: float | None = None
    steps: int | None = None
    max_grad_norm: float = 1.0
    checkpoint: Path | None = None
    model: str = "central"
    neighbours: Neighbours = "add_remove"
    sampling: str = "poisson"
    calibration: str = "given"
    grad_sample_mode: str = "hooks"
    learning_rate: float = 0.5
    tuning_runs: int = 1

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        open_probability("delta", self.delta)
        positive("max_grad_norm", self.max_grad_norm)
        positive("learning_rate", self.learning_rate)
        count("tuning_runs", self.tuning_runs)
        one_of("model", self.model, ("central",))
        one_of("neighbours", self.neighbours, NEIGHBOURS)
        one_of("sampling", self.sampling, _SAMPLINGS)
        one_of("calibration", self.calibration, _CALIBRATIONS)
        one_of("grad_sample_mode", self.grad_sample_mode, _MODES)
        self._check_run()
        if self.sampling == "shuffled" and self.neighbours != "replace_one":
            raise ValueError(
                "Expected neighbours='add_remove' to be 'replace_one' for sampling='shuffled': a record less moves "
                "others to other batches, for which no bound is known."
            )

    def _check_run(self) -> None:
        """Refuse noise, rate and steps that are missing or given twice."""
        numbers = {name: getattr(self, name) for name in ("sample_rate", "steps", "noise_multiplier")}
        if self.calibration == "tight":
            noise = numbers.pop("noise_multiplier")
            if noise is not None:
                raise ValueError("Expected noise_multiplier to be left out with calibration='tight', which finds it.")
        given = [name for name, value in numbers.items() if value is not None]
        if self.checkpoint is not None:
            if given or self.calibration == "tight":
                raise ValueError(f"Expected a checkpoint to stand alone; it holds the run that {given} would state.")
            return
        for name, value in numbers.items():
            if value is None:
                raise ValueError(f"Expected {name} to be given, or a checkpoint that holds it.")
        count("steps", self.steps)
        if not 0 < positive("sample_rate", self.sample_rate) <= 1:
            raise ValueError(f"Expected sample_rate={self.sample_rate} in (0, 1].")
        if self.noise_multiplier is not None:
            positive("noise_multiplier", self.noise_multiplier)

    def claim(self) -> Claim:
        """Return what is promised of the run."""
        return Claim(epsilon=self.epsilon, delta=self.delta, neighbours=self.neighbours, unit="one training record")

    def record(self) -> TrainingRecord:
        """Return the run as a record: the checkpoint's, or the stated numbers."""
        stated = {"tuning_runs": self.tuning_runs, "max_grad_norm": self.max_grad_norm}
        if self.checkpoint is not None:
            return read_checkpoint(self.checkpoint, **stated, poisson=self.sampling == "poisson")
        return TrainingRecord(
            history=((self._noise(), float(self.sample_rate or 0), int(self.steps or 0)),),
            poisson=True,
            secure_mode=False,
            tuning_runs=self.tuning_runs,
            max_grad_norm=self.max_grad_norm,
        )

    def declaration(self) -> Declaration:
        """Return each step's noisy sum on its sample; shuffled, the batches of an epoch, one of which sees a record."""
        record = self.record()
        if self.sampling == "shuffled":
            return self._shuffled(record)
        if self.neighbours == "add_remove":
            return record.declaration()
        return Stated(
            epsilon=epsilon_of_history(record.history, self.delta, "replace_one"),
            delta=self.delta,
            source="dp_sgd's own accounting of Poisson-sampled Gaussian sums under replacement",
            neighbours="replace_one",
        )

    def run(self, problem: Classification, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` watched training runs on `problem`: what they did and how well they predict.

        Raises: ConfigError: Opacus is not installed, or a rate, history or problem that it cannot run.
        """
        return transcript_of(self.settings(), self.declaration(), problem, streams, n_runs)

    def cases(self, problem: Classification) -> tuple[AuditCase, ...]:
        """Return the audits: canaries in feature slots, scored by their likelihood ratio and by the model alone."""
        return _cases.cases_of(self.settings(), self.claim(), problem)

    def notes(self, problem: Classification) -> tuple[str, ...]:
        """Return how this run's epsilon compares with what Opacus prints, and what a reader must know."""
        return tuple(line.strip() for line in review(self.record(), self.claim()).text().splitlines())

    def findings(self) -> tuple[Finding, ...]:
        """Return the traps that stand against a certificate, before anything has run."""
        record = self.record()
        if self.sampling == "shuffled":
            return ()
        return breaking(record, findings_of(record, self.claim()))

    def conditions(self) -> tuple[Condition, ...]:
        """Return the traps that a reader must know of, as assumed conditions."""
        record = self.record()
        found = findings_of(record, self.claim())
        known = set(breaking(record, found))
        return tuple(
            Condition(kind="implementation", about=(f.rule,), text=f"{f.rule}: {f.message}")
            for f in found
            if f not in known
        )

    def settings(self) -> Settings:
        """Return what a run through Opacus needs.

        Raises: ConfigError: several segments, or a rate that is not 1 / a number of batches.
        """
        record = self.record()
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
        return Settings(
            noise_multiplier=noise,
            max_grad_norm=self.max_grad_norm,
            batches=batches,
            steps=steps,
            grad_sample_mode=self.grad_sample_mode,
            sampling=self.sampling,
            learning_rate=self.learning_rate,
        )

    def _noise(self) -> float:
        """Return the noise multiplier: the given one, or the smallest that meets the claim."""
        if self.noise_multiplier is not None:
            return float(self.noise_multiplier)
        rate, steps = float(self.sample_rate or 0), int(self.steps or 0)
        epochs = math.ceil(rate * steps - 1e-9)
        shuffled = self.sampling == "shuffled"
        relation: Neighbours = "add_remove" if shuffled else self.neighbours

        def meets(noise: float) -> bool:
            history = ((noise / 2, 1.0, epochs),) if shuffled else ((noise, rate, steps),)
            return epsilon_of_history(history, self.delta, relation) <= self.epsilon

        return _smallest(meets)

    def _shuffled(self, record: TrainingRecord) -> Declaration:
        """Return epochs of batches, in one of which a record sits by a permutation that reads no data."""
        settings = self.settings()
        epochs = math.ceil(settings.steps / settings.batches)
        noise = Gaussian(stddev=record.history[0][0], l2_sensitivity=2.0, neighbours="replace_one")
        batch = tuple(Release(label=f"batch {i + 1}", mechanism=noise) for i in range(settings.batches))
        return Repeat(part=Parallel(parts=batch, key="the shuffled order, which is drawn without data"), times=epochs)


def _smallest(meets: Callable[[float], bool]) -> float:
    """Return the smallest noise multiplier that meets a claim, within a relative 1e-4 and never below."""
    low, high = 0.25, 1.0
    while not meets(high):
        low, high = high, 2 * high
    while high > low * (1 + _ACCURACY):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
