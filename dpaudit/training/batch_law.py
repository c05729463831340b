"""The law of batches as a declaration states it: how large they are, and with which probability a record is in one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from scipy.special import bdtr, bdtrc

from dpaudit.checks import count
from dpaudit.model.declaration import Allocate, Subsample
from dpaudit.model.mechanism import Array

Sampled = Subsample | Allocate
"""A node whose records are drawn in secret."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchLaw:
    """How one run draws batches out of `records` records.

    `share` is the probability that a record is in a batch, on average over the draws of it. `size_law(n)` is the
    probability of at most n records in a batch; None where all batches of a kind have `sizes`, the least and the most.
    A record is in `per_epoch` batches of every epoch of `epoch` batches where that is fixed, and then "repeated" says
    that it is in the same ones again. `several` says that a record may be in a batch more than once.
    """

    records: int
    share: float
    size_law: Callable[[Array], Array] | None = None
    sizes: tuple[int, int] | None = None
    epoch: int | None = None
    per_epoch: int = 1
    repeated: bool = False
    several: bool = False


def batch_law(node: Sampled, records: int) -> BatchLaw:
    """Return the law of the batches of `node` out of `records` records.

    >>> from dpaudit import Stated, Subsample
    >>> node = Subsample(part=Stated(epsilon=0.1, source="a supplier"), rate=0.25, scheme="without_replacement")
    >>> batch_law(node, 100).sizes
    (25, 25)
    """
    checked = count("records", records)
    match node:
        case Subsample():
            return _sampled(node, checked)
        case Allocate(steps=steps, per_epoch=times, positions=positions):
            share = times / steps
            return BatchLaw(
                records=checked,
                share=share,
                size_law=lambda size: _at_most(size, checked, share),
                epoch=steps,
                per_epoch=times,
                repeated=positions == "repeated",
            )
        case _:
            assert_never(node)


def poisson_law(records: int, rate: float) -> BatchLaw:
    """Return the law of a batch that holds each record with probability `rate`, by itself.

    >>> poisson_law(10, 0.5).share
    0.5
    """
    return BatchLaw(records=records, share=rate, size_law=lambda size: _at_most(size, records, rate))


def dealt_law(records: int, batches: int) -> BatchLaw:
    """Return the law of a loader that deals all records once an epoch, in a fresh order, into equal batches.

    >>> dealt_law(10, 4).sizes
    (1, 3)
    """
    size = -(-records // batches)
    last = records - size * (batches - 1)
    return BatchLaw(records=records, share=1 / batches, sizes=(min(last, size), size), epoch=batches)


def _sampled(node: Subsample, records: int) -> BatchLaw:
    """Return the law of a sampled batch."""
    rate, size = float(node.rate), node.batch_size or round(node.rate * records)
    match node.scheme:
        case "poisson":
            return poisson_law(records, rate)
        case "truncated_poisson":
            most = int(node.batch_bound or records)
            share = float(bdtrc(np.arange(min(most, records)), records, rate).sum()) / records
            return BatchLaw(
                records=records,
                share=share,
                size_law=lambda n: np.where(np.asarray(n) >= most, 1.0, _at_most(n, records, rate)),
            )
        case "without_replacement":
            return BatchLaw(records=records, share=size / records, sizes=(size, size))
        case "with_replacement":
            return BatchLaw(records=records, share=size / records, sizes=(size, size), several=True)
        case _:
            assert_never(node.scheme)


def _at_most(size: Array, records: int, rate: float) -> Array:
    """Return the probability that at most `size` of the records are drawn, each with probability `rate`."""
    return np.where(np.asarray(size) < 0, 0.0, bdtr(np.clip(size, 0, records), records, rate))
