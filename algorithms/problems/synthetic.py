"""The grid problem, whose mean reward is a random member of a kernel's function space."""

from typing import Annotated

import numpy as np

from algorithms.kernels import KERNELS, pairs, require_smoothness, stationary
from algorithms.problems.arrays import fits_in_memory
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.checks import Count, Natural, OneOf, Positive, PositiveShare, count, one_of, open_probability, positive
from dpaudit.model.mechanism import Array

_DRAWN = tuple(kernel for kernel in KERNELS if kernel in ("squared_exponential", "matern"))


def grid(
    *,
    contexts: Count = 10,
    actions: Count = 10,
    kernel: Annotated[str, OneOf(_DRAWN)] = "squared_exponential",
    length_scale: Positive = 0.2,
    smoothness: float = 2.5,
    density: PositiveShare = 0.3,
    seed: Natural = 0,
) -> KernelBandit:
    """Return equally likely contexts and actions on two grids over [0, 1], with a drawn mean reward.

    The mean reward is a sum of kernels at a fraction `density` of the cells, with normal weights, scaled to
    norm 1 in the kernel's space; so its absolute value is at most 1. `seed` fixes the draw, and with it the problem.
    Parameters: `contexts`, their number; `actions`, their number; `kernel` that the mean reward is drawn from, with
    its `length_scale`; `smoothness` of the Matern kernel: 0.5, 1.5 or 2.5.
    Raises: ValueError: a count below 1, an unknown kernel, or a parameter outside its range.

    >>> grid().mean_reward.shape
    (10, 10)
    """
    fits_in_memory(contexts=count("contexts", contexts))
    gram, mean = _expansion(contexts, count("actions", actions), kernel, length_scale, smoothness, density, seed)
    return KernelBandit(
        name="grid",
        description=f"{contexts} x {actions} grid, {kernel} expansion",
        contexts=np.linspace(0, 1, contexts)[:, None],
        actions=np.linspace(0, 1, actions)[:, None],
        context_probabilities=np.full(contexts, 1 / contexts),
        mean_reward=mean,
        gram=gram,
    )


def _expansion(
    contexts: int, actions: int, kernel: str, length_scale: float, smoothness: float, density: float, seed: int
) -> tuple[Array, Array]:
    """Return the kernel at all cells, and means (contexts, actions) of norm 1 in its space."""
    one_of("kernel", kernel, _DRAWN)
    if density != 1:
        open_probability("density", density)
    cells = contexts * actions
    fits_in_memory(contexts=contexts, actions=actions, centres=max(1, round(density * cells)))
    points = pairs(np.linspace(0, 1, contexts)[:, None], np.linspace(0, 1, actions)[:, None])
    length = positive("length_scale", length_scale)
    if kernel == "matern":
        require_smoothness(smoothness)
    gram = stationary(kernel, points, length, smoothness)
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    weights = rng.standard_normal(len(points)) * (rng.random(len(points)) < density)
    if not weights.any():
        weights[0] = 1.0
    values = gram @ weights
    mean: Array = (values / np.sqrt(weights @ values)).reshape(contexts, actions)
    return gram, np.clip(mean, -1.0, 1.0)
