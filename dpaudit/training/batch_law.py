"""The law of batches as a declaration states it: how large they are, and with which probability a record is in one."""

from dataclasses import dataclass
from typing import assert_never

import numpy as np
from scipy.special import bdtrc, gammaln, xlog1py, xlogy

from dpaudit.checks import count
from dpaudit.model.declaration import Allocate, Subsample
from dpaudit.model.mechanism import Array

Sampled = Subsample | Allocate
"""A node whose records are drawn in secret."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchLaw:
    """How one run draws batches out of `records` records.

    `share` is the probability that a record is in a batch, on average over the draws of it. `size_masses` are
    the probabilities of 0 to `records` records in a batch; None where all batches have `sizes`, the least or the most.
    A record is in `per_epoch` batches of every epoch of `epoch` batches where that is fixed, and then "repeated" says
    that it is in the same ones again. `several` says that a record may be in a batch more than once,
    and `apart` that each record is drawn by itself, in each batch anew.
    """

    records: int
    share: float
    size_masses: Array | None = None
    sizes: tuple[int, int] | None = None
    epoch: int | None = None
    per_epoch: int = 1
    repeated: bool = False
    several: bool = False
    apart: bool = False

    def at_most(self, size: Array) -> Array:
        """Return the probability of at most so many records in a batch."""
        masses = np.zeros(0) if self.size_masses is None else self.size_masses
        return np.append(0.0, np.cumsum(masses))[np.clip(np.asarray(size) + 1, 0, len(masses))]


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
                size_masses=_masses(checked, share),
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
    return BatchLaw(records=records, share=rate, size_masses=_masses(records, rate), apart=True)


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
            masses = _masses(records, rate)
            masses[most], masses[most + 1 :] = masses[most:].sum(), 0.0
            return BatchLaw(records=records, share=share, size_masses=masses)
        case "without_replacement":
            return BatchLaw(records=records, share=size / records, sizes=(size, size))
        case "with_replacement":
            return BatchLaw(records=records, share=size / records, sizes=(size, size), several=True)
        case _:
            assert_never(node.scheme)


def _masses(records: int, rate: float) -> Array:
    """Return the probabilities that 0 to `records` records are drawn, each with probability `rate`."""
    sizes = np.arange(records + 1)
    ways = gammaln(records + 1) - gammaln(sizes + 1) - gammaln(records - sizes + 1)
    return np.exp(ways + xlogy(sizes, rate) + xlog1py(records - sizes, -rate))
