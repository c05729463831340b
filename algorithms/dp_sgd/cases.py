"""Audits of DP-SGD: canaries in feature slots of the training loop, each slot a separate experiment.

The neighbours are a canary absent and present (or, where records are replaced, with one label and the other). Every
slot of a training run repeats the experiment: gradients of different slots are orthogonal, each passes through the
loop's own sampling, clipping and noise, and the noise of different rows is independent.
"""

from typing import Any

import numpy as np

from algorithms.dp_sgd.divisor import divisor_of
from algorithms.dp_sgd.explicit_pairs import explicit_cases
from algorithms.dp_sgd.plan import Plan, plan_of
from algorithms.dp_sgd.run import run_watched
from algorithms.dp_sgd.secret_steps import AllocatedSteps, SampledSteps, SecretSteps
from algorithms.dp_sgd.settings import DpSgdSettings
from algorithms.problems.affairs import Classification
from dpaudit import AuditCase, Claim
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Array
from dpaudit.training import plant

_SLOTS = 1000


def cases_of(settings: DpSgdSettings, problem: Classification | None = None) -> tuple[AuditCase, ...]:
    """Return the white-box case, which sees every noisy gradient, and the one that sees the trained model.

    Shuffled training has a third one, at its explicit pair, which is simulated by the declared law; without a problem
    there is no other.
    """
    if problem is None:
        return explicit_cases(settings)
    plan, claim = plan_of(settings), settings.claim()

    def log_odds(view: Array) -> Array:
        return _log_ratio(view / (plan.noise_multiplier * plan.max_grad_norm), plan, claim)

    gradients = _canary_case(
        plan,
        problem,
        name="dp_sgd canaries, every gradient",
        view="gradients",
        description="Every noisy gradient along one canary's direction; the canary is trained on or not.",
        relation=claim.neighbours,
        score=log_odds,
    )
    model = _canary_case(
        plan,
        problem,
        name="dp_sgd canaries, trained model",
        view="model",
        description="How far the trained weights moved along one canary's direction, in units of gradient sums; it is "
        "trained on or not.",
        relation=claim.neighbours,
        score=np.asarray,
    )
    return gradients, model, *explicit_cases(settings)


def _canary_case(plan: Plan, problem: Classification, *, view: str, **further: Any) -> AuditCase:
    """Return the case that sees along a canary's direction every noisy gradient, or the trained weights alone."""
    place = ("gradients", "model").index(view)

    def run(data: int, rng: np.random.Generator, n_runs: int) -> Array:
        return np.concatenate([_slots(plan, problem, data, part, rng)[place] for part in _parts(n_runs)])

    return AuditCase(view=view, neighbours=_labels(further["relation"]), run=run, **further)


def _labels(relation: Neighbours) -> tuple[int, int]:
    """Return what differs between the neighbours: one label and the other, or a canary absent and present."""
    return (-1, 1) if relation == "replace_one" else (0, 1)


def _parts(n_runs: int) -> list[int]:
    """Return how many slots each training run holds."""
    return [min(_SLOTS, n_runs - start) for start in range(0, n_runs, _SLOTS)]


def _slots(plan: Plan, problem: Classification, data: int, slots: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return projections of gradients (slots, steps) and of the trained weights (slots,), downhill counted positive.

    `data` 1 trains on all canaries with the second label, -1 with the first, 0 on none. Weights are in the unit of
    gradient sums: what Opacus divides these by follows from the number of records, which one record seldom changes
    and all canaries together do; a condition of its own looks at that number.
    """
    included = np.full(slots, data != 0)
    planted = plant(problem.features, problem.labels, outputs=2, canaries=slots, rng=rng, blanks=0, included=included)
    if data < 0:
        planted.labels[len(problem.labels) :] = 0
    watch, done = run_watched(plan, planted, rng)
    unit = plan.learning_rate / divisor_of(planted.records, plan.batches)
    rows = done["weights"][planted.slots.canaries] / unit
    return np.array(watch.projections).T, -np.einsum("mk,mk->m", rows, planted.slots.directions)


def _log_ratio(shifts: Array, plan: Plan, claim: Claim) -> Array:
    """Return each slot's log likelihood ratio; `shifts` (slots, steps) is in standard deviations of the noise."""
    law = _steps_of(plan)
    absent = law.log_ratio(-shifts) if claim.neighbours == "replace_one" else 0.0
    return law.log_ratio(shifts) - absent


def _steps_of(plan: Plan) -> SecretSteps:
    """Return where a canary takes part, as the plan samples, and how far it moves a step along its direction."""
    shift = 1 / plan.noise_multiplier
    if plan.sampling == "shuffled":
        return AllocatedSteps(shift=shift, batches=plan.batches, steps=plan.steps)
    return SampledSteps(shift=shift, rate=1 / plan.batches, steps=plan.steps)
