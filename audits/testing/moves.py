"""Pairs of answers that lie as far apart as a mechanism's stated sensitivities allow, beside its own worst pair."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

_RANDOM = 3
_MOST_CATEGORIES = 6
_MOST_PLACES = 8

NamedPair = tuple[str, Any, Any]


def moved_answers(mechanism: Any, pair: tuple[Any, Any], rng: np.random.Generator) -> Iterator[NamedPair]:
    """Yield (words, answer, neighbouring answer) in shapes and types of the mechanism's own pair.

    Known are sensitivities in the l1, l2 and linf norms, nuclear norms and traces of symmetric matrices, Gram matrices
    with targets, categories, and streams whose `leaf` has a pair. Nothing is yielded for other mechanisms.
    """
    answer = np.asarray(pair[0])
    if hasattr(mechanism, "leaf"):
        yield from _streams(mechanism, answer)
    elif hasattr(mechanism, "categories"):
        for category, other_category in combinations(range(min(mechanism.categories, _MOST_CATEGORIES)), 2):
            yield f"categories {category} and {other_category}", category, other_category
    elif hasattr(mechanism, "feature_bound"):
        yield from _grams(mechanism, answer, rng)
    elif size := getattr(mechanism, "nuclear_sensitivity", getattr(mechanism, "trace_sensitivity", 0.0)):
        for says, direction in _directions(answer[..., 0], 2, rng, integers=False):
            move = size * np.outer(direction, direction)
            yield f"a matrix of rank one, {says}", move, np.zeros_like(move)
    elif hasattr(mechanism, "dilution"):
        yield "the two answers that there are", 0, 1
    else:
        yield from _normed(mechanism, answer, rng)


def _normed(mechanism: Any, answer: Array, rng: np.random.Generator) -> Iterator[NamedPair]:
    """Yield moves in the norm of the mechanism's sensitivity, from zeros and from another place.

    Where a record moves all numbers one way, no move has two signs.
    """
    integers = answer.dtype.kind in "iu"
    for name, order in (("l1_sensitivity", 1.0), ("l2_sensitivity", 2.0), ("linf_sensitivity", np.inf)):
        if not hasattr(mechanism, name):
            continue
        distance = getattr(mechanism, name)
        one_way = any(getattr(mechanism, moved, "") == "monotone" for moved in ("utilities", "scores", "queries"))
        for says, direction in _directions(answer, order, rng, integers=integers):
            if one_way and direction.min() < 0 < direction.max():
                continue
            move = (distance * direction).astype(answer.dtype) if integers else distance * direction
            if answer.ndim == 2 and not np.array_equal(move, move.T):
                continue
            for base in (0, 3 * distance):
                start = np.full_like(move, base)
                yield f"{says} from {base:g}", start + move, start


def _directions(
    answer: Array, order: float, rng: np.random.Generator, *, integers: bool
) -> Iterator[tuple[str, Array]]:
    """Yield moves of length 1 in a norm: of one number, of all, with alternating signs, and random ones."""
    shape, size = answer.shape, max(answer.size, 1)
    kinds = [("one number up", np.eye(1, size)[0]), ("one number down", -np.eye(1, size)[0])]
    if size > 1 and not (integers and order < np.inf):
        signs = np.where(np.arange(size) % 2 == 0, 1.0, -1.0)
        kinds += [("all numbers", np.ones(size)), ("alternating signs", signs)]
        kinds += [("a random direction", rng.standard_normal(size)) for _ in range(0 if integers else _RANDOM)]
        if order == np.inf:
            kinds.append(("one up and all others down", 2 * np.eye(1, size)[0] - 1))
    for says, direction in kinds:
        move = direction.reshape(shape)
        if answer.ndim == 2:
            move = (move + move.T) / 2 if shape[0] == shape[1] else move
        yield says, move / np.linalg.norm(move.reshape(-1), order)


def _grams(mechanism: Any, answer: Array, rng: np.random.Generator) -> Iterator[NamedPair]:
    """Yield the Gram matrices and target vectors of single records in random directions, and of no record."""
    empty = np.zeros_like(answer)
    for _ in range(_RANDOM):
        first, second = (_gram(mechanism, direction) for direction in rng.standard_normal((2, answer.shape[0])))
        yield "one record in a random direction", first, (second if mechanism.neighbours == "replace_one" else empty)


def _gram(mechanism: Any, direction: Array) -> Array:
    """Return the matrix and the vector of one record of the largest norm."""
    unit = direction / np.linalg.norm(direction)
    feature = mechanism.feature_bound * unit
    both = np.concatenate([np.outer(feature, feature), mechanism.target_bound * feature[:, None]], axis=1)
    return np.asarray(both)


def _streams(mechanism: Any, answer: Array) -> Iterator[NamedPair]:
    """Yield streams in which one element moves, at several times."""
    if not hasattr(mechanism.leaf, "worst_pair"):
        return
    moved, still = (np.asarray(side) for side in mechanism.leaf.worst_pair())
    if moved.shape != answer.shape[1:]:
        return
    for index in sorted({*range(min(len(answer), _MOST_PLACES)), len(answer) - 1}):
        first = np.broadcast_to(still, answer.shape).copy()
        second = first.copy()
        first[index] = moved
        yield f"element {index + 1}", first, second
