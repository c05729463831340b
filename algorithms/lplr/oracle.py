"""The oracle of Algorithm 2: two phases a layer, on fresh users, for the atoms of all actions at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from algorithms.lplr.bins import Bins, Walk, bins_of, start
from algorithms.lplr.plan import Plan
from algorithms.lplr.regression import Fit, principal_component, widened
from algorithms.lplr.sums import released_sum
from dpaudit import Recorder
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The users of one phase: how many stood at each atom, and how many saw reward +1; (R, A, K).

    `people` are their numbers among all users of the run.
    """

    counts: Array
    positive: Array
    people: range = range(0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """The oracle's answer at every atom.

    Shape: `value` and `half_width` (R, A, K), 0 and 1 where the width says nothing; `prediction` (R, A, K), the value
    without regard to the width; `layers` (R, A, K), how many layers held an active bin. `largest_entry` and
    `smallest_entry` are those of all confidence entries that users computed.
    """

    value: Array
    half_width: Array
    prediction: Array
    layers: Array
    largest_entry: float
    smallest_entry: float


def fit_oracle(
    plan: Plan, features: Array, phases: Iterator[Answers], users: int, recorder: Recorder, n_runs: int
) -> Estimate:
    """Return predictions and half widths at every atom, from as many phases of `users` users as the plan has.

    Shape: features (A, K, d). Cost: O(A K (K + d^2)) a layer and run, whatever the number of users.
    """
    walk = start(plan.normalise(features), n_runs)
    layers, entries = np.zeros(walk.prediction.shape, dtype=np.int64), [0.0]
    for layer in range(1, plan.dimension + 1):  # Algorithm 2, line 1
        bins = bins_of(walk, plan.resolution)  # line 2
        fit = update_phase(plan, walk, bins, layer, users, next(phases), recorder)  # lines 3 to 8
        entry = np.where(
            fit.active, plan.clamp(walk.half_width) * np.abs((fit.direction * bins.scaled).sum(axis=-1)), 0.0
        )
        entries += [float(entry.max()), float(entry.min())]
        mean = None
        if layer > 1 or plan.first_confidence:
            mean = confidence_phase(plan, bins, entry, users, next(phases), recorder)  # line 9
        walk = descended(plan, walk, bins, fit, layer, users, mean)  # line 9 (server) and line 11
        layers = layers + walk.alive
    vague = walk.half_width >= 1
    prediction = np.clip(walk.prediction, -1, 1)
    return Estimate(
        value=np.where(vague, 0.0, prediction),
        half_width=np.where(vague, 1.0, walk.half_width),
        prediction=prediction,
        layers=layers,
        largest_entry=max(entries),
        smallest_entry=min(entries),
    )


def update_phase(
    plan: Plan, walk: Walk, bins: Bins, layer: int, users: int, answers: Answers, recorder: Recorder
) -> Fit:
    """Return the fit of every bin after one update phase.

    Source: Algorithm 3, all users at once, and Algorithm 4.
    """
    recorder.people.append(answers.people)
    shown = np.where(bins.inside, answers.counts, 0)
    positive = np.where(bins.inside, answers.positive, 0)
    reward = np.ones_like(walk.prediction)  # Algorithm 3, line 2: y_h = y less the prediction so far
    explained = positive * plan.residual(reward, walk.prediction)
    explained = explained + (shown - positive) * plan.residual(-reward, walk.prediction)
    count = bins.sums(shown.astype(np.float64))  # line 3
    vector = bins.sums((explained / plan.bound(layer))[..., None] * bins.scaled)  # line 4
    matrix = bins.sums(shown[..., None, None] * bins.scaled[..., :, None] * bins.scaled[..., None, :])  # line 5
    noisy = noisy_statistics(plan, recorder, users, count, vector, matrix)
    return principal_component(plan, walk, bins, layer, users, *(bins.shared(values) for values in noisy))


def noisy_statistics(
    plan: Plan, recorder: Recorder, users: int, count: Array, vector: Array, matrix: Array
) -> tuple[Array, Array, Array]:
    """Return the three sums with the noise of `users` messages each."""
    mechanisms = dict(plan.leaves.update)
    if "message" in mechanisms:
        joined = joined_message(count, vector, matrix)
        return parted_message(released_sum(recorder, "message", mechanisms["message"], joined, users), plan.dimension)
    return (
        released_sum(recorder, "count", mechanisms["count"], count[..., None], users)[..., 0],
        released_sum(recorder, "vector", mechanisms["vector"], vector, users),
        released_sum(recorder, "matrix", mechanisms["matrix"], matrix, users),
    )


def confidence_phase(plan: Plan, bins: Bins, entry: Array, users: int, answers: Answers, recorder: Recorder) -> Array:
    """Return each bin's noisy sum of its users' entries, in units of gamma^-key / sqrt(s); shape (R, A, K).

    Source: Algorithm 5, the users' part.
    """
    recorder.people.append(answers.people)
    # lines 3 to 6: each user adds their entry to their own bin, and noise to every bin
    total = bins.sums(np.where(bins.inside, answers.counts, 0) * entry)
    return bins.shared(released_sum(recorder, "width", plan.leaves.of("width"), total, users))


def descended(plan: Plan, walk: Walk, bins: Bins, fit: Fit, layer: int, users: int, mean: Array | None) -> Walk:
    """Return the walk after a layer: active bins take out their direction, others stop their atoms.

    An atom without an active bin keeps its prediction and adds what the rest of its vector can still be worth.
    Source: Algorithm 6; the width of an inactive bin adds to its parent's, as the proof of Lemma 4.4 has it.
    """
    going = walk.alive & fit.active
    along = (fit.direction * walk.vectors).sum(axis=-1)
    across = walk.vectors - fit.direction * along[..., None]
    added = np.where(going, widened(plan, walk, bins, fit, layer, users, mean), plan.resolution.gamma**-bins.key)
    # Algorithm 5, line 14, and line 11 for inactive bins
    half_width = np.where(walk.alive, plan.clamp(walk.half_width + added), walk.half_width)
    direction = np.where(going[..., None], fit.direction, 0.0)
    return replace(
        walk,
        vectors=np.where(going[..., None], across, walk.vectors),
        path=np.concatenate([walk.path, direction[..., None]], axis=-1),
        # Algorithm 6, line 6
        prediction=walk.prediction + np.where(going, fit.slope * along, 0.0),
        half_width=half_width,
        alive=going,
        together=bins.together,
    )


def joined_message(count: Array, vector: Array, matrix: Array) -> Array:
    """Return one vector a message: count, vector, and the matrix with off-diagonals times the root of 2."""
    rows, columns = np.triu_indices(matrix.shape[-1])
    weights = np.where(rows == columns, 1.0, np.sqrt(2.0))
    return np.concatenate([count[..., None], vector, weights * matrix[..., rows, columns]], axis=-1)


def parted_message(joined: Array, dimension: int) -> tuple[Array, Array, Array]:
    """Return count, vector and symmetric matrix of a message made by `joined_message`."""
    rows, columns = np.triu_indices(dimension)
    weights = np.where(rows == columns, 1.0, np.sqrt(2.0))
    matrix = np.zeros((*joined.shape[:-1], dimension, dimension))
    matrix[..., rows, columns] = joined[..., 1 + dimension :] / weights
    matrix[..., columns, rows] = matrix[..., rows, columns]
    return joined[..., 0], joined[..., 1 : 1 + dimension], matrix
