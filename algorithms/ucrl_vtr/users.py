"""Users of one episode: how they act on what is public, and the features and targets that they contribute."""

import numpy as np

from algorithms._linear_rl.least_squares import bonus_of, linear
from algorithms.ucrl_vtr.planning import Domain, Planned
from dpaudit import Streams
from dpaudit.model.mechanism import Array


def greedy(values: Array, rng: np.random.Generator) -> Array:
    """Return the best action of each run, ties broken uniformly by `rng`. Shape: (n_runs, A) to (n_runs,)."""
    best = values == values.max(axis=1, keepdims=True)
    chosen: Array = np.where(best, rng.random(values.shape), -1.0).argmax(axis=1)
    return chosen


def play(domain: Domain, planned: Planned, streams: Streams) -> tuple[Array, Array]:
    """Return the features and targets that one episode's users contribute, in every run.

    Shape: (n_runs, G, d) and (n_runs, G). They are computed with the values that the episode was played with, and
    never again.
    """
    steps, _, actions_count = domain.mdp.shape
    n_runs = len(planned.values)
    runs = np.arange(n_runs)
    weighted = len(planned.radii) > 1
    features: list[Array] = []
    targets: list[Array] = []
    states = domain.mdp.start(n_runs, streams.environment)
    for h in range(steps - 1):
        actions = greedy(planned.actions[runs, h, states], streams.actions)
        cells = states * actions_count + actions
        x = planned.features[h][runs, cells]
        states = domain.mdp.move(h, states, actions, streams.environment)
        y = planned.values[runs, h + 1, states]
        if weighted:
            squared = domain.moments_at(cells, planned.values[:, h + 1] ** 2)
            deviation = spread_at(planned, h, x, squared, top=float(steps))
            features += [x / deviation[:, None], squared]
            targets += [y / deviation, y**2]
        else:
            features.append(x)
            targets.append(y)
    return np.stack(features, axis=1), np.stack(targets, axis=1)


def spread_at(planned: Planned, step: int, x: Array, squared: Array, top: float) -> Array:
    """Return the deviation by which Algorithm 3 divides a first moment: sqrt(max(H^2 / d, variance + error)).

    Shape: x and squared (n_runs, d), the features of values and of their squares at the visited cells. The error is
    min(H^2, 2 H check ||x||) + min(H^2, tilde ||squared||), each norm by its own regression's inverse. (The paper
    prints the features of values in the last norm; its proof has those of the squares.)
    """
    check, _, tilde = planned.radii
    first, second = 2 * step, 2 * step + 1
    regressed = planned.regressed
    mean = np.clip(linear(x[:, None], regressed.weights[:, first])[:, 0], 0.0, top)
    square = np.clip(linear(squared[:, None], regressed.weights[:, second])[:, 0], 0.0, top**2)
    of_mean = 2 * top * check * bonus_of(x[:, None], regressed.inverses[:, first])[:, 0]
    of_square = tilde * bonus_of(squared[:, None], regressed.inverses[:, second])[:, 0]
    error = np.minimum(top**2, of_mean) + np.minimum(top**2, of_square)
    deviation: Array = np.sqrt(np.maximum(top**2 / x.shape[1], square - mean**2 + error))
    return deviation
