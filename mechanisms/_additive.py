"""What several mechanisms share: two laws of additive noise, and the smallest noise whose own loss meets a claim."""

import math
from typing import Protocol, TypeVar

import numpy as np

from dpaudit import Claim, meets, smallest_holding, smallest_noise
from dpaudit.model.losses import SimpleLoss
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array, Mechanism


def with_laplace_noise(value: Array, scale: float, rng: np.random.Generator) -> Array:
    """Return `value` plus independent Laplace noise, in float64 and the same shape."""
    exact = np.asarray(value, dtype=np.float64)
    return exact + rng.laplace(0.0, scale, exact.shape)


def laplace_log_density(residual: Array, scale: float) -> Array:
    """Return the log density of Laplace noise at each coordinate of `residual`."""
    return -np.abs(residual) / scale - math.log(2 * scale)


def normal_log_density(residual: Array, stddev: float | Array) -> Array:
    """Return the log density of normal noise at each coordinate; `stddev` broadcasts against `residual`."""
    return -0.5 * (residual / stddev) ** 2 - np.log(stddev) - 0.5 * math.log(2 * math.pi)


class Scalable(Mechanism, Protocol):
    """A mechanism that knows its loss at any noise."""

    def loss(self) -> SimpleLoss:
        """Return the loss of one release."""
        ...


Scaled = TypeVar("Scaled", bound=Scalable)


def meeting(unit: Scaled, claim: Claim) -> Scaled:
    """Return `unit` with the smallest noise that meets `claim`, within 1e-9 and never below.

    A claim in another measure is met as the accountant certifies it.
    Raises: UnsupportedError: no amount of noise helps.
    """
    if isinstance(claim, MeasuredClaim):
        return unit.scaled(smallest_noise(unit, claim))

    def holds(factor: float) -> bool:
        return meets(unit.scaled(factor).loss(), claim.epsilon, claim.delta)

    return unit.scaled(smallest_holding(holds, f"epsilon={claim.epsilon}, delta={claim.delta}"))
