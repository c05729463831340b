"""Tests that take many draws: how often each whole number comes, and how many draws lie far out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from audits.checks.laws.departures import Departure, count_of
from audits.checks.laws.entrances import Sample
from audits.checks.laws.uniforms import dependent, has_reference, steps
from dpaudit.model.mechanism import Array, Mechanism, is_additive

_NUMBERS, _EXACT_NUMBERS, _HARD_NUMBERS = 1_000_000, 500_000, 1_500_000
_EXTREMES = (1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6)
_EXPECTED, _MOST = 20.0, 400
_HARD = 0.8825
"""A stddev at which uniforms of five or six bits bend the usual rejection sampler of discrete Gaussians most."""


def bulk_of(mechanism: Any, item: tuple[int, ...], rng: np.random.Generator) -> Iterator[Sample]:
    """Yield one sample of a million numbers around 0 of a mechanism that adds independent noise; else nothing.

    Integer samplers give half a million, and three times as many at a size of the noise that coarse uniforms bend.
    """
    leaf = getattr(mechanism, "leaf", None) if mechanism.name == "tree_aggregation" else None
    noise, shape = (mechanism, item) if leaf is None else (leaf, ())
    if not is_additive(noise) or not has_reference(noise) or dependent(noise) or noise.item_axes:
        return
    exact = getattr(noise, "exact_sampler", False)
    rows = max((_EXACT_NUMBERS if exact else _NUMBERS) // max(int(np.prod(shape)), 1), 1)
    value = np.zeros((rows, *shape), dtype=np.int64 if exact else np.float64)
    yield Sample(mechanism=noise, entrance="many at once", output=noise.release(value, rng), value=value)
    if not exact or not hasattr(noise, "stddev"):
        return
    try:
        hard = noise.scaled(_HARD / noise.stddev)
    except ValueError:  # out of the mechanism's own limits
        return
    value = np.zeros(_HARD_NUMBERS, dtype=np.int64)
    says = f"many at once, with stddev {_HARD:g}"
    yield Sample(mechanism=hard, entrance=says, output=hard.release(value, rng), value=value)


def extremes(uniform: Array) -> Iterator[Departure]:
    """Yield the exact tests of how many of all numbers lie far out, on either side and on both."""
    numbers = uniform.ravel()
    for share in _EXTREMES:
        below, above = int((numbers < share).sum()), int((numbers > 1 - share).sum())
        yield count_of(below, numbers.size, share, "far out below")
        yield count_of(above, numbers.size, share, "far out above")
        yield count_of(below + above, numbers.size, 2 * share, "far out on both sides")


def masses(mechanism: Mechanism, output: Array, value: Array) -> Iterator[Departure]:
    """Yield the exact test of how often each whole-number answer came; the commonest, and those never seen left out.

    Rows with equal exact answers, or noise that is added to them, have one law; others are not to be given here.
    """
    ends = steps(mechanism, output, value)
    if ends is None:
        return
    lower, upper = (end.ravel() for end in ends)
    _, first, counts = np.unique(lower, return_index=True, return_counts=True)
    height = upper[first] - lower[first]
    usual = np.flatnonzero(height * lower.size >= _EXPECTED)
    for place in usual[np.argsort(-height[usual], kind="stable")][:_MOST]:
        share = float(min(height[place], 1.0))
        yield count_of(int(counts[place]), lower.size, share, "at one answer")
