"""The message of one user's device, computed from one record: the code that the privacy claim is about.

A message has an entry for every stored bin of every action. The record fills the one bin that it falls in; all other
entries are noise alone, and all are sent. Noise goes with the bin and never with the user's own index.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from algorithms.lplr.bins import keys
from algorithms.lplr.oracle import joined_message
from algorithms.lplr.plan import Plan
from dpaudit import Recorder
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one user holds: the features of the context with the action that was played, that action, the reward."""

    features: tuple[float, ...]
    reward: float
    action: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """A stored bin as everybody sees it: the action it belongs to, its indices, and what was published on the way.

    `indices` has one entry for each layer; `directions` and `slopes` one for each layer before the last: the unit
    vectors that were taken out and the coefficients along them. `half_width` is the one so far; `direction` is the
    bin's own, which a confidence phase reads.
    """

    indices: tuple[int, ...]
    directions: tuple[tuple[float, ...], ...] = ()
    slopes: tuple[float, ...] = ()
    half_width: float = 0.0
    direction: tuple[float, ...] = ()
    action: int = 0


def bottom(plan: Plan) -> Record:
    """Return the record of nobody: features of 0 and reward 0."""
    return Record(features=(0.0,) * plan.dimension, reward=0.0)


def scaled_vector(plan: Plan, target: Bin, record: Record) -> tuple[Array, float] | None:
    """Return what `record` puts into `target`, a vector of norm at most 1 and the prediction so far; None if elsewhere.

    Source: Figure 2, one path.
    """
    left = plan.normalise(np.asarray(record.features, dtype=np.float64))
    if record.action != target.action or not np.isfinite(record.reward):
        return None
    prediction = 0.0
    for layer, index in enumerate(target.indices):
        if int(keys(np.asarray(np.linalg.norm(left)), plan.resolution)) != index:
            return None
        if layer < len(target.directions):
            direction = np.asarray(target.directions[layer])
            along = float(direction @ left)
            prediction += target.slopes[layer] * along
            left = left - along * direction
    return plan.normalise(left * plan.resolution.gamma ** target.indices[-1]), prediction


def update_answers(plan: Plan, bins: tuple[Bin, ...], record: Record) -> dict[str, Array]:
    """Return the exact entries of an update message, in scaled units, by label; bins on the first axis.

    Source: Algorithm 3.
    """
    dimension = plan.dimension
    count, vector = np.zeros((len(bins), 1)), np.zeros((len(bins), dimension))
    matrix = np.zeros((len(bins), dimension, dimension))
    for index, target in enumerate(bins):
        contribution = scaled_vector(plan, target, record)
        if contribution is None:
            continue
        scaled, prediction = contribution
        residual = plan.residual(np.asarray(record.reward), np.asarray(prediction))
        count[index] = 1.0  # line 3
        vector[index] = float(residual) / plan.bound(len(target.indices)) * scaled  # line 4
        matrix[index] = np.outer(scaled, scaled)  # line 5
    if plan.leaves.update[0][0] == "message":
        return {"message": joined_message(count[:, 0], vector, matrix)}
    return {"count": count, "vector": vector, "matrix": matrix}


def confidence_answers(plan: Plan, bins: tuple[Bin, ...], record: Record) -> dict[str, Array]:
    """Return the exact entries of a confidence message, in units of gamma^-index / sqrt(s); bins on the first axis.

    Source: Algorithm 5.
    """
    width = np.zeros(len(bins))
    for index, target in enumerate(bins):
        contribution = scaled_vector(plan, target, record)
        if contribution is not None:
            along = abs(float(np.asarray(target.direction) @ contribution[0]))
            width[index] = float(plan.clamp(np.asarray(target.half_width))) * along  # line 4
    return {"width": width}


def sent(plan: Plan, recorder: Recorder, answers: Mapping[str, Array], n_runs: int) -> dict[str, Array]:
    """Return `n_runs` independent messages with these exact entries, by label, runs first."""
    return {
        label: recorder.release(label, plan.leaves.of(label), np.broadcast_to(exact, (n_runs, *exact.shape)))
        for label, exact in answers.items()
    }
