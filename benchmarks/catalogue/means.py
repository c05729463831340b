"""Means and sums of clipped records, with a noisy or the true number of records."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.catalogue.entry import Entry
from benchmarks.catalogue.law import Law, binned, laplace_cdf, laplace_law, repeated
from dpaudit import Claim
from dpaudit.model.mechanism import Array

_PEOPLE = np.array([1.0, 0.0])
_PAIR = (_PEOPLE, _PEOPLE[1:])


def _mean(count_noisy: tuple[bool, bool], data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return sum / n + noise / n; `count_noisy` says for the mean's n and for the noise's n whether it is released.

    A released n costs half the budget and the sum the other half, at epsilon 1.
    """
    values = np.clip(np.asarray(data), 0.0, 1.0)
    released = np.maximum(len(values) + rng.laplace(0.0, 2.0, n_runs), 1.0)
    divisor, width = (released if noisy else float(len(values)) for noisy in count_noisy)
    return values.sum() / divisor + rng.laplace(0.0, 2.0, n_runs) / width


def _count_and_sum(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a noisy count and a noisy sum, each with the same scale."""
    values = np.clip(np.asarray(data), 0.0, 1.0)
    return np.array([float(len(values)), values.sum()]) + rng.laplace(0.0, scale, (n_runs, 2))


def _private_scale(draw: str, epsilon: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a mean with noise of deviation 2 / (n epsilon): n shows in the spread."""
    spread = 2 / (len(data) * epsilon)
    noise = rng.normal(0.0, spread, n_runs) if draw == "gaussian" else rng.laplace(0.0, spread / math.sqrt(2), n_runs)
    return float(np.mean(data)) + noise


def _leaking_count(data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a noisy sum and, beside it, the exact number of records."""
    total = float(np.sum(data)) + rng.laplace(0.0, 1.0, n_runs)
    return np.column_stack([total, np.full(n_runs, float(len(data)))])


def _inferred(data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a noisy sum whose clipping bounds are the extremes of the data."""
    values = np.asarray(data)
    spread = float(values.max() - values.min()) if len(values) else 0.0
    return values.sum() + rng.laplace(0.0, 1.0, n_runs) * max(spread, 1e-3)


def _sum(scale: float, largest: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a noisy sum of values clipped to [0, largest]."""
    return np.clip(np.asarray(data), 0.0, largest).sum() + rng.laplace(0.0, scale, n_runs)


def _scales_law(first: float, second: float, shift: float = 0.0) -> Law:
    """Return the law of Laplace noise of two scales, the second around `shift`."""
    reach = 60 * max(first, second)
    edges = np.union1d(np.linspace(-reach, reach, 40_001), np.array([0.0, shift]))
    return binned(laplace_cdf(0.0, first), laplace_cdf(shift, second), edges)


def _entry(
    name: str, run: Callable[..., Array], epsilon: float = 1.0, *, correct: bool, pair: Any = _PAIR, **more: Any
) -> Entry:
    """Return an entry with one record added."""
    claim = Claim(epsilon=epsilon, neighbours="add_remove")
    return Entry(name=name, claim=claim, run=run, neighbours=pair, correct=correct, **more)


_NO_FORMULA = "a quotient of two noisy numbers, not integrated here; at most 1 by composition"
_SPREAD = "a ratio of spreads: unbounded in the tails"
_ZERO = (np.zeros(1), np.array([0.0, 1.0]))

ENTRIES = (
    _entry("mean, noisy n twice", partial(_mean, (True, True)), correct=True, note=_NO_FORMULA),
    _entry("mean, true n in the scale", partial(_mean, (True, False)), correct=False, note=_SPREAD),
    _entry("mean, true n in the mean", partial(_mean, (False, True)), correct=False, note=_SPREAD),
    _entry(
        "mean, true n twice",
        partial(_mean, (False, False)),
        correct=False,
        truth=math.inf,
        law=partial(_scales_law, 1.0, 2.0, -0.5),
    ),
    _entry(
        "count and sum",
        partial(_count_and_sum, 2.0),
        correct=True,
        truth=1.0,
        law=lambda: repeated(laplace_law(1.0, 2.0), 2),
    ),
    _entry(
        "count and sum, budget not split",
        partial(_count_and_sum, 1.0),
        correct=False,
        truth=2.0,
        law=lambda: repeated(laplace_law(1.0, 1.0), 2),
    ),
    *(
        _entry(
            f"{draw} with private scale, epsilon {epsilon}",
            partial(_private_scale, draw, epsilon),
            epsilon,
            correct=False,
            pair=_ZERO,
            truth=math.inf,
            note=_SPREAD,
        )
        for draw in ("gaussian", "laplace")
        for epsilon in (0.01, 0.1)
    ),
    _entry("sum beside the exact n", _leaking_count, correct=False, truth=math.inf),
    _entry(
        "sum, bounds from the data",
        _inferred,
        correct=False,
        truth=math.inf,
        law=partial(_scales_law, 1e-3, 1.0, 1.0),
        pair=(np.zeros(4), np.array([0.0, 0, 0, 0, 1])),
    ),
    _entry(
        "sum, clipped",
        partial(_sum, 1.0, 1.0),
        correct=True,
        truth=1.0,
        law=partial(laplace_law, 1.0, 1.0),
        pair=(np.zeros(4), np.array([0.0, 0, 0, 0, 3])),
    ),
    _entry(
        "sum, clipping missing",
        partial(_sum, 1.0, math.inf),
        correct=False,
        truth=3.0,
        law=partial(laplace_law, 3.0, 1.0),
        pair=(np.zeros(4), np.array([0.0, 0, 0, 0, 3])),
    ),
)
