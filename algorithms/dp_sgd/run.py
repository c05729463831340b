"""The run of DP-SGD through Opacus, watched: the trace, and the conditions that the watch checked."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.dp_sgd import loop
from algorithms.dp_sgd.checks import divisor_condition
from algorithms.dp_sgd.declaration import declaration_of
from algorithms.dp_sgd.extra import require_opacus
from algorithms.dp_sgd.plan import Plan, plan_of
from algorithms.dp_sgd.recomputed import Recomputed
from algorithms.dp_sgd.settings import RUNNABLE, DpSgdSettings
from algorithms.problems.affairs import Classification
from dpaudit import Condition, Declaration, Group, Parallel, Repeat, Sequential, Streams, Subsample, Transcript
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released
from dpaudit.training import DrawnBatches, Planted, Watch, conform, conform_batches, plant
from mechanisms import Gaussian

_CANARIES = 32
_BLANKS = 1024
"""How many columns of noise alone a run shows: with them 2 % less noise shows in some 40 steps."""

_OF_POISSON = ("draws of the sampler",)
_POOLED = ("draws of the sampler in all runs",)


def run(settings: DpSgdSettings, problem: Classification, streams: Streams, n_runs: int) -> Transcript:
    """Return `n_runs` watched training runs: arrays `weights` (n_runs, columns, 2) and `accuracy` (n_runs,).

    The trace is what Opacus itself counted and set; the conditions are what the watch saw of every run.
    Raises: ConfigError: Opacus is not installed, or a rate, history or problem that it cannot run.
    """
    plan, declaration = plan_of(settings), declaration_of(settings)
    weights: list[Any] = []
    conditions: list[Condition] = []
    trace: tuple[Released, ...] = ()
    columns = problem.features.shape[1]
    drawn: list[DrawnBatches] = []
    for rng in streams.noise.spawn(n_runs):
        planted = plant(problem.features, problem.labels, outputs=2, canaries=_CANARIES, rng=rng, blanks=_BLANKS)
        again = Recomputed.of(plan, planted)
        watch, done = run_watched(plan, planted, rng, again.step)
        weights.append(done["weights"][:columns])
        trace = tuple(_trace(declaration, done))
        seen = conform(plan.training(planted.records), watch)
        checks = (*seen.conditions(), *again.conditions(done["weights"]))
        if plan.sampling == "shuffled":
            checks = tuple(c for c in checks if c.about != _OF_POISSON)
        conditions += checks if not conditions else [c for c in checks if c.status == "violated"]
        drawn.append(_drawn(plan, planted.records, watch))
    conditions.append(_sampled_as_declared(drawn))
    if settings.neighbours == "add_remove":
        conditions.append(divisor_condition(len(problem.labels), plan.batches))
    trained = np.array(weights)
    return Transcript(
        n_runs=n_runs,
        arrays={"weights": trained, "accuracy": _accuracy(problem, trained)},
        views={"model": ("weights",)},
        trace=trace,
        conditions=tuple(conditions),
    )


def _accuracy(problem: Classification, weights: Array) -> Array:
    """Return the share of the problem's records whose label each run's weights guess. Shape: (n_runs,)."""
    guessed = np.einsum("nc,rck->rnk", problem.features, weights).argmax(axis=2)
    return (guessed == problem.labels).mean(axis=1)


def _drawn(plan: Plan, records: int, watch: Watch) -> DrawnBatches:
    """Return the batches of a run, with the law by which they are planned."""
    if plan.sampling == "shuffled":
        return DrawnBatches.dealt(watch.sampled, records=records, number=plan.batches)
    return DrawnBatches.poisson(watch.sampled, records=records, rate=1 / plan.batches)


def _sampled_as_declared(drawn: list[DrawnBatches]) -> Condition:
    """Return whether the batches of all runs together were drawn as planned."""
    check = conform_batches(drawn)
    text = f"{check.sentence} Looked at: {len(drawn)} runs together."
    return Condition(kind="training_loop", about=_POOLED, text=text).seen(holds=not check.rule)


def run_watched(
    plan: Plan, planted: Planted, rng: np.random.Generator, also: loop.Step | None = None
) -> tuple[Watch, dict[str, Any]]:
    """Return what one training run through Opacus did, and what it left: weights, engine, optimizer, loader.

    `also` is told of every step beside the watch, and may answer with the noisy sum that training goes on with.
    Raises: ConfigError: Opacus is not installed, or fewer records than batches need.
    """
    require_opacus("Running dp_sgd")
    if plan.sampling not in RUNNABLE:
        raise ConfigError(
            f"Opacus draws no batches by sampling={plan.sampling!r}; certify it without a [problem], or train with "
            f"{' or '.join(RUNNABLE)}."
        )

    watch = Watch(records=planted.records, slots=planted.slots)

    def step(released: Array, summed: Array, batch: Array) -> Any:
        watch.step(released, summed, batch)
        return None if also is None else also(released, summed, batch)

    try:
        seeded = replace(plan, seed=int(rng.integers(2**31)))
        done = loop.train(planted.features, planted.labels, seeded, step)
    except ValueError as error:
        raise ConfigError(f"The problem does not fit the config: {error}") from None
    return watch, done


def _trace(declaration: Declaration, done: dict[str, Any]) -> Iterator[Released]:
    """Yield what Opacus counted, under the labels of the declaration; nothing where it only states an epsilon."""
    history = done["engine"].accountant.history
    declaration = declaration.part if isinstance(declaration, Group) else declaration
    if isinstance(declaration, Sequential):
        for part, (_, rate, _) in zip(declaration.parts, history, strict=False):
            if isinstance(part, Repeat) and isinstance(part.part, Subsample) and rate != part.part.rate:
                raise ConfigError(f"Opacus accounted for the rate {rate:.6g}; {part.part.rate:.6g} is declared.")
        for number, (noise, _, steps) in enumerate(history, start=1):
            mechanism = Gaussian(stddev=noise, l2_sensitivity=1.0, neighbours="add_remove")
            yield Released(label=f"gradient sums {number}", mechanism=mechanism, times=steps)
    elif isinstance(declaration, Repeat) and isinstance(declaration.part, Parallel):
        noise = done["optimizer"].noise_multiplier
        mechanism = Gaussian(stddev=noise, l2_sensitivity=2.0, neighbours="replace_one")
        released = len(declaration.part.parts) * declaration.times
        yield Released(label="batches", mechanism=mechanism, times=released)
