"""Optimistic values: their ranges, how they are clipped, and the policy that is greedy for them."""

from collections.abc import Callable
from functools import reduce

import numpy as np

from dpaudit.model.mechanism import Array

Clip = Callable[[Array, float], Array]
"""clip(values, top) -> values within [0, top]"""

ROUNDING = 1 + 1e-9


def value_ranges(steps: int, clipping: str) -> tuple[float, ...]:
    """Return the range [0, R] to which the value of each step is clipped; the value after the last step is 0.

    "horizon" clips every value at H, "range_aware" at the number of steps that are left.

    >>> value_ranges(4, "range_aware")
    (4.0, 3.0, 2.0, 1.0)
    """
    return tuple(float(steps if clipping == "horizon" else steps - h) for h in range(steps))


def clip_both(values: Array, top: float) -> Array:
    """Return values in [0, top]: optimism survives, since no true value is negative, and sensitivities hold always."""
    return np.clip(values, 0.0, top)


def values_in_range(values: Array, ranges: tuple[float, ...]) -> bool:
    """Return whether optimistic values (n_runs, H + 1, S) lie within their steps' ranges."""
    tops = np.array([*ranges, 0.0])[None, :, None]
    return bool(((values >= 0) & (values <= tops * ROUNDING)).all())


def largest(values: Array) -> Array:
    """Return the maximum over the last axis; column by column, which is faster for a short axis."""
    return reduce(np.maximum, np.moveaxis(values, -1, 0))


def at_cosine(cosine: float, dimension: int) -> tuple[Array, Array]:
    """Return two unit vectors at an angle; opposite ones in one dimension. Shape: (d,) each."""
    first, second = np.zeros((2, dimension))
    first[0], second[0] = 1.0, cosine if dimension > 1 else -1.0
    second[1:2] = np.sqrt(1 - cosine**2)
    return first, second


def greedy_policies(values: Array, actions: Array) -> Array:
    """Return the probability of every action, ties broken uniformly.

    Shape: values of states (n_runs, H + 1, S), values of actions (n_runs, H, S, A), the result as the latter.
    """
    best = (actions == values[:, :-1, :, None]).astype(float)
    return best / (best @ np.ones(best.shape[-1]))[..., None]


def vacuous_radius(when: str, least: float, top: float) -> tuple[str, ...]:
    """Return the note that optimism alone is worth all that can be earned; nothing where it is worth less.

    >>> vacuous_radius("after 10 episodes", 0.5, 1.0)
    ()
    """
    if least < top:
        return ()
    return (
        f"The radius is vacuous here: {when} optimism alone is worth {least:.3g} even where all users showed the same "
        f"features, and values are clipped at {top:g}. Nothing is learned; a smaller bonus_scale and shift_scale "
        "change utility, and nothing in privacy.",
    )
