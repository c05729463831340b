"""What is settled before any data is seen: schedule, resolution, noise, and the rule for confidence widths."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms.lplr.leaves import Leaves
from algorithms.lplr.schedule import Epoch, Resolution
from dpaudit.model.mechanism import Array

Residual = Callable[[Array, Array], Array]
"""residual(reward, prediction) -> what is left of a reward for deeper layers to explain."""

Normalise = Callable[[Array], Array]
"""normalise(vectors) -> vectors of norm 1 at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A calibrated protocol for one horizon; `leaves` is what every user's message goes through.

    `residual`, `normalise` and `clamp` (of half widths) run on the device and are what the sensitivities rest on; they
    are fields, so that a test can replace one of them by a broken copy and see who notices. `deep_bound` is R_h beyond
    the first layer.
    """

    dimension: int
    actions: int
    epochs: tuple[Epoch, ...]
    resolution: Resolution
    phases: int
    first_confidence: bool
    leaves: Leaves
    ci: str
    quantile: float
    strength: float
    deep_bound: float
    residual: Residual
    normalise: Normalise
    clamp: Normalise

    def bound(self, layer: int) -> float:
        """Return R_h, by which residuals of `layer` (from 1) are divided."""
        return 1.0 if layer == 1 else self.deep_bound

    def users(self, epoch: Epoch) -> int:
        """Return how many users each phase of `epoch` has; the few left over send noise alone."""
        return epoch.length // self.phases

    def scale(self, label: str) -> float:
        """Return the standard deviation of one number of a leaf's noise; off the diagonal for the matrix."""
        return float(noise_deviation(self.leaves.of(label), self.dimension))


def noise_deviation(mechanism: object, dimension: int) -> float:
    """Return the standard deviation of one number of a mechanism's noise; off the diagonal for a matrix."""
    scale = getattr(mechanism, "scale", None)
    match getattr(mechanism, "name", ""):
        case "one_sided_wishart":
            return float(scale or 0) * math.sqrt(dimension + 1)
        case "symmetrised_wishart":
            return float(scale or 0) * math.sqrt(2 * (dimension + 1))
        case "gaussian":
            return float(getattr(mechanism, "stddev", 0.0))
        case _:
            return float(scale or 0) * math.sqrt(2)


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
    held = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    shortened: Array = held / np.maximum(1.0, np.linalg.norm(held, axis=-1, keepdims=True))
    return shortened


def within_unit(half_widths: Array) -> Array:
    """Return half widths clamped to [0, 1]: noise can make a mean negative, and an entry must not leave [0, 1]."""
    clamped: Array = np.clip(half_widths, 0.0, 1.0)
    return clamped


def at_most_one(half_widths: Array) -> Array:
    """Return half widths capped above only, as printed."""
    capped: Array = np.minimum(half_widths, 1.0)
    return capped


def as_given(vectors: Array) -> Array:
    """Return the vectors themselves: as printed, norms are taken on trust."""
    return np.asarray(vectors, dtype=np.float64)
