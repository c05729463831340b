"""Steps that a user's device runs on their record, as printed and as repaired; the sensitivities rest on them."""

from collections.abc import Callable

import numpy as np

from dpaudit.model.mechanism import Array

Residual = Callable[[Array, Array], Array]
"""residual(reward, prediction) -> what is left of a reward for deeper layers to explain."""

Normalise = Callable[[Array], Array]
"""normalise(vectors) -> vectors of norm 1 at most."""


def printed_residual(reward: Array, prediction: Array) -> Array:
    """Return reward minus prediction: as printed, with nothing that bounds it."""
    left: Array = np.asarray(reward) - np.asarray(prediction)
    return left


def clipped_residual(reward: Array, prediction: Array) -> Array:
    """Return reward minus the prediction clipped to [-1, 1], so at most 2 in absolute value.

    The prediction and not the residual is clipped: the true value lies in [-1, 1], so clipping only brings it closer,
    and the analysis of the estimate goes through.
    """
    left: Array = np.clip(reward, -1, 1) - np.clip(prediction, -1, 1)
    return left


def unit_ball(vectors: Array) -> Array:
    """Return vectors over the larger of 1 and their norm; what is not a number becomes 0."""
    finite = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    shortened: Array = finite / np.maximum(1.0, np.linalg.norm(finite, axis=-1, keepdims=True))
    return shortened


def within_unit(half_widths: Array) -> Array:
    """Return half widths clamped to [0, 1]: noise can make a mean negative, and an entry must not leave [0, 1]."""
    return np.clip(half_widths, 0.0, 1.0)


def at_most_one(half_widths: Array) -> Array:
    """Return half widths capped above only, as printed."""
    return np.minimum(half_widths, 1.0)


def as_given(vectors: Array) -> Array:
    """Return the vectors themselves: as printed, norms are taken on trust."""
    return np.asarray(vectors, dtype=np.float64)
