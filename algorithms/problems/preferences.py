"""Dueling problems that are written down: utilities, a table of preferences, or options on a sphere."""

import math
from typing import Annotated

import numpy as np

from algorithms.problems.arrays import fits_in_memory
from algorithms.problems.duels import Duels, logistic
from dpaudit.checks import Count, Natural, OneOf, Positive, TwoOrMore, Within, count, one_of, positive

FAMILIES = ("one_good", "arithmetic", "geometric", "hard")
"""Families of utilities: one good option, evenly spaced, halved each time, and the lower bound's instance."""


def bradley_terry(
    *,
    utilities: tuple[float, ...] = (),
    family: Annotated[str, OneOf(FAMILIES)] = "one_good",
    arms: TwoOrMore = 5,
    names: tuple[str, ...] = (),
) -> Duels:
    """Return options with utilities, where i beats j with probability 1 / (1 + e^-(r_i - r_j)).

    Without `utilities`, those of `family` over `arms` options: one_good (1, 0, ..., 0), arithmetic 1 - i / (K - 1),
    geometric 2^-i, hard (ln 3, 0, ..., 0). Option 0 is best. `names` of the options are for figures.
    Raises: ValueError: fewer than two options, or an unknown family.

    >>> bradley_terry().preferences.shape
    (5, 5)
    """
    one_of("family", family, FAMILIES)
    fits_in_memory(arms=count("arms", arms, at_least=2), others=arms)
    options = np.arange(arms)
    drawn = {
        "one_good": (options == 0).astype(float),
        "arithmetic": 1 - options / (len(options) - 1),
        "geometric": 0.5**options,
        "hard": np.log(3) * (options == 0),
    }[family]
    values = np.array(utilities, dtype=np.float64) if utilities else drawn
    described = "given utilities" if utilities else f"the {family} family"
    return Duels(
        name="bradley_terry",
        description=f"{len(values)} options with {described}.",
        preferences=logistic(values),
        utilities=values,
        names=names,
    )


def preference_matrix(
    *, table: tuple[tuple[float, ...], ...] = ((0.5, 0.8), (0.2, 0.5)), names: tuple[str, ...] = ()
) -> Duels:
    """Return options with a given table of preferences, row i against column j; no utilities.

    Parameters: `table` of probabilities, entry (i, j) that option i beats option j; `names` of the options.
    Raises: ValueError: rows of unequal length, or a table that is no preference table.

    >>> preference_matrix().preferences.shape
    (2, 2)
    """
    if len({len(row) for row in table}) != 1:
        raise ValueError("Expected table rows of equal length, one entry an option.")
    return Duels(
        name="preference_matrix",
        description=f"{len(table)} options with a table of preferences.",
        preferences=np.array(table, dtype=np.float64),
        names=names,
    )


def circle(*, points: Annotated[int, Within(at_least=3)] = 64, seed: Natural = 0) -> Duels:
    """Return duels between equally distant points of the unit circle, and regret against the best point of all.

    Utilities are linear, in a random direction of length 1. A net of N points has radius 2 sin(pi / (2 N)), and its
    best point loses at most 1 - cos(pi / N) of utility in a place of a duel, whatever the direction.
    Parameters: `points` of the net, chosen without any answer; `seed` of the direction.
    Raises: ValueError: fewer than three points.

    >>> circle(points=20).description
    '20 points as a net of the unit circle, whose error is at most 0.012312 of utility a place; here 0.003354.'
    """
    options = count("points", points, at_least=3)
    fits_in_memory(options=options, others=options)
    turns = 2 * np.pi * np.arange(options) / options
    towards = 2 * np.pi * np.random.default_rng(count("seed", seed, at_least=0)).random()
    utilities = np.cos(turns - towards)
    most = 1 - math.cos(math.pi / options)
    beyond = 1 - float(utilities.max())
    return Duels(
        name="circle",
        description=f"{options} points as a net of the unit circle, whose error is at most {most:.6f} of utility a "
        f"place; here {beyond:.6f}.",
        preferences=logistic(utilities),
        utilities=utilities,
        features=np.column_stack([np.cos(turns), np.sin(turns)]),
        beyond=beyond,
    )


def sphere(*, arms: TwoOrMore = 20, dimension: Count = 2, norm: Positive = 1.0, seed: Natural = 0) -> Duels:
    """Return options at random places of the unit sphere, with utility along a random direction of length `norm`.

    Parameters: `arms`, the number of options; `dimension` of the sphere's space; `seed` of the draw, which fixes the
    problem.
    Raises: ValueError: a count below 1, or a norm that is not positive.

    >>> sphere().preferences.shape
    (20, 20)
    """
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    fits_in_memory(arms=count("arms", arms, at_least=2), others=arms)
    fits_in_memory(arms=arms, dimension=count("dimension", dimension))
    points = rng.standard_normal((arms, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    direction = rng.standard_normal(dimension)
    utilities = points @ (positive("norm", norm) * direction / np.linalg.norm(direction))
    return Duels(
        name="sphere",
        description=f"{arms} options on the unit sphere of {dimension} dimensions.",
        preferences=logistic(utilities),
        utilities=utilities,
        features=points,
    )
