"""Vectors of counts and sums: histograms, parallel noise, prefix sums, trees and matrices."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import Law, laplace_law, repeated
from dpaudit.model.mechanism import Array


def _vector(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return independent Laplace noise on every coordinate."""
    answers = np.asarray(data, dtype=float)
    return answers + rng.laplace(0.0, scale, (n_runs, len(answers)))


def _shared(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return one draw of noise used for every coordinate: differences are exact."""
    return np.asarray(data, dtype=float) + rng.laplace(0.0, scale, (n_runs, 1))


def _prefixes(scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return prefix sums of answers with noise each."""
    return np.cumsum(_vector(scale, data, rng, n_runs), axis=1)


def _through(matrix: Array, scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return noisy answers to the rows of `matrix`, a strategy of the matrix mechanism."""
    return _vector(scale, matrix @ np.asarray(data, dtype=float), rng, n_runs)


def _decoded(matrix: Array, scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the least squares estimate from those answers, which loses nothing of an invertible strategy."""
    return _through(matrix, scale, data, rng, n_runs) @ np.linalg.pinv(matrix).T


def _ratio(first: Array, second: Array, scale: float, matrix: Array | None, view: Any) -> Array:
    """Return the log odds of independent Laplace noise, after undoing a square `matrix`."""
    outputs = np.asarray(view)
    known = outputs if matrix is None else np.linalg.solve(matrix, outputs.T).T
    return (np.abs(known - first) - np.abs(known - second)).sum(axis=1) / scale


def _tree(levels: int) -> Array:
    """Return the nodes of a binary tree over 2^levels leaves, one row a node."""
    leaves = 2**levels
    rows = [np.arange(leaves) // 2**level == node for level in range(levels + 1) for node in range(leaves // 2**level)]
    return np.array(rows, dtype=float)


_TREE = _tree(3)
_HAAR = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]], dtype=float)
_UNIT = (np.zeros(8), np.eye(8)[2])
_FOUR = (np.zeros(4), np.eye(4)[1])


def _moved(
    name: str,
    run: Callable[..., Array],
    pair: tuple[Array, Array],
    truth: float,
    claim: float = 1.0,
    **more: Any,
) -> Entry:
    """Return an entry on two vectors."""
    return Entry(
        name=name, claim=pure(claim), run=run, neighbours=pair, correct=truth <= claim * (1 + 1e-9), truth=truth, **more
    )


def _all_moved(name: str, run: Callable[..., Array], times: int, scale: float, claim: float, **more: Any) -> Entry:
    """Return an entry whose every coordinate moves by one, with the likelihood ratio as its score."""
    matrix = np.tril(np.ones((times, times))) if name.startswith("prefix") else None
    pair = (np.zeros(times), np.ones(times))
    return _moved(
        name,
        run,
        pair,
        times / scale,
        claim,
        score=partial(_ratio, *pair, scale, matrix),
        law=partial(_repeated, times, scale),
        **more,
    )


def _repeated(times: int, scale: float) -> Law:
    """Return the law of so many coordinates that all move by one."""
    return repeated(laplace_law(1.0, scale), times, width=1 / (200 * scale))


_FIVE = (np.array([2.0, 1, 3, 0, 1]), np.array([3.0, 1, 3, 0, 1]))
_SIX = (np.zeros(6), np.eye(6)[1])
_TWO_BINS = (np.array([2.0, 1, 3]), np.array([1.0, 2, 3]))

ENTRIES = (
    _moved(
        "noisy histogram 1", partial(_vector, 10.0), _FIVE, 0.1, 0.1, law=partial(laplace_law, 1, 10), published=0.1
    ),
    _moved(
        "noisy histogram 2", partial(_vector, 0.1), _FIVE, 10.0, 0.1, law=partial(laplace_law, 1, 0.1), published=10.002
    ),
    _moved(
        "histogram, one bin moves to another",
        partial(_vector, 1.0),
        _TWO_BINS,
        2.0,
        law=lambda: repeated(laplace_law(1.0, 1.0), 2),
    ),
    _moved(
        "histogram with sensitivity two",
        partial(_vector, 2.0),
        _TWO_BINS,
        1.0,
        law=lambda: repeated(laplace_law(1.0, 2.0), 2),
    ),
    _moved("histogram with one draw for all bins", partial(_shared, 1.0), _FIVE, math.inf),
    _all_moved("laplace in parallel", partial(_vector, 200.0), 20, 200.0, 0.1, published=0.035),
    _all_moved("laplace in parallel, budget not split", partial(_vector, 10.0), 20, 10.0, 0.1),
    _all_moved("prefix sums", partial(_prefixes, 10.0), 10, 10.0, 0.1, published=0.577),
    _all_moved("prefix sums, budget split", partial(_prefixes, 10.0), 10, 10.0, 1.0),
    _moved("partial sum", partial(_prefixes, 1.0), _SIX, 1.0, law=partial(laplace_law, 1, 1)),
    _moved("partial sum, half the noise", partial(_prefixes, 0.5), _SIX, 2.0),
    _moved("tree counter", partial(_through, _TREE, 4.0), _UNIT, 1.0, law=lambda: repeated(laplace_law(1, 4), 4)),
    _moved(
        "tree counter, a level forgotten",
        partial(_through, _TREE, 3.0),
        _UNIT,
        4 / 3,
        law=lambda: repeated(laplace_law(1, 3), 4),
    ),
    _moved("tree counter, noise of one node", partial(_through, _TREE, 1.0), _UNIT, 4.0),
    _moved(
        "matrix mechanism, haar", partial(_decoded, _HAAR, 3.0), _FOUR, 1.0, law=lambda: repeated(laplace_law(1, 3), 3)
    ),
    _moved("matrix mechanism, sensitivity one", partial(_decoded, _HAAR, 1.0), _FOUR, 3.0),
    _moved(
        "matrix mechanism, prefix strategy",
        partial(_decoded, np.tril(np.ones((4, 4))), 3.0),
        _FOUR,
        1.0,
        law=lambda: repeated(laplace_law(1, 3), 3),
    ),
)
