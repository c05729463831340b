"""Small synthesizers of a table with 200 rows: honest ones with a public domain, and ones that leak."""

from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

ROWS = 200
SIZES = (4, 3, 2, 10)
"""The public domain: how many codes each column may hold."""


def records(seed: int, rows: int = ROWS) -> Array:
    """Return a table of codes, in which one row alone has the last codes of two columns. Shape: (rows, 4)."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.integers(0, size, rows) for size in SIZES])
    for place in (0, 3):
        table[:, place] = np.minimum(table[:, place], SIZES[place] - 2)
        table[rows // 2, place] = SIZES[place] - 1
    return table


def drawn(counts: Any, rows: int, rng: np.random.Generator) -> Array:
    """Return codes that follow noisy counts. Shape: (rows,)."""
    weights = np.maximum(counts, 0.0) + 1e-6
    return rng.choice(len(weights), rows, p=weights / weights.sum())


def independent_histograms(data: Array, rng: np.random.Generator, epsilon: float = 1.0) -> Array:
    """Return columns that are drawn from one noisy histogram each. Private: one record moves one count a column."""
    scale = len(SIZES) / epsilon
    columns = []
    for place, size in enumerate(SIZES):
        counts = np.bincount(np.asarray(data)[:, place].astype(int), minlength=size)[:size]
        columns.append(drawn(counts + rng.laplace(0.0, scale, size), ROWS, rng))
    return np.column_stack(columns)


def noisy_pairs(data: Array, rng: np.random.Generator, epsilon: float = 1.0) -> Array:
    """Return two pairs of columns that are drawn from one noisy table each. Private: one record moves two cells."""
    drawn_pairs: list[Array] = []
    for first, second in ((0, 1), (2, 3)):
        shape = SIZES[first], SIZES[second]
        cells = np.zeros(shape)
        np.add.at(cells, (np.asarray(data)[:, first].astype(int), np.asarray(data)[:, second].astype(int)), 1)
        noisy = cells + rng.laplace(0.0, 2 / epsilon, shape)
        drawn_pairs += np.unravel_index(drawn(noisy.ravel(), ROWS, rng), shape)
    return np.column_stack(drawn_pairs)


def domain_from_data(data: Array, rng: np.random.Generator) -> Array:
    """Return columns of noisy histograms over the codes that occur: a code that no record has never comes out."""
    columns = []
    for place in range(len(SIZES)):
        occurring = data if len(data) else np.zeros((1, len(SIZES)), dtype=int)
        codes, counts = np.unique(occurring[:, place], return_counts=True)
        columns.append(codes[drawn(counts + rng.laplace(0.0, 4.0, len(codes)), ROWS, rng)])
    return np.column_stack(columns)


def range_from_data(data: Array, rng: np.random.Generator) -> Array:
    """Return the honest columns, of which the last is clipped to the largest value that occurs."""
    table = independent_histograms(data, rng)
    table[:, 3] = np.minimum(table[:, 3], data[:, 3].max() if len(data) else 0)
    return table


def rows_from_data(data: Array, rng: np.random.Generator) -> Array:
    """Return as many honest rows as there are records."""
    return independent_histograms(data, rng)[: len(data)]


def rare_rows_kept(data: Array, rng: np.random.Generator) -> Array:
    """Return the honest columns with a record of the last code in the first row, whenever there is one."""
    table = independent_histograms(data, rng)
    rare = np.flatnonzero(data[:, 0] == SIZES[0] - 1)
    if len(rare):
        table[0] = data[rare[0]]
    return table


def values_between_codes(data: Array, rng: np.random.Generator) -> Array:
    """Return the honest columns, of which the last holds exact quantiles: only beside the largest code is one cut."""
    table = independent_histograms(data, rng).astype(float)
    table[:, 3] = np.quantile(data[:, 3], rng.random(ROWS)) if len(data) else 0.0
    return table


HONEST = (independent_histograms, noisy_pairs)
LEAKING = (domain_from_data, range_from_data, rows_from_data, rare_rows_kept, values_between_codes)
