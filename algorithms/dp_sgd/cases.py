"""Audits of DP-SGD: canaries in feature slots of the real loop, each slot an experiment of its own.

The neighbours are a canary absent and present (or, where records are replaced, with one label and the other). Every
slot of a training run repeats the experiment: gradients of different slots are orthogonal, each passes through the
loop's own sampling, clipping and noise, and the noise of different rows is independent.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.reading import TrainingRecord
from algorithms.dp_sgd.running import Settings, run_watched
from algorithms.problems.affairs import Classification
from dpaudit import AuditCase, Claim, plant
from dpaudit.mechanism import Array

if TYPE_CHECKING:
    from collections.abc import Callable

_SLOTS = 1000
_LEAST = 1e-2


def cases_of(
    settings: Settings, record: TrainingRecord, claim: Claim, problem: Classification
) -> tuple[AuditCase, ...]:
    """Return the white-box case, which sees every noisy gradient, and the one that sees the trained model."""
    absent, present = (-1, 1) if claim.neighbours == "replace_one" else (0, 1)

    def gradients(data: int, rng: np.random.Generator, n_runs: int) -> Array:
        return np.concatenate([_slots(settings, problem, data, part, rng)[0] for part in _parts(n_runs)])

    def model(data: int, rng: np.random.Generator, n_runs: int) -> Array:
        return np.concatenate([_slots(settings, problem, data, part, rng)[1] for part in _parts(n_runs)])

    def log_odds(view: Array) -> Array:
        return _log_ratio(view / (settings.noise_multiplier * settings.max_grad_norm), settings, claim)

    words = _power_in_words(record, claim)
    return (
        AuditCase(
            name="dp_sgd canaries, every gradient",
            view="gradients",
            description="Every noisy gradient along one canary's direction; the canary is trained on or not.",
            neighbours=(absent, present),
            relation=claim.neighbours,
            run=gradients,
            score=log_odds,
            power_in_words=words,
        ),
        AuditCase(
            name="dp_sgd canaries, trained model",
            view="model",
            description="How far the trained weights moved along one canary's direction; it is trained on or not.",
            neighbours=(absent, present),
            relation=claim.neighbours,
            run=model,
            score=np.asarray,
            power_in_words=words,
        ),
    )


def _parts(n_runs: int) -> list[int]:
    """Return how many slots each training run holds."""
    return [min(_SLOTS, n_runs - start) for start in range(0, n_runs, _SLOTS)]


def _slots(
    settings: Settings, problem: Classification, data: int, slots: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return projections of gradients (slots, steps) and of the trained weights (slots,), downhill counted positive.

    `data` 1 trains on all canaries with the second label, -1 with the first, 0 on none.
    """
    included = np.full(slots, data != 0)
    planted = plant(
        problem.features, problem.labels, outputs=2, canaries=slots, rng=rng, blanks=0, included=included
    )
    if data < 0:
        planted.labels[len(problem.labels) :] = 0
    watch, done = run_watched(settings, planted, rng)
    rows = done["weights"][planted.slots.canaries]
    return np.array(watch.projections).T, -np.einsum("mk,mk->m", rows, planted.slots.directions)


def _log_ratio(shifts: Array, settings: Settings, claim: Claim) -> Array:
    """Return each slot's log likelihood ratio; `shifts` (slots, steps) is in standard deviations of the noise."""
    shift, rate = 1 / settings.noise_multiplier, 1 / settings.batches

    def mixed(sign: int) -> Array:
        exponent = sign * shift * shifts - shift**2 / 2
        keep = math.log1p(-rate) if rate < 1 else -math.inf
        return np.asarray(np.logaddexp(keep, math.log(rate) + exponent))

    ratio = mixed(1) - mixed(-1) if claim.neighbours == "replace_one" else mixed(1)
    summed: Array = ratio.sum(axis=1)
    return summed


def _power_in_words(record: TrainingRecord, claim: Claim) -> "Callable[[float], str]":
    """Return a function from the epsilon that an audit would have caught to the factor of missing noise."""

    def epsilon_at(factor: float) -> float:
        history = [(noise * factor, rate, steps) for noise, rate, steps in record.history]
        return epsilon_of_history(history, claim.delta, claim.neighbours)

    def words(epsilon: float) -> str:
        if not math.isfinite(epsilon):
            return "No missing noise would have been caught."
        low, high = math.log(_LEAST), 0.0
        for _ in range(10):
            middle = (low + high) / 2
            try:
                enough = epsilon_at(math.exp(middle)) >= epsilon
            except ArithmeticError:
                enough = True
            low, high = (middle, high) if enough else (low, middle)
        return f"Noise below about {math.exp(low):.2g} times the declared would have been caught."

    return words
