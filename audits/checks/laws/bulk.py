"""Tests that take many draws: how often each whole number comes, and how many draws lie far out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from audits.checks.laws.entrances import Sample
from audits.checks.laws.uniforms import dependent, has_reference, steps
from dpaudit.looks import Look, count_look
from dpaudit.model.mechanism import Array, Mechanism, is_additive

_NUMBERS, _EXACT_NUMBERS, _HARD_NUMBERS = 1_000_000, 500_000, 1_500_000
_EXTREMES = (1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6)
_EXPECTED, _MOST, _WIDEST = 20.0, 400, 1_000_000
_HARD = 0.8825
"""A stddev at which uniforms of five or six bits bend the usual rejection sampler of discrete Gaussians most."""


def bulk_of(mechanism: Any, item: tuple[int, ...], rng: np.random.Generator) -> Iterator[Sample]:
    """Yield one sample of a million numbers around 0 of a mechanism that adds independent noise; else nothing.

    Integer samplers give half a million.
    """
    leaf = getattr(mechanism, "leaf", None) if mechanism.name == "tree_aggregation" else None
    noise, shape = (mechanism, item) if leaf is None else (leaf, ())
    if not is_additive(noise) or not has_reference(noise) or dependent(noise) or noise.item_axes:
        return
    exact = getattr(noise, "exact_sampler", False)
    rows = max((_EXACT_NUMBERS if exact else _NUMBERS) // max(int(np.prod(shape)), 1), 1)
    value = np.zeros((rows, *shape), dtype=np.int64 if exact else np.float64)
    yield Sample(mechanism=noise, entrance="many at once", output=noise.release(value, rng), value=value)


def hard_of(mechanism: Any, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield one sample of an integer sampler of discrete Gaussians at a size of the noise that coarse uniforms bend."""
    noise = mechanism.leaf if mechanism.name == "tree_aggregation" else mechanism
    if not getattr(noise, "exact_sampler", False) or not hasattr(noise, "stddev") or not has_reference(noise):
        return
    try:
        hard = noise.scaled(_HARD / noise.stddev)
    except ValueError:  # out of the mechanism's own limits
        return
    value = np.zeros(_HARD_NUMBERS, dtype=np.int64)
    says = f"many at once, with stddev {_HARD:g}"
    yield Sample(mechanism=hard, entrance=says, output=hard.release(value, rng), value=value)


def extremes(uniform: Array) -> Iterator[Look]:
    """Yield the exact tests of how many of all numbers lie far out, on either side and on both."""
    numbers = uniform.ravel()
    for share in _EXTREMES:
        below, above = int((numbers < share).sum()), int((numbers > 1 - share).sum())
        yield count_look(below, numbers.size, share, "far out below")
        yield count_look(above, numbers.size, share, "far out above")
        yield count_look(below + above, numbers.size, 2 * share, "far out on both sides")


def masses(mechanism: Mechanism, output: Array, value: Array) -> Iterator[Look]:
    """Yield the exact test of how often each whole-number answer came; the commonest, and those never seen left out.

    Rows with equal exact answers, or noise that is added to them, have one law; others are not to be given here.
    """
    counted = _counted_noise(output, value) if is_additive(mechanism) else None
    if counted is not None:  # the law of the noise is asked once for each number
        output, value = counted[0], np.zeros_like(counted[0])
    ends = steps(mechanism, output, value)
    if ends is None:
        return
    lower, upper = (end.ravel() for end in ends)
    if counted is not None:
        numbers = counted[1]
    else:
        _, first, numbers = np.unique(lower, return_index=True, return_counts=True)
        lower, upper = lower[first], upper[first]
    height, every = upper - lower, int(numbers.sum())
    usual = np.flatnonzero(height * every >= _EXPECTED)
    for place in usual[np.argsort(-height[usual], kind="stable")][:_MOST]:
        yield count_look(int(numbers[place]), every, float(min(height[place], 1.0)), "at one answer")


def _counted_noise(output: Array, value: Array) -> tuple[Array, Array] | None:
    """Return each whole number of the noise and how often it came; None for other noise or numbers far apart."""
    if output.dtype.kind not in "iu" or np.asarray(value).dtype.kind not in "iu" or output.shape != np.shape(value):
        return None
    noise = (output - value).ravel()
    least = int(noise.min(initial=0))
    if int(noise.max(initial=0)) - least > _WIDEST:
        return None
    counts = np.bincount(noise - least)
    seen = np.flatnonzero(counts)
    return seen + least, counts[seen]
