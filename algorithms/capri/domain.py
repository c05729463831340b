"""From a problem to the geometry that a plan runs on."""

from typing import TYPE_CHECKING

import numpy as np

from algorithms.capri.elimination import HalfWidth
from algorithms.capri.plan import Domain
from algorithms.capri.schedule import completed
from algorithms.kernels import factor, linear_features, matern, pairs, squared_exponential
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.model.mechanism import Array

if TYPE_CHECKING:
    from algorithms.capri.config import Capri


def domain_of(config: "Capri", problem: KernelBandit) -> Domain:
    """Return features, context law and width rule of `problem` under the kernel of `config`.

    Raises: ValueError: the kernel is "features" and the problem brings none, or a feature is longer than 1.
    """
    return Domain(
        features=_features(config, problem),
        context_probabilities=problem.context_probabilities,
        n_actions=problem.n_actions,
        half_width=HalfWidth(
            elimination=config.elimination,
            width_factor=config.width_factor,
            fail_prob=config.fail_prob,
            horizon=config.horizon,
            reward_bound=config.reward_bound,
            ridge=config.ridge,
            cells=problem.n_contexts * problem.n_actions,
            epochs=completed(config.horizon),
        ),
    )


def _features(config: "Capri", problem: KernelBandit) -> Array:
    """Return a row of features for every cell, none longer than 1; shape (C * X, D)."""
    points = pairs(problem.contexts, problem.actions)
    match config.kernel:
        case "squared_exponential":
            return factor(squared_exponential(points, config.length_scale))
        case "matern":
            return factor(matern(points, config.length_scale, config.smoothness))
        case "linear":
            return _bounded("linear", linear_features(problem.contexts, problem.actions))
        case _ if problem.features is None:
            raise ValueError(
                f"Expected problem {problem.name!r} to bring features for kernel='features'; "
                "it brings none. Use another kernel."
            )
        case _:
            return _bounded("explicit", problem.features)


def _bounded(kind: str, features: Array) -> Array:
    """Return `features` if none is longer than 1 and some is longer than 0."""
    longest = float(np.linalg.norm(features, axis=1).max())
    if not 0 < longest <= 1 + 1e-9:
        raise ValueError(f"Expected {kind} features of length at most 1, not all 0; the longest is {longest:.6g}.")
    return features
