"""The first users of an audit, whose contributions lie furthest apart within the bounds."""

from dataclasses import dataclass

import numpy as np

from algorithms._linear_rl.values import at_cosine
from algorithms.ucrl_vtr.plan import MixturePlan
from algorithms.ucrl_vtr.regressions import Regression
from dpaudit.model.mechanism import Array
from mechanisms import JointGaussian, SymmetricGaussian


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Canary:
    """One user whose features are their own business: what they contribute, whatever the policy.

    Shape: features (G, d), targets (G,), for every regression. `episode` counts from 1.
    """

    features: Array
    targets: Array
    episode: int = 1


def canaries(plan: MixturePlan, dimension: int) -> tuple[Canary, Canary]:
    """Return the two first users whose contributions lie furthest apart in every regression, in units of its noise.

    Full norms and equal targets, at the cosine where matrix and vector together move furthest.
    """
    pairs = [worst_features(regression, dimension) for regression in plan.regressions]
    targets = np.array([regression.target_bound for regression in plan.regressions])
    first, second = (np.stack([pair[side] for pair in pairs]) for side in (0, 1))
    return Canary(features=first, targets=targets), Canary(features=second, targets=targets)


def worst_features(regression: Regression, dimension: int) -> tuple[Array, Array]:
    """Return two feature vectors of full norm at the cosine that is worst for the regression's noise."""
    first, second = at_cosine(worst_cosine(regression), dimension)
    return regression.feature_bound * first, regression.feature_bound * second


def worst_cosine(regression: Regression) -> float:
    """Return the cosine at which matrix and vector move furthest: -b^2 v_M / (2 a^2 v_u), at least -1.

    v_M is the variance of the matrix noise in the worst direction and v_u that of the vector's.
    """
    match regression.noises[0][1]:
        case JointGaussian(cosine=cosine):
            return float(cosine)
        case SymmetricGaussian(symmetry=symmetry):
            variance = 2.0 if symmetry == "sqrt2" else 1.0
            return -min(1.0, variance * (regression.target_bound / regression.feature_bound) ** 2 / 2)
        case _:
            return -0.5
