"""Input perturbation: users send their features and their reward with noise, and the server takes its law off again."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from algorithms._claims import MESSAGE, claim_of
from dpaudit import Claim, Declaration, Local, Release, Sequential
from dpaudit.checks import Count, Positive, settle
from dpaudit.model.mechanism import Array
from mechanisms import Laplace


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPerturbation:
    """Each user sends x and y with Laplace noise of one scale on every number; the moments are corrected for it.

    An estimator to compare with, and no bandit: Theorem 2.2 says that its error falls like users^(-1/3) at best on the
    worst law for so many users.
    Guarantee: replacing a record moves x, of norm at most 1, by 2 sqrt(d) in absolute values, and y in [-1, 1] by 2; so
    noise of scale (2 sqrt(d) + 2) / epsilon costs epsilon.
    Raises: ValueError: a field outside its range.

    >>> round(InputPerturbation(epsilon=1.0, dimension=2).scale, 4)
    4.8284
    """

    name: ClassVar[str] = "input_perturbation"

    epsilon: Positive
    dimension: Count

    def __post_init__(self) -> None:
        settle(self)

    @property
    def scale(self) -> float:
        """The scale of the noise on every number, 1 / alpha of the paper."""
        return (2 * math.sqrt(self.dimension) + 2) / self.epsilon

    @property
    def features_noise(self) -> Laplace:
        """The noise on each feature."""
        moved = 2 * math.sqrt(self.dimension)
        return Laplace(scale=self.scale, l1_sensitivity=moved, neighbours="replace_one")

    @property
    def reward_noise(self) -> Laplace:
        """The noise on the reward."""
        return Laplace(scale=self.scale, l1_sensitivity=2.0, neighbours="replace_one")

    def claim(self) -> Claim:
        """Return what is promised: (epsilon, 0) for each user's own message."""
        return claim_of(MESSAGE, "local", self.epsilon)

    def declaration(self) -> Declaration:
        """Return both releases of one message."""
        parts = (
            Release(label="features", mechanism=self.features_noise),
            Release(label="reward", mechanism=self.reward_noise),
        )
        return Local(part=Sequential(parts=parts))

    def fit(self, features: Array, rewards: Array, rng: np.random.Generator) -> Array:
        """Return estimates of the parameter, each entry clipped to [-1, 1].

        Shape: features (n_runs, users, d) of norm at most 1, longer ones are shortened, and rewards (n_runs, users),
        clipped to [-1, 1]; the result (n_runs, d). The noise of both is independent, so only the diagonal of the Gram
        matrix is biased: by the variance 2 scale^2, which is taken off.
        """
        norms = np.maximum(np.linalg.norm(features, axis=2, keepdims=True), 1.0)
        x = self.features_noise.release(features / norms, rng)
        y = self.reward_noise.release(np.clip(rewards, -1.0, 1.0), rng)
        users, d = features.shape[1:]
        gram = np.einsum("nui,nuj->nij", x, x) / users - 2 * self.scale**2 * np.eye(d)
        target = np.einsum("nui,nu->ni", x, y) / users
        estimates: Array = np.clip((np.linalg.pinv(gram) @ target[..., None])[..., 0], -1.0, 1.0)
        return estimates
