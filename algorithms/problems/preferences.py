"""Dueling problems that are written down: utilities, a table of preferences, or options on a sphere."""

from typing import Annotated

import numpy as np

from algorithms.problems.arrays import fits_in_memory
from algorithms.problems.duels import Duels, logistic
from dpaudit.checks import Count, Natural, OneOf, Positive, TwoOrMore, count, one_of, positive

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
