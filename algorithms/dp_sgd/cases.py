"""Audits of DP-SGD: canaries in feature slots of the real loop, each slot an experiment of its own.

The neighbours are a canary absent and present (or, where records are replaced, with one label and the other). Every
slot of a training run repeats the experiment: gradients of different slots are orthogonal, each passes through the
loop's own sampling, clipping and noise, and the noise of different rows is independent.
"""

import math
from dataclasses import replace

import numpy as np

from algorithms.dp_sgd.running import Settings, run_watched
from algorithms.problems.affairs import Classification
from dpaudit import AuditCase, Claim, plant
from dpaudit.model.mechanism import Array

_SLOTS = 1000


def cases_of(settings: Settings, claim: Claim, problem: Classification) -> tuple[AuditCase, ...]:
    """Return the white-box case, which sees every noisy gradient, and the one that sees the trained model."""
    absent, present = (-1, 1) if claim.neighbours == "replace_one" else (0, 1)

    def gradients(data: int, rng: np.random.Generator, n_runs: int) -> Array:
        return np.concatenate([_slots(settings, problem, data, part, rng)[0] for part in _parts(n_runs)])

    def model(data: int, rng: np.random.Generator, n_runs: int) -> Array:
        return np.concatenate([_slots(settings, problem, data, part, rng)[1] for part in _parts(n_runs)])

    def log_odds(view: Array) -> Array:
        return _log_ratio(view / (settings.noise_multiplier * settings.max_grad_norm), settings, claim)

    def weakened_gradients(factor: float) -> AuditCase:
        def run(data: int, rng: np.random.Generator, n_runs: int) -> Array:
            return _simulated(settings, data, factor, rng, n_runs)

        return replace(seeing_gradients, run=run)

    def weakened_model(factor: float) -> AuditCase:
        def run(data: int, rng: np.random.Generator, n_runs: int) -> Array:
            total: Array = _simulated(settings, data, factor, rng, n_runs).sum(axis=1)
            return total

        return replace(seeing_model, run=run)

    seeing_gradients = AuditCase(
        name="dp_sgd canaries, every gradient",
        view="gradients",
        description="Every noisy gradient along one canary's direction; the canary is trained on or not.",
        neighbours=(absent, present),
        relation=claim.neighbours,
        run=gradients,
        score=log_odds,
        weakened=weakened_gradients,
    )
    seeing_model = AuditCase(
        name="dp_sgd canaries, trained model",
        view="model",
        description="How far the trained weights moved along one canary's direction; it is trained on or not.",
        neighbours=(absent, present),
        relation=claim.neighbours,
        run=model,
        score=np.asarray,
        weakened=weakened_model,
    )
    return seeing_gradients, seeing_model


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
    planted = plant(problem.features, problem.labels, outputs=2, canaries=slots, rng=rng, blanks=0, included=included)
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


def _simulated(settings: Settings, data: int, factor: float, rng: np.random.Generator, n_runs: int) -> Array:
    """Return projections (n_runs, steps) of a run that samples and clips as declared, with a factor of its noise."""
    shape = (n_runs, settings.steps)
    taken = data * (rng.random(shape) < 1 / settings.batches)
    projections: Array = settings.max_grad_norm * (
        taken + factor * settings.noise_multiplier * rng.standard_normal(shape)
    )
    return projections
