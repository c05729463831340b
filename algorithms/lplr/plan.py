"""The calibrated plan of LPLR, fixed before any data is seen: schedule, resolution, noise, and the confidence rule."""

import math
from dataclasses import dataclass

from algorithms._growth import Epoch
from algorithms.lplr.device_steps import (
    Normalise,
    Residual,
    as_given,
    at_most_one,
    clipped_residual,
    printed_residual,
    unit_ball,
    within_unit,
)
from algorithms.lplr.leaves import Leaves, leaves_of, message_epsilon
from algorithms.lplr.schedule import Resolution, epochs_of, phases_of
from algorithms.lplr.settings import LplrSettings
from dpaudit import Mechanism
from mechanisms import BallLaplace, Gaussian, Laplace, OneSidedWishart, SymmetrisedWishart


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A calibrated protocol for one horizon; `leaves` is what every user's message goes through.

    `residual`, `normalise` and `clamp` (of half widths) run on the device, and the sensitivities rest on them. They are
    fields, so that a test can replace one of them by a broken copy and assert which audit notices. `deep_bound` is R_h
    beyond the first layer.
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
        return noise_deviation(self.leaves.of(label), self.dimension)


def noise_deviation(mechanism: Mechanism, dimension: int) -> float:
    """Return the standard deviation of one number of a mechanism's noise; off the diagonal for a matrix.

    Raises: ValueError: a mechanism that no message uses.
    """
    match mechanism:
        case OneSidedWishart(scale=scale):
            return float(scale) * math.sqrt(dimension + 1)
        case SymmetrisedWishart(scale=scale):
            return float(scale) * math.sqrt(2 * (dimension + 1))
        case Gaussian(stddev=stddev):
            return float(stddev)
        case Laplace(scale=scale) | BallLaplace(scale=scale):
            return float(scale) * math.sqrt(2)
        case _:
            raise ValueError(f"Expected noise of a message, got {mechanism!r}.")


def plan_of(settings: LplrSettings) -> Plan:
    """Return the plan with the noise and the steps of the settings' variant."""
    printed = settings.variant == "paper"
    resolution = settings.resolution()
    return Plan(
        dimension=settings.dimension,
        actions=settings.actions,
        epochs=epochs_of(settings.horizon, settings.first_unit),
        resolution=resolution,
        phases=phases_of(settings.dimension, first_confidence=printed),
        first_confidence=printed,
        leaves=leaves_of(settings),
        ci=settings.ci,
        quantile=settings.quantile,
        strength=message_epsilon(settings),
        deep_bound=1.0 if printed else 2.0,
        residual=printed_residual if printed else clipped_residual,
        normalise=as_given if printed else unit_ball,
        clamp=at_most_one if printed else within_unit,
    )
