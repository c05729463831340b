"""The correct programs behind the mutants: sums, counts, histograms, choices, streams."""

from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.catalogue.program import Program, laplace, shown_whole
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Array

_RECORDS = np.array([0.2, 0.7, 0.5, 0.1])
_LARGE = 1e6


def _clip(largest: float, records: Array) -> Array:
    """Return records within [0, largest]; what is no number counts as 0."""
    return np.clip(np.nan_to_num(records, nan=0.0), 0.0, largest)


def _total(records: Array) -> Array:
    """Return one sum."""
    return np.array([float(records.sum())])


def _moments(records: Array) -> Array:
    """Return the sum and the sum of squares."""
    return np.array([float(records.sum()), float((records**2).sum())])


def _histogram(bins: int, records: Array) -> Array:
    """Return how many records are in each of `bins` equal parts of [0, 1]."""
    places = np.minimum((records * bins).astype(int), bins - 1)
    return np.bincount(places, minlength=bins).astype(float)


def _votes(records: Array) -> Array:
    """Return how many records are at least .25, .5 and .75."""
    return np.array([float((records >= cut).sum()) for cut in (0.25, 0.5, 0.75)])


def _opposed(records: Array) -> Array:
    """Return one answer that rises and three that fall, the worst direction for a noisy maximum."""
    return (float(records.sum()) - 1.8) * np.array([1.0, -1.0, -1.0, -1.0])


def _above(records: Array) -> Array:
    """Return a threshold at 0, then four answers that fall and four that rise, for a sparse vector."""
    return np.concatenate([np.zeros(1), (float(records.sum()) - 1.8) * np.repeat([-1.0, 1.0], 4)])


def _exponential(scales: Array, n_runs: int, rng: np.random.Generator) -> Array:
    """Return exponential noise, enough where only the place of the maximum is shown."""
    return rng.exponential(size=(n_runs, len(scales))) * scales


def _tree(records: Array) -> Array:
    """Return the nodes of a tree over four records in order of time."""
    padded = np.zeros(4)
    padded[: min(4, len(records))] = records[:4]
    return np.concatenate([padded, padded.reshape(2, 2).sum(axis=1), [padded.sum()]])


def _first_above(noisy: Array) -> Array:
    """Return which answer is the first above the threshold in column 0; their number where none is."""
    above = noisy[:, 1:] >= noisy[:, :1]
    return np.where(above.any(axis=1), above.argmax(axis=1), above.shape[1])


def _largest(noisy: Array) -> Array:
    """Return the place of the largest answer."""
    return np.argmax(noisy, axis=1)


def _replaced(*records: float) -> tuple[tuple[Array, Array], ...]:
    """Return pairs in which the first record is replaced, ordinary extremes first."""
    start = np.concatenate([[0.0], _RECORDS[1:]])
    return tuple((start, np.concatenate([[record], _RECORDS[1:]])) for record in records)


def _added(*records: float) -> tuple[tuple[Array, Array], ...]:
    """Return pairs in which a record joins."""
    return tuple((_RECORDS, np.append(_RECORDS, record)) for record in records)


def programs(epsilon: float) -> tuple[Program, ...]:
    """Return the correct programs, each of which spends `epsilon`."""
    odd = (1.0, 3.0, 0.6, 0.3, 0.1, _LARGE, float("nan"))
    replaced, added = _replaced(*odd), _added(*odd)
    base = Program(
        name="sum",
        epsilon=epsilon,
        relation="replace_one",
        pairs=replaced,
        prepare=partial(_clip, 1.0),
        query=_total,
        weights=(1.0,),
        proved=1.0,
        used=1.0,
        draw=laplace,
        finish=shown_whole,
    )
    return (
        base,
        _like(base, "sum of larger records", prepare=partial(_clip, 3.0), proved=3.0, used=3.0),
        _like(base, "sum, one joins", relation="add_remove", pairs=added),
        _like(base, "moments", query=_moments, weights=(1.0, 1.0), proved=2.0, used=2.0),
        _like(base, "histogram", query=partial(_histogram, 4), weights=(1.0,) * 4, proved=2.0, used=2.0),
        _like(
            base,
            "histogram, one joins",
            query=partial(_histogram, 4),
            weights=(1.0,) * 4,
            relation="add_remove",
            pairs=added,
        ),
        _like(base, "tree", query=_tree, weights=(1.0,) * 7, proved=3.0, used=3.0),
        _like(base, "thresholds", query=_votes, weights=(1.0,) * 3, proved=3.0, used=3.0),
        _like(
            base,
            "noisy maximum",
            query=_opposed,
            weights=(2.0,) * 4,
            draw=_exponential,
            finish=_largest,
            choice=True,
        ),
        _like(base, "sparse vector", query=_above, weights=(2.0, *(4.0,) * 8), finish=_first_above, choice=True),
    )


def _like(
    base: Program,
    name: str,
    *,
    relation: Neighbours = "replace_one",
    **pieces: object,
) -> Program:
    """Return `base` with other pieces."""
    return replace(base, name=name, relation=relation, **pieces)  # type: ignore[arg-type]  # a mutant's pieces are checked when it runs
