"""The anytime-valid bound: an e-process per claimed epsilon, valid at every stopping time.

A fair coin b picks the neighbour, z is any estimate of logit P(b = 1 | view) made from *earlier* runs, s = +1 where
b = 1 and -1 elsewhere. One run is worth

    E = sigma(s z) / sigma(s clip(z, -epsilon, epsilon)).

Under pure epsilon-privacy q = P(b = 1 | view) lies between sigma(-epsilon) and sigma(epsilon). For z > epsilon the
mean of E given the view grows with q and equals sigma(z) + sigma(-z) = 1 at the upper end; for |z| <= epsilon E is 1.
So the product W of all E is a non-negative supermartingale, and P(W ever reaches 1 / alpha) <= alpha (Ville 1939).

An (epsilon, delta)-private pair is purely private with probability 1 - delta and arbitrary otherwise. As E never
exceeds 1 + e^-epsilon, E / (1 + delta e^-epsilon) is again at most 1 on average.

The lower bound is the largest grid point such that it and every smaller grid point were rejected, each at some time.
If epsilon is true, the next grid point above it is a true hypothesis too. The bound exceeds epsilon only if that one
hypothesis is rejected, so one alpha covers the whole grid and all times.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dpaudit.model.audit_result import LowerBound
from dpaudit.model.mechanism import Array

LEVELS = np.concatenate([np.arange(0, 2, 0.005), np.arange(2, 16.01, 0.05)])
_MIDDLES = (LEVELS[1:] + LEVELS[:-1]) / 2
_LOOKS = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EProcess:
    """Log wealth against every epsilon of a grid, now and at its maximum; `extended` adds runs.

    Guarantee: for a pair that is (epsilon, delta)-private, `lower(alpha)` ever exceeds epsilon with probability at most
    alpha, at every stopping time, if each score is computed from earlier runs.

    >>> labels = np.array([True, False] * 200)
    >>> process = EProcess.fresh(0.0).extended(np.where(labels, 2.0, -2.0), labels)
    >>> process.runs, process.lower(0.05) > 1.5
    (400, True)
    """

    delta: float
    wealth: Array
    best: Array
    runs: int = 0

    @classmethod
    def fresh(cls, delta: float) -> "EProcess":
        """Return a process without runs: wealth 1."""
        return cls(delta=delta, wealth=np.zeros(len(LEVELS)), best=np.zeros(len(LEVELS)))

    def extended(self, scores: Array, labels: Array, looks: int = _LOOKS) -> "EProcess":
        """Return the process after further runs; its maximum is updated at `looks` points in between.

        Shape: `scores` (estimated log odds of the second neighbour) and `labels` are (runs,).
        Scores are rounded onto a grid; a rounded score depends on earlier runs only, as the score does.
        """
        gains = block_gains(scores, labels, self.delta, looks)
        paths = self.wealth + np.cumsum(gains, axis=0)
        return replace(
            self,
            wealth=paths[-1],
            best=np.maximum(self.best, paths.max(axis=0)),
            runs=self.runs + len(labels),
        )

    def lower(self, significance: float) -> float:
        """Return the lower bound on epsilon at `delta`."""
        return lowest_survivor(self.best, significance)


def e_process_bound(scores: Array, labels: Array, delta: float, significance: float) -> LowerBound:
    """Return the anytime-valid bound after all runs in order; `scores` come from other or earlier runs.

    Guarantee: as for `EProcess`; no assumption on the mechanism.

    >>> labels = np.array([True, False] * 200)
    >>> e_process_bound(np.where(labels, 2.0, -2.0), labels, 0.0, 0.05).epsilon > 1.5
    True
    """
    process = EProcess.fresh(delta).extended(scores, labels)
    return LowerBound(name="e_process", epsilon=process.lower(significance), significance=significance)


def lowest_survivor(best: Array, significance: float) -> float:
    """Return the largest grid point such that it and all smaller ones once reached wealth 1 / significance, or 0."""
    surviving = np.flatnonzero(best < -math.log(significance))
    rejected = int(surviving[0]) if len(surviving) else len(LEVELS)
    return float(LEVELS[rejected - 1]) if rejected else 0.0


def block_gains(scores: Array, labels: Array, delta: float, blocks: int) -> Array:
    """Return the log wealth gained in each of `blocks` equal blocks; Shape: (blocks, grid).

    Edge cases: where runs are few, every run is a block.
    """
    size = np.abs(np.nan_to_num(scores, nan=0.0))
    level = np.searchsorted(_MIDDLES, size, side="right")
    right = (scores > 0) == labels
    if blocks > 1 and len(labels) <= 4 * blocks:
        each: Array = _table(delta)[2 * level + right]
        return each if len(labels) else np.zeros((1, len(LEVELS)))
    blocks = max(1, min(blocks, len(labels)))
    block = np.arange(len(labels)) * blocks // max(1, len(labels))
    cell = (block * len(LEVELS) + level) * 2 + right
    counts = np.bincount(cell, minlength=blocks * len(LEVELS) * 2).reshape(blocks, -1).astype(float)
    used = np.flatnonzero(counts.any(axis=0))
    return counts[:, used] @ _table(delta)[used]


def run_gains(scores: Array, labels: Array, epsilon: float, delta: float) -> Array:
    """Return the log wealth that each run gains against one `epsilon`. Shape: (runs,)."""
    signed = np.where(labels, scores, -scores)
    clipped = np.clip(signed, -epsilon, epsilon)
    return np.logaddexp(0, -clipped) - np.logaddexp(0, -signed) - math.log1p(delta * math.exp(-epsilon))


@lru_cache(maxsize=8)
def _table(delta: float) -> Array:
    """Return the gain of a wrong (even rows) and a right (odd rows) guess. Shape: (2 * levels, grid)."""
    size, epsilon = LEVELS[:, None], LEVELS[None, :]
    clipped = np.minimum(size, epsilon)
    price = np.log1p(delta * np.exp(-epsilon))
    wrong = np.logaddexp(0, clipped) - np.logaddexp(0, size) - price
    right = np.logaddexp(0, -clipped) - np.logaddexp(0, -size) - price
    return np.stack([wrong, right], axis=1).reshape(2 * len(LEVELS), len(LEVELS))
