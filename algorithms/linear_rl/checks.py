"""What a run can look at, and the looking: the bounds that the proof needs, and whether noise was fresh.

Each text says what was seen and no more, so that a look does not turn a general condition of the declaration into a
checked one. The exception is the sensitivity, which the bounds decide: it is computed from them alone.
"""

import numpy as np

from algorithms.linear_rl.regressions import Regression
from dpaudit import Condition, Released, Streams
from dpaudit.model.mechanism import Array

VALUES = Condition(
    kind="clipping",
    about=("optimistic values",),
    text="Every optimistic value lay in [0, R] of its step.",
)
FEATURES = Condition(
    kind="clipping",
    about=("feature vectors",),
    text="Every feature vector had norm at most R where it entered the statistics.",
)
TARGETS = Condition(
    kind="clipping",
    about=("regression targets",),
    text="Every regression target lay between 0 and its bound where it entered the statistics.",
)
SENSITIVITY = Condition(kind="sensitivity")
FRESH = Condition(kind="distinct_noise")
SCHEDULE = Condition(
    kind="public_schedule",
    about=("policies",),
    text="Policies changed at episodes that were fixed before any data was seen.",
)
SWITCHES = Condition(
    kind="public_schedule",
    about=("switches of policy",),
    text="Policies changed by noisy matrices alone, and not more often than declared.",
)

_ROUNDING = 1 + 1e-9


def values_in_range(values: Array, ranges: tuple[float, ...]) -> bool:
    """Return whether optimistic values (n_runs, H + 1, S) lie within their steps' ranges."""
    tops = np.array([*ranges, 0.0])[None, :, None]
    return bool(((values >= 0) & (values <= tops * _ROUNDING)).all())


def norm_ratios(contributions: Array, regressions: tuple[Regression, ...]) -> tuple[Array, Array]:
    """Return how large features and targets are against their bounds, as they entered. Shape: both (n_runs,).

    ||x||^2 is the trace of x x^T, and |y| is ||y x|| over ||x||; where x is 0, y entered nowhere. The sign of y does
    not matter: (x, -y) enters as (-x, y) does.
    """
    x_bounds = np.array([held.feature_bound for held in regressions])
    y_bounds = np.array([held.target_bound for held in regressions])
    norms = np.sqrt(np.maximum(np.trace(contributions[..., :-1], axis1=-2, axis2=-1), 0.0))
    targets = np.linalg.norm(contributions[..., -1], axis=-1) / np.where(norms > 0, norms, np.inf)
    return (norms / x_bounds).max(axis=1), (targets / y_bounds).max(axis=1)


def noise_is_fresh(streams: Streams, released: tuple[Released, ...]) -> bool:
    """Return whether noise has a stream of its own and no two releases carry the same noise."""
    others = (streams.actions, streams.environment, streams.public)
    fingerprints = [line.fingerprint for line in released if line.fingerprint is not None]
    return all(streams.noise is not other for other in others) and len(set(fingerprints)) == len(fingerprints)


def conditions(looked: dict[Condition, bool]) -> tuple[Condition, ...]:
    """Return each condition that was looked at, as checked or violated."""
    return tuple(condition.seen(holds=held) for condition, held in looked.items())
