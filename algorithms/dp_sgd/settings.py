"""The settings of DP-SGD: fields, their limits, and the privacy claim."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dpaudit import Claim
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, PositiveShare, one_of, settle
from dpaudit.model.claim import Neighbours

SAMPLINGS = ("poisson", "shuffled", "without_replacement", "allocation", "truncated_poisson")
"""How batches are drawn, by name; Opacus draws the first two, and the others are declared only."""

RUNNABLE = SAMPLINGS[:2]
"""How Opacus draws batches."""

RELATIONS: tuple[Neighbours, ...] = ("add_remove", "replace_one")
"""The relations that training is accounted for."""

CALIBRATIONS = ("given", "tight")
"""The calibrations by name, see `plan.record_of`."""

_MODES = ("hooks", "ghost")

_FINDS = {"noise_multiplier": " calibration='tight' finds the least noise that meets the claim."}


@dataclass(frozen=True, slots=True, kw_only=True)
class DpSgdSettings:
    """The public parameters of a training run with noisy gradients.

    Parameters: `model`, always "central"; `noise_multiplier`, the noise over `max_grad_norm`, the clipping norm;
    `sample_rate`, with which each record is in a step's batch (Opacus: 1 / number of batches); `steps`, the number of
    noisy updates. Or `checkpoint`, a file of Opacus or a JSON file of its accountant's state, in place of noise, rate
    and steps. `sampling` "poisson"; "shuffled" for a loader that deals every record once an epoch, where no
    amplification is credited; "without_replacement" for batches of a fixed size, drawn anew each step; "allocation"
    where each record draws its one batch of an epoch by itself; "truncated_poisson" for Poisson batches out of
    `population` records, cut to `batch_bound` records; batches of a fixed size hold `sample_rate` times `population`
    records, which may be left out where records are replaced;
    `records_per_user`, how many records a person has at most;
    `calibration` "given", or "tight" for the least noise that meets the claim; `grad_sample_mode` "hooks" or "ghost";
    `tuning_runs`, how many runs on the same data led to this one; `learning_rate` of the updates.
    Raises: ValueError: a field outside its range, or one that is missing.
    """

    # What the privacy loss depends on.
    epsilon: Positive
    delta: OpenProbability
    noise_multiplier: Positive | None = None
    sample_rate: PositiveShare | None = None
    steps: Count | None = None
    max_grad_norm: Positive = 1.0
    checkpoint: Path | None = None
    model: Annotated[str, OneOf(("central",))] = "central"
    neighbours: Neighbours = "add_remove"
    sampling: Annotated[str, OneOf(SAMPLINGS)] = "poisson"
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "given"
    grad_sample_mode: Annotated[str, OneOf(_MODES)] = "hooks"
    tuning_runs: Count = 1
    records_per_user: Count = 1
    population: Count | None = None
    batch_bound: Count | None = None

    # What only the usefulness depends on.
    learning_rate: Positive = 0.5

    def __post_init__(self) -> None:
        settle(self)
        one_of("neighbours", self.neighbours, RELATIONS)
        self._check_run()
        self._check_sampling()
        if self.sampling == "shuffled" and self.neighbours != "replace_one":
            raise ValueError(
                "Expected neighbours='add_remove' to be 'replace_one' for sampling='shuffled': a record less moves "
                "others to other batches, for which no bound is known."
            )

    def _check_sampling(self) -> None:
        """Refuse what no declaration says of a way to sample."""
        removed = self.neighbours == "add_remove"
        needs = {
            "population": self.sampling == "truncated_poisson" or (self.sampling == "without_replacement" and removed),
            "batch_bound": self.sampling == "truncated_poisson",
        }
        for name, needed in needs.items():
            value = getattr(self, name)
            left_out = name == "population" and self.sampling == "without_replacement" and not removed
            if (value is None) == needed and not left_out:
                raise ValueError(
                    f"Expected {name}={value} to be {'given' if needed else 'left out'} for "
                    f"sampling={self.sampling!r} and neighbours={self.neighbours!r}."
                )
        if self.sampling not in RUNNABLE and (self.calibration == "tight" or self.checkpoint is not None):
            raise ValueError(f"Expected noise, rate and steps to be given for sampling={self.sampling!r}.")
        if self.sampling == "truncated_poisson" and self.neighbours != "add_remove":
            raise ValueError("Expected neighbours='replace_one' to be 'add_remove' for sampling='truncated_poisson'.")
        poisson = self.sampling == "poisson" and self.neighbours == "add_remove"
        if self.records_per_user > 1 and not (poisson and self.calibration == "given"):
            raise ValueError(
                f"Expected records_per_user={self.records_per_user} to be 1 except for sampling='poisson', "
                "neighbours='add_remove' and calibration='given', where the number that a batch holds is binomial."
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
                raise ValueError(f"Expected {name} to be given, or a checkpoint that holds it.{_FINDS.get(name, '')}")

    def claim(self) -> Claim:
        """Return what is promised of the run."""
        many = self.records_per_user
        unit = "one training record" if many == 1 else f"one user's {many} training records"
        return Claim(epsilon=self.epsilon, delta=self.delta, neighbours=self.neighbours, unit=unit)
