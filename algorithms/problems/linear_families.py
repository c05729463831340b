"""Linear bandits on which estimators of locally private linear regression differ, and one from real data.

The first two are the families of the paper's lower bounds: on the one every private estimator's squared error decays
like 1 / sqrt(n), on the other the error of sufficient statistics decays like n^(-1/4) only.
"""

import math
from typing import Annotated

import numpy as np

from algorithms.problems.arrays import fits_in_memory
from algorithms.problems.health_insurance import rand_hie
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit.checks import Count, Natural, Positive, Within, count, positive
from dpaudit.model.mechanism import Array


def ill_conditioned(*, users: Annotated[float, Within(at_least=1)] = 1e9, actions: Count = 1) -> LinearBandit:
    """Return two equally likely features 0.7 (1, +-users^(-1/4)) with parameter (0.6, 0.7): a direction that fades.

    Every action has the same features, so that only estimation matters.
    Parameters: `users`, the horizon that the direction fades with; `actions`, their number.
    Raises: ValueError: fewer than one user.
    Source: Li, Simchi-Levi and Wang (2024), Eq. (8).

    >>> ill_conditioned().features.shape
    (2, 1, 2)
    """
    small = _users(users) ** -0.25
    features = 0.7 * np.array([[1.0, small], [1.0, -small]])
    return _linear("ill_conditioned", "Features that all but coincide.", features, (0.6, 0.7), np.full(2, 0.5), actions)


def rare_direction(
    *, users: Annotated[float, Within(at_least=1)] = 1e9, share: Positive = 0.103, actions: Count = 1
) -> LinearBandit:
    """Return the features e1 and, with probability share / sqrt(users), e2, with parameter (0, 1).

    Parameters: `users`, the horizon; `share` of the second feature, see above; `actions`, their number.
    Raises: ValueError: share out of range for so many users.
    Source: Li, Simchi-Levi and Wang (2024), Theorem 2.1.

    >>> rare_direction().features.shape
    (2, 1, 2)
    """
    rare = positive("share", share) / math.sqrt(_users(users))
    if rare > 0.5:
        raise ValueError(f"Expected share={share!r} to be at most half the root of users={users!r}.")
    law = np.array([1 - rare, rare])
    return _linear("rare_direction", "A direction that is hardly ever met.", np.eye(2), (0.0, 1.0), law, actions)


def random_atoms(*, atoms: Count = 20, dimension: Count = 2, actions: Count = 1, seed: Natural = 0) -> LinearBandit:
    """Return equally likely features in random directions of norms between 0.1 and 1: well conditioned.

    Parameters: `atoms`, the number of features; `dimension` of the features; `actions`, their number; `seed` of the
    draw, which fixes the problem.
    Raises: ValueError: a count below 1.

    >>> random_atoms().features.shape
    (20, 1, 2)
    """
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    fits_in_memory(
        atoms=count("atoms", atoms), actions=count("actions", actions), dimension=count("dimension", dimension)
    )
    directions = rng.standard_normal((atoms, actions, dimension))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    features = directions * rng.uniform(0.1, 1.0, (atoms, actions, 1))
    parameter = rng.standard_normal(dimension)
    parameter *= 0.9 / np.linalg.norm(parameter)
    return LinearBandit(
        name="random_atoms",
        description="Features in random directions.",
        features=features,
        context_probabilities=np.full(atoms, 1 / atoms),
        mean_reward=features @ parameter,
    )


def hard_family(*, users: Annotated[float, Within(at_least=1)] = 1e14) -> LinearBandit:
    """Return two contexts and two actions with features (0.7, +-s), s = 0.7 users^(-1/4), and parameter (0.6, 0.7).

    The better action differs between the contexts, and the gap 1.4 s fades with the horizon as fast as sufficient
    statistics can follow, so that they never eliminate.
    Parameters: `users`, the horizon in s.
    Raises: ValueError: fewer than one user.

    >>> hard_family().features.shape
    (2, 2, 2)
    """
    small = 0.7 * _users(users) ** -0.25
    up, down = [0.7, small], [0.7, -small]
    features = np.array([[up, down], [down, up]])
    return LinearBandit(
        name="hard_family",
        description="Two contexts, two actions, and a gap that fades with the horizon.",
        features=features,
        context_probabilities=np.full(2, 0.5),
        mean_reward=features @ np.array([0.6, 0.7]),
    )


def linear_rand_hie(*, dimension: Count = 2) -> LinearBandit:
    """Return the plan-choice problem of `rand_hie` with features that a linear rule can use.

    A cell is a group of patients with need w, the mean of the two coordinates of its context, and a plan of
    coinsurance c. Its features are the first `dimension` of (1, c w, c, w) over the root of `dimension`, fixed before
    any data was seen. The means are those of the data and not linear; `misfit` says how far from it.
    Raises: ValueError: a dimension other than 2, 3 or 4.

    >>> linear_rand_hie().features.shape
    (6, 5, 2)
    """
    if dimension not in (2, 3, 4):
        raise ValueError(f"Expected dimension={dimension!r} to be 2, 3 or 4, the number of features there are.")
    base = rand_hie()
    need = base.contexts.mean(axis=1)[:, None]
    cost = base.actions[:, 0][None, :]
    columns = np.broadcast_arrays(np.ones((1, 1)), cost * need, cost, need)
    features = np.stack(columns[:dimension], axis=2) / math.sqrt(dimension)
    problem = LinearBandit(
        name="linear_rand_hie",
        description=base.description,
        features=features,
        context_probabilities=base.context_probabilities,
        mean_reward=base.mean_reward,
    )
    return LinearBandit(
        name=problem.name,
        description=f"{base.description} The means are within {problem.misfit:.2f} of a linear function.",
        features=features,
        context_probabilities=base.context_probabilities,
        mean_reward=base.mean_reward,
        units_per_person=base.units_per_person,
    )


def _linear(
    name: str, description: str, features: Array, parameter: tuple[float, ...], law: Array, actions: int
) -> LinearBandit:
    """Return a problem whose actions all share the context's features."""
    fits_in_memory(actions=count("actions", actions), entries=features.size)
    repeated = np.repeat(features[:, None, :], actions, axis=1)
    return LinearBandit(
        name=name,
        description=description,
        features=repeated,
        context_probabilities=law,
        mean_reward=repeated @ np.asarray(parameter),
    )


def _users(users: float) -> float:
    """Return a number of users of at least 1."""
    if positive("users", users) < 1:
        raise ValueError(f"Expected users={users!r} to be at least 1.")
    return float(users)
