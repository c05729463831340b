"""Tests that take many draws: how often each whole number comes, and how many draws lie far out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from audits.checks.laws.conditionals import Placed
from audits.checks.laws.entrances import Sample
from dpaudit.looks import Look, count_look
from dpaudit.model.mechanism import is_additive

_NUMBERS, _EXACT_NUMBERS, _HARD_NUMBERS = 1_000_000, 500_000, 1_500_000
_EXTREMES = (1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6)
_EXPECTED, _MOST = 20.0, 400
_HARD = 0.8825
"""A stddev at which uniforms of five or six bits bend the usual rejection sampler of discrete Gaussians most."""


def bulk_of(mechanism: Any, item: tuple[int, ...], rng: np.random.Generator) -> Iterator[Sample]:
    """Yield one sample of a million numbers around 0 of a mechanism that adds independent noise; else nothing.

    Integer samplers give half a million.
    """
    leaf = getattr(mechanism, "leaf", None) if mechanism.name == "tree_aggregation" else None
    noise, shape = (mechanism, item) if leaf is None else (leaf, ())
    if not is_additive(noise) or noise.item_axes:
        return
    exact = getattr(noise, "exact_sampler", False)
    rows = max((_EXACT_NUMBERS if exact else _NUMBERS) // max(int(np.prod(shape)), 1), 1)
    value = np.zeros((rows, *shape), dtype=np.int64 if exact else np.float64)
    yield Sample(mechanism=noise, entrance="many at once", output=noise.release(value, rng), value=value)


def hard_of(mechanism: Any, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield one sample of an integer sampler of discrete Gaussians at a size of the noise that coarse uniforms bend."""
    noise = mechanism.leaf if mechanism.name == "tree_aggregation" else mechanism
    if not getattr(noise, "exact_sampler", False) or not hasattr(noise, "stddev"):
        return
    try:
        hard = noise.scaled(_HARD / noise.stddev)
    except ValueError:  # out of the mechanism's own limits
        return
    value = np.zeros(_HARD_NUMBERS, dtype=np.int64)
    says = f"many at once, with stddev {_HARD:g}"
    yield Sample(mechanism=hard, entrance=says, output=hard.release(value, rng), value=value)


def extremes(placed: Placed) -> Iterator[Look]:
    """Yield the exact tests of how many of all numbers lie far out, on either side and on both.

    Numbers that depend on each other are not counted, nor those beside an edge of a density, where places are rough.
    """
    numbers = placed.uniform.ravel()
    if not (placed.independent and placed.smooth):
        return
    for share in _EXTREMES:
        below, above = int((numbers < share).sum()), int((numbers > 1 - share).sum())
        yield count_look(below, numbers.size, share, "far out below")
        yield count_look(above, numbers.size, share, "far out above")
        yield count_look(below + above, numbers.size, 2 * share, "far out on both sides")


def masses(placed: Placed) -> Iterator[Look]:
    """Yield the exact test of how often each whole-number answer came, of the commonest ones."""
    if placed.counts is None or placed.chances is None:
        return
    every = int(placed.counts.sum())
    usual = np.flatnonzero(placed.chances * every >= _EXPECTED)
    for index in usual[np.argsort(-placed.chances[usual], kind="stable")][:_MOST]:
        yield count_look(int(placed.counts[index]), every, float(min(placed.chances[index], 1.0)), "at one answer")
