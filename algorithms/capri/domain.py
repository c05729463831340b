"""The geometry of a problem: its features under the chosen kernel, its contexts and its width rule."""

import numpy as np

from algorithms.capri.elimination import HalfWidth
from algorithms.capri.plan import Domain
from algorithms.capri.settings import CapriSettings
from algorithms.information_gain import gain_without_kernel, information_gain
from algorithms.kernels import factor, linear_features, pairs, stationary
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.model.mechanism import Array


def domain_of(settings: CapriSettings, problem: KernelBandit) -> Domain:
    """Return features, context law and width rule of `problem` under the kernel of `settings`.

    Raises: ValueError: the kernel is "features" and the problem brings none, or a feature is longer than 1.
    """
    return Domain(
        features=_features(settings, problem),
        context_probabilities=problem.context_probabilities,
        n_actions=problem.n_actions,
        half_width=HalfWidth(settings=settings, cells=problem.n_contexts * problem.n_actions),
    )


def information_gain_of(settings: CapriSettings, problem: KernelBandit) -> tuple[float, float, float]:
    """Return both ends of gamma_T for the kernel and the ridge of `settings` on the problem's cells, in nats.

    The third number is the gain without a kernel, where no cell says anything of another one.
    Raises: ValueError: as for `domain_of`.
    """
    features = _features(settings, problem)
    ends = information_gain(features @ features.T, settings.horizon, settings.ridge)
    return *ends, gain_without_kernel(len(features), settings.horizon, settings.ridge)


def effective_dimension_of(settings: CapriSettings, problem: KernelBandit) -> float:
    """Return how many numbers the kernel leaves to learn from half of the horizon, cells met alike: at most the cells.

    The sum of e / (e + ridge N / n) over the eigenvalues e of the kernel on N cells, n users. It is public geometry, so
    a choice of method by it costs no privacy: a noisy table of cells loses less than CAPRI where N is below some seven
    times this number, see `docs/measured/usefulness.md`.
    """
    features = _features(settings, problem)
    eigenvalues = np.maximum(np.linalg.eigvalsh(features.T @ features), 0.0)
    return float((eigenvalues / (eigenvalues + settings.ridge * len(features) / (settings.horizon / 2))).sum())


def _features(settings: CapriSettings, problem: KernelBandit) -> Array:
    """Return a row of features for every cell, none longer than 1; shape (C * X, D)."""
    points = pairs(problem.contexts, problem.actions)
    match settings.kernel:
        case "squared_exponential" | "matern":
            return factor(stationary(settings.kernel, points, settings.length_scale, settings.smoothness))
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
