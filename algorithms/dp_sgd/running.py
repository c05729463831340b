"""Running a config through Opacus while watching it: the trace, and what was looked at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.dp_sgd.extra import require_opacus
from algorithms.problems.affairs import Classification
from dpaudit import (
    Condition,
    ConfigError,
    Declaration,
    Parallel,
    Planted,
    Released,
    Repeat,
    Sequential,
    Streams,
    Subsample,
    Training,
    Transcript,
    Watch,
    conform,
    plant,
)
from mechanisms import Gaussian

_CANARIES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one run needs."""

    noise_multiplier: float
    max_grad_norm: float
    batches: int
    steps: int
    grad_sample_mode: str
    sampling: str
    learning_rate: float

    def training(self, records: int) -> Training:
        """Return the run as a watch's declaration."""
        return Training(
            noise_multiplier=self.noise_multiplier,
            max_grad_norm=self.max_grad_norm,
            sample_rate=1 / self.batches,
            steps=self.steps,
            records=records,
        )


def run_watched(settings: Settings, planted: Planted, rng: np.random.Generator) -> tuple[Watch, dict[str, Any]]:
    """Return what one training run through Opacus did, and what it left: weights, engine, optimizer, loader.

    Raises: ConfigError: Opacus is not installed, or fewer records than batches need.
    """
    require_opacus("Running dp_sgd")
    from algorithms.dp_sgd.loop import train

    watch = Watch(records=planted.records, slots=planted.slots)
    try:
        done = train(
            planted.features,
            planted.labels,
            noise_multiplier=settings.noise_multiplier,
            max_grad_norm=settings.max_grad_norm,
            batches=settings.batches,
            steps=settings.steps,
            step=watch.step,
            mode=settings.grad_sample_mode,
            poisson=settings.sampling == "poisson",
            learning_rate=settings.learning_rate,
            seed=int(rng.integers(2**31)),
        )
    except ValueError as error:
        raise ConfigError(f"The problem does not fit the config: {error}") from None
    return watch, done


def transcript_of(
    settings: Settings, declaration: Declaration, problem: Classification, streams: Streams, n_runs: int
) -> Transcript:
    """Return `n_runs` watched runs: arrays `weights` (n_runs, columns, 2) and `accuracy` (n_runs,).

    The trace is what Opacus itself counted and set; the conditions are what the watch saw of every run.
    """
    weights: list[Any] = []
    conditions: list[Condition] = []
    trace: tuple[Released, ...] = ()
    columns = problem.features.shape[1]
    for rng in streams.noise.spawn(n_runs):
        planted = plant(problem.features, problem.labels, outputs=2, canaries=_CANARIES, rng=rng)
        watch, done = run_watched(settings, planted, rng)
        weights.append(done["weights"][:columns])
        trace = tuple(_trace(declaration, done))
        seen = conform(settings.training(planted.records), watch)
        checks = seen.conditions()
        if settings.sampling == "shuffled":
            checks = tuple(c for c in checks if c.about != ("dispersion of the sample",))
        conditions += checks if not conditions else [c for c in checks if c.status == "violated"]
    held = np.array(weights)
    guessed = np.einsum("nc,rck->rnk", problem.features, held).argmax(axis=2)
    return Transcript(
        n_runs=n_runs,
        arrays={"weights": held, "accuracy": (guessed == problem.labels).mean(axis=1)},
        views={"model": ("weights",)},
        trace=trace,
        conditions=tuple(conditions),
    )


def _trace(declaration: Declaration, done: dict[str, Any]) -> Iterator[Released]:
    """Yield what Opacus counted, under the labels of the declaration; nothing where it only states an epsilon."""
    history = done["engine"].accountant.history
    if isinstance(declaration, Sequential):
        for part, (_, rate, _) in zip(declaration.parts, history, strict=False):
            if isinstance(part, Repeat) and isinstance(part.part, Subsample) and rate != part.part.rate:
                raise ConfigError(f"Opacus accounted for the rate {rate:.6g}; {part.part.rate:.6g} is declared.")
        for place, (noise, _, steps) in enumerate(history):
            mechanism = Gaussian(stddev=noise, l2_sensitivity=1.0, neighbours="add_remove")
            yield Released(label=f"gradient sums {place + 1}", mechanism=mechanism, times=steps)
    elif isinstance(declaration, Repeat) and isinstance(declaration.part, Parallel):
        noise = done["optimizer"].noise_multiplier
        mechanism = Gaussian(stddev=noise, l2_sensitivity=2.0, neighbours="replace_one")
        for place in range(len(declaration.part.parts)):
            yield Released(label=f"batch {place + 1}", mechanism=mechanism, times=declaration.times)
