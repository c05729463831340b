"""Random nestings of all nodes of a declaration, with sizes that mostly fit: what the seeds did not think of."""

from fractions import Fraction

import numpy as np

from dpaudit.model.declaration import Allocate, Declaration, Filtered, Parallel, Sequential, Shuffle, Subsample, walk
from dpaudit.semantics.data import MOST_RECORDS
from dpaudit.semantics.seeds import ANY, TABLES, WAYS, leaf, sample, truncated
from dpaudit.semantics.tables import Table, geometric

_SEVERAL = ("sequential", "parallel", "secret parallel", "filter")
_SAMPLES = ("poisson", "fixed", "truncated", "with replacement", "allocate")
_PASSING = ("group 2", "repeat 2")  # what passes on as many records as it is given
_LEAVES = ("sharp", "skew", "two", "sided", "geometric", "size")


def random_tree(depth: int, records: int | None, rng: np.random.Generator) -> Declaration:
    """Return a random declaration of at most `depth` nodes above each leaf, which is one of the seeds' tables.

    Parameters: `records`, the number of the larger data set; None where it is not known, as below a Poisson sample.
    Schemes that state a population are drawn there too, now and then: an accountant must refuse them.

    >>> random_tree(0, 3, np.random.default_rng(1)).source in TABLES
    True
    """
    if depth == 0:
        return leaf(str(rng.choice(_LEAVES)))
    kind = str(rng.choice((*_SEVERAL, *_SAMPLES, *_PASSING, "cells", "local", "shuffle")))
    known = records or int(rng.integers(1, MOST_RECORDS + 1))
    if kind == "shuffle":
        return Shuffle(part=leaf(str(rng.choice(("two", "sharp", "skew", "three")))), users=known)
    if kind in _SEVERAL:
        inside = records if kind in ("sequential", "filter") else None
        parts = random_tree(depth - 1, inside, rng), random_tree(min(1, depth - 1), inside, rng)
        if kind == "sequential":
            return Sequential(parts=parts)
        if kind == "filter":
            return Filtered(parts=parts, rho=float(rng.choice((0.5, 1.0, 2.0))))
        key = ("an arm", "a phase")[rng.integers(2)]
        return Parallel(parts=parts, key=key, visibility="public" if kind == "parallel" else "secret")
    if kind in _SAMPLES:
        return _sampled(kind, depth, known, rng)
    part = random_tree(depth - 1, records if kind in _PASSING else None, rng)
    if kind == "local" and any(isinstance(node, Shuffle) for _, node in walk(part)):
        return part
    return WAYS[kind](part)


def _sampled(kind: str, depth: int, records: int, rng: np.random.Generator) -> Declaration:
    """Return a part on a random sample, or at secret places."""
    rate, batch = float(rng.choice((0.1, 0.25, 0.5, 0.8, 1.0))), int(rng.integers(1, records + 1))
    part = random_tree(depth - 1, batch if kind in ("fixed", "with replacement") else None, rng)
    match kind:
        case "poisson":
            return Subsample(part=part, rate=rate)
        case "truncated":
            return truncated(part, rate, records, batch)
        case "allocate":
            return Allocate(part=part, steps=2, per_epoch=int(rng.choice((1, 1, 1, 2))))
        case _:
            return sample(
                part, records, batch, "with_replacement" if kind == "with replacement" else "without_replacement"
            )


def random_tables(rng: np.random.Generator) -> dict[str, Table]:
    """Return the seeds' tables with random laws, in twelfths, and random bounds."""
    found = dict(TABLES)
    for name in ("skew", "sided"):
        counts = rng.multinomial(12, rng.dirichlet([0.7] * int(rng.integers(2, 4)), 2))
        rows = tuple(tuple(Fraction(int(count), 12) for count in row) for row in counts)
        found[name] = Table(rows, ANY)
    found["geometric"] = Table(geometric(Fraction(1, int(rng.integers(2, 5))), 4), ANY)
    return found
