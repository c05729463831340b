"""Samples of a mechanism through each of its entrances: many rows, few rows, moved answers, and every kind of tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array, Mechanism

_NUMBERS = 200_000
_FEWEST = 400
_MOST = 60_000
_MOST_EXACT = 30_000
_MOST_NUMBERS = 4_000_000
_CALLS = 300
_STREAM = 13
_SCORES = ((0.0, 0.0), (0.7, 0.0), (0.0, 1.6))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Rows that a mechanism released for known answers. Shape: `output` and `value` are (rows, *item)."""

    mechanism: Mechanism
    entrance: str
    output: Array
    value: Array


def samples_of(mechanism: Any, item: tuple[int, ...], rng: np.random.Generator) -> Iterator[Sample]:
    """Yield samples of `mechanism` for answers of shape `item`, about 200,000 numbers for each entrance."""
    if mechanism.name == "tree_aggregation":
        yield from _trees(mechanism, item, rng)
        return
    most = _MOST_EXACT if getattr(mechanism, "exact_sampler", False) else _MOST
    size = max(int(np.prod(item)), 1)
    rows = min(max(_NUMBERS // size, _FEWEST), most, max(_MOST_NUMBERS // size, 2))
    for says, value in _answers(mechanism, (rows, *item)):
        yield Sample(mechanism=mechanism, entrance=says, output=mechanism.release(value, rng), value=value)
    value = next(_answers(mechanism, (min(_CALLS, rows), *item)))[1]
    singles = np.concatenate([np.asarray(mechanism.release(row[None], rng)) for row in value])
    yield Sample(mechanism=mechanism, entrance="released in single rows", output=singles, value=value)


def _answers(mechanism: Any, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Yield (words, answers) of a shape: zeros and moved ones, of a kind that the mechanism takes."""
    rows = np.arange(shape[0])
    if mechanism.name == "randomised_response":
        for category in range(min(mechanism.categories, 3)):
            yield f"category {category}", np.full(shape, category)
    elif mechanism.name in {"exponential", "report_noisy_max"}:
        unit = 2 / mechanism.epsilon * mechanism.linf_sensitivity if hasattr(mechanism, "epsilon") else mechanism.scale
        for scores in _SCORES:
            yield f"scores {scores}", np.broadcast_to(np.array(scores) * unit, (shape[0], 2))
    elif getattr(mechanism, "exact_sampler", False):
        yield "zeros", np.zeros(shape, dtype=np.int64)
        yield "whole numbers", np.broadcast_to(_down(rows % 7 - 3, len(shape)), shape)
    else:
        yield "zeros", np.zeros(shape)
        yield "moved answers", np.broadcast_to(_down((rows % 7 - 3.0) * _unit(mechanism), len(shape)), shape)


def _down(rows: Array, axes: int) -> Array:
    """Return one number a row with enough axes to broadcast."""
    return rows.reshape(-1, *(1,) * (axes - 1))


def _unit(mechanism: Any) -> float:
    """Return the size of an answer that noise of this mechanism is for."""
    names = ("l1_sensitivity", "l2_sensitivity", "nuclear_sensitivity", "trace_sensitivity", "feature_bound")
    return float(next((getattr(mechanism, name) for name in names if hasattr(mechanism, name)), 1.0))


def _trees(tree: Any, item: tuple[int, ...], rng: np.random.Generator) -> Iterator[Sample]:
    """Yield the nodes of trees that were released whole, step by step, as a bank and in blocks."""
    length = min(tree.horizon, _STREAM)
    most = _MOST_EXACT if getattr(tree.leaf, "exact_sampler", False) else _MOST
    rows = min(max(_NUMBERS // (length * max(int(np.prod(item)), 1)), _FEWEST), most)
    kind = np.int64 if getattr(tree.leaf, "exact_sampler", False) else np.float64
    whole = np.asarray(tree.release(np.zeros((rows, length, *item), dtype=kind), rng))
    yield _nodes(tree, "trees released whole", np.moveaxis(whole, 1, 0))
    counter = tree.counter((rows, *item), rng)
    steps = np.stack([counter.step(np.zeros((rows, *item), dtype=kind)) for _ in range(length)])
    yield _nodes(tree, "trees fed step by step", steps)
    if item:
        return
    for count in (rows, 3):
        pushed = [_pushed(tree, count, length, kind, rng) for _ in range(max(_CALLS // (count * length), 1))]
        yield _nodes(tree, f"banks of {count} trees", np.concatenate(pushed, axis=1))
    paths = [tree.path(rng).ahead(length) for _ in range(_CALLS)]
    yield _nodes(tree, "trees drawn in blocks", np.stack(paths, axis=1))


def _pushed(tree: Any, count: int, length: int, kind: Any, rng: np.random.Generator) -> Array:
    """Return the prefix sums of a bank of streams of zeros. Shape: (length, count)."""
    bank = tree.bank(count, rng)
    places = np.arange(count)
    return np.stack([bank.push(places, np.zeros(count, dtype=kind)) for _ in range(length)])


def _nodes(tree: Any, says: str, prefixes: Array) -> Sample:
    """Return the noise of all nodes as rows of the leaf's noise. Shape: `prefixes` is (length, rows, *item)."""
    parents = [number & (number - 1) for number in range(1, len(prefixes) + 1)]
    nodes = [prefixes[k] - (prefixes[parent - 1] if parent else 0) for k, parent in enumerate(parents)]
    noise = np.concatenate([np.asarray(node) for node in nodes])
    return Sample(mechanism=tree.leaf, entrance=says, output=noise, value=np.zeros_like(noise))
