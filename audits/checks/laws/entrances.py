"""Samples of a mechanism through each of its entrances: many rows and few, near and far answers, every kind of tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array, Mechanism, is_additive

_NUMBERS = 200_000
_FEWEST = 400
_MOST = 100_000
_MOST_NUMBERS = 4_000_000
_CALLS = 300
_STREAM = 13
_SCORES = ((0.0, 0.0), (0.7, 0.0), (0.0, 1.6), (5.0, 0.0), (0.4, 0.0, 0.8, 0.2), (0.0, 2.0, 0.0, 2.0))
_FAR = 1_000
_MOST_CATEGORIES = 8
_WIDTH = 5
_DEEP_ROWS, _DEEP_NUMBERS, _DEEP_EXACT_NUMBERS = 1_000, 3_200_000, 1_000_000
_SHALLOW, _DEEPEST = 4, 10


_CATEGORICAL = frozenset({"randomised_response", "finite", "unary_encoding", "subset_selection"})
_SCORED = frozenset({"exponential", "noisy_plurality", "permute_and_flip", "report_noisy_max"})
_STREAMED = frozenset({"matrix", "one_sided_wishart", "tree_aggregation"})


def is_sampled(mechanism: Mechanism) -> bool:
    """Return whether answers are known that a mechanism takes: numbers that noise is added to, and shipped kinds."""
    return is_additive(mechanism) or mechanism.name in _CATEGORICAL | _SCORED | _STREAMED


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
    size = max(int(np.prod(item)), 1)
    rows = min(max(_NUMBERS // size, _FEWEST), _MOST, max(_MOST_NUMBERS // size, 2))
    for says, value in _answers(mechanism, (rows, *item)):
        try:
            output = mechanism.release(value, rng)
        except ValueError:  # a mechanism may refuse answers below 0, or large ones
            continue
        yield Sample(mechanism=mechanism, entrance=says, output=output, value=value)
    value = next(_answers(mechanism, (min(_CALLS, rows), *item)))[1]
    singles = np.concatenate([np.asarray(mechanism.release(row[None], rng)) for row in value])
    yield Sample(mechanism=mechanism, entrance="released in single rows", output=singles, value=value)


def wider(mechanism: Any, item: tuple[int, ...]) -> tuple[int, ...]:
    """Return a wider shape of an answer that the mechanism takes as well, or the same one.

    Numbers become vectors, and matrices of two rows become larger: an entry beyond the smallest shape may be noised
    otherwise.
    """
    if mechanism.name in {"gaussian", "laplace", "randomised_response"} or getattr(mechanism, "exact_sampler", False):
        return item or (_WIDTH,)
    if mechanism.name == "symmetric_gaussian":
        return (max(item[0], _WIDTH - 1),) * 2
    if mechanism.name == "joint_gaussian":
        return max(item[0], _WIDTH - 1), max(item[1], _WIDTH)
    return item


def _answers(mechanism: Any, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Yield (words, answers) of a shape: zeros, moved and far ones, of a kind that the mechanism takes."""
    rows = np.arange(shape[0])
    if mechanism.name in _CATEGORICAL:
        for category in range(min(getattr(mechanism, "categories", 2), _MOST_CATEGORIES)):
            yield f"category {category}", np.full(shape, category)
    elif mechanism.name in _SCORED:
        unit = mechanism.stddev if hasattr(mechanism, "stddev") else getattr(mechanism, "scale", None)
        unit = 2 / mechanism.epsilon * mechanism.linf_sensitivity if unit is None else unit
        for scores in _SCORES:
            yield f"scores {scores}", np.broadcast_to(np.array(scores) * unit, (shape[0], len(scores)))
    else:
        exact = getattr(mechanism, "exact_sampler", False)
        unit, kind = (1, np.int64) if exact else (_unit(mechanism), np.float64)
        yield "zeros", np.zeros(shape, dtype=kind)
        for says, far in (("moved answers", 1), ("far answers", _FAR)):
            places = np.arange(shape[-1]) if mechanism.name == "matrix" else rows.reshape(-1, *(1,) * (len(shape) - 1))
            yield says, np.broadcast_to(((places % 7 - 3) * unit * far).astype(kind), shape)


def _unit(mechanism: Any) -> float:
    """Return the size of an answer that noise of this mechanism is for."""
    names = ("l1_sensitivity", "l2_sensitivity", "nuclear_sensitivity", "trace_sensitivity", "feature_bound")
    return float(next((getattr(mechanism, name) for name in names if hasattr(mechanism, name)), 1.0))


def _trees(tree: Any, item: tuple[int, ...], rng: np.random.Generator) -> Iterator[Sample]:
    """Yield the nodes of trees that were released whole, step by step, as a bank and in blocks."""
    length = min(tree.horizon, _STREAM)
    rows = min(max(_NUMBERS // (length * max(int(np.prod(item)), 1)), _FEWEST), _MOST)
    kind = np.int64 if getattr(tree.leaf, "exact_sampler", False) else np.float64
    sums = np.asarray(tree.release(np.zeros((rows, length, *item), dtype=kind), rng))
    yield from _nodes(tree, "trees released whole", np.moveaxis(sums, 1, 0))
    counter = tree.counter((rows, *item), rng)
    steps = np.stack([counter.step(np.zeros((rows, *item), dtype=kind)) for _ in range(length)])
    yield from _nodes(tree, "trees fed step by step", steps)
    yield from _deep(tree, item, kind, rng)
    if item:
        return
    for count in (rows, 3):
        pushed = [_pushed(tree, count, length, kind, rng) for _ in range(max(_CALLS // (count * length), 1))]
        yield from _nodes(tree, f"banks of {count} trees", np.concatenate(pushed, axis=1))
    yield from _nodes(tree, "banks that shrink", _shrunk(tree, 2 * rows, length, kind, rng))
    yield from _nodes(tree, "trees drawn in blocks", np.stack([_blocks(tree, length, rng) for _ in range(_CALLS)], 1))


def _deep(tree: Any, item: tuple[int, ...], kind: Any, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield nodes of the higher levels of long streams, one row a tree: 2^(l + 1), and 3 2^l, which it is carried to.

    What is added to the noise of a node that is carried, or lost of it, shows in the second and the pair of both.
    """
    most = _DEEP_NUMBERS if kind is np.float64 else _DEEP_EXACT_NUMBERS
    longest = min(tree.horizon, most // (_DEEP_ROWS * max(int(np.prod(item)), 1)))
    levels = range(_SHALLOW, min((longest // 3).bit_length() - 1, _DEEPEST) + 1) if longest >= 3 else range(0)
    if not levels or tree.leaf.item_axes:
        return
    places = np.array([prefix for level in levels for prefix in (2 << level, 3 << level)])
    length, shape = int(places.max()), (_DEEP_ROWS, *item)
    zeros = np.zeros(shape, dtype=kind)
    sums = np.asarray(tree.release(np.zeros((_DEEP_ROWS, length, *item), dtype=kind), rng))
    counter = tree.counter(shape, rng)
    steps = [counter.step(zeros) for _ in range(length)]
    read = [("released whole", sums[:, places - 1]), ("fed step by step", np.stack([steps[k - 1] for k in places], 1))]
    if not item:
        paths = [tree.path(rng) for _ in range(_DEEP_ROWS)]
        ahead = np.stack([_in_blocks(path, length) for path in paths])
        bank = _pushed(tree, _DEEP_ROWS, length, kind, rng)
        read += [("drawn in blocks", ahead[:, places - 1]), ("in a bank", bank[places - 1].T)]
    for says, prefixes in read:
        nodes = np.asarray(prefixes).copy()
        nodes[:, 1::2] -= prefixes[:, ::2]
        rows = nodes.reshape(_DEEP_ROWS, -1)
        yield Sample(mechanism=tree.leaf, entrance=f"long trees {says}", output=rows, value=np.zeros_like(rows))


def _in_blocks(path: Any, length: int) -> Array:
    """Return the noise of a stream that comes in blocks of a third. Shape: (length,)."""
    parts = []
    while (left := length - path.clock) > 0:
        size = min(left, max(length // 3, 1))
        parts.append(path.ahead(size).copy())
        path.advance(size)
    return np.concatenate(parts)


def _pushed(tree: Any, count: int, length: int, kind: Any, rng: np.random.Generator) -> Array:
    """Return the prefix sums of a bank of streams of zeros. Shape: (length, count)."""
    bank = tree.bank(count, rng)
    places = np.arange(count)
    return np.stack([bank.push(places, np.zeros(count, dtype=kind)) for _ in range(length)])


def _shrunk(tree: Any, count: int, length: int, kind: Any, rng: np.random.Generator) -> Array:
    """Return the prefix sums of the odd half of a bank that forgets the even half midway. Shape: (length, half)."""
    bank, half = tree.bank(count, rng), count // 2
    odd, early = 2 * np.arange(half) + 1, length // 2
    first = [bank.push(np.arange(count), np.zeros(count, dtype=kind))[odd] for _ in range(early)]
    bank.keep(odd)
    later = [bank.push(np.arange(half), np.zeros(half, dtype=kind)) for _ in range(length - early)]
    return np.stack([*first, *later])


def _blocks(tree: Any, length: int, rng: np.random.Generator) -> Array:
    """Return the noise of the prefix sums of one stream that comes in two or three blocks. Shape: (length,)."""
    return _in_blocks(tree.path(rng), length)


def _nodes(tree: Any, says: str, prefixes: Array) -> Iterator[Sample]:
    """Yield the noise of all nodes as rows of the leaf's noise, and one row a tree where a node is a number.

    Shape: `prefixes` is (length, rows, *item).
    """
    parents = [number & (number - 1) for number in range(1, len(prefixes) + 1)]
    nodes = [np.asarray(prefixes[k] - (prefixes[parent - 1] if parent else 0)) for k, parent in enumerate(parents)]
    noise = np.concatenate(nodes)
    yield Sample(mechanism=tree.leaf, entrance=says, output=noise, value=np.zeros_like(noise))
    if nodes[0].ndim == 1 and tree.leaf.item_axes == 0 and len(nodes) > 1:
        beside = np.stack(nodes, axis=1)
        yield Sample(mechanism=tree.leaf, entrance=f"{says}, by node", output=beside, value=np.zeros_like(beside))
