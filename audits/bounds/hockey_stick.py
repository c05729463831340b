"""The witness bound on the hockey-stick divergence, by bets on phi(X) - e^epsilon phi(Y) - delta.

It detects leaks that raise delta rather than epsilon.

For any phi with values in [0, 1], a private mechanism has E phi(X) - e^epsilon E phi(Y) <= delta, X and Y outputs on
the two neighbours. One bettor plays against every claim at once: a predictable stake s, of which at most c e^-epsilon
is laid against the claim epsilon, multiplies the wealth by

    1 + min(s, c e^-epsilon) (phi(X) - e^epsilon phi(Y)) - s delta,      s <= c = 3/4 / (1 + delta)^2,

which stays positive and has mean at most 1 if the claim is true. The wealth decreases in epsilon for every data set,
and so does its maximum: the refuted claims are an interval from 0, found by bisection, and one significance covers all.
The stakes are those of Kelly (1956) against the largest claim that the past could refute.
"""

import math

import numpy as np

from audits.bounds.bisection import largest_refuted
from dpaudit.model.audit_result import LowerBound
from dpaudit.model.mechanism import Array

_LARGEST = 12.0
_STEPS = 14
_GROWTH = 1.3
_TOGETHER = 8


def witness_bound(first: Array, second: Array, delta: float, significance: float) -> LowerBound:
    """Return the lower bound on epsilon at `delta` that the witness's values on paired runs show.

    Shape: `first` and `second` hold phi on runs of the first and of the second neighbour, in [0, 1], in order; the
    surplus of the longer one is left out. phi must come from other or from earlier runs.
    Guarantee: anytime-valid, for every mechanism; wrong with probability at most `significance`.
    Source: Waudby-Smith and Ramdas (2024), betting confidence bounds, applied to the divergence of Balle and Wang.

    >>> rng = np.random.default_rng(0)
    >>> first, second = (rng.random(1000) < 0.25).astype(float), (rng.random(1000) < 0.75).astype(float)
    >>> 0.7 < witness_bound(first, second, 0.0, 0.05).epsilon < 1.1
    True
    """
    sides = [_Side(likely, unlikely) for likely, unlikely in _directions(first, second)]
    most = 0.75 / (1 + delta) ** 2
    stakes = [side.stakes(delta, most, significance) for side in sides]

    def refuted(epsilon: float) -> bool:
        laid = [np.minimum(stake, most * math.exp(-epsilon)) for stake in stakes]
        return any(
            side.wealth(share, math.exp(epsilon), stake * delta) >= math.log(2 / significance)
            for side, share, stake in zip(sides, laid, stakes, strict=True)
        )

    return LowerBound(name="witness", epsilon=largest_refuted(refuted, _LARGEST, _STEPS), significance=significance)


class _Side:
    """One direction: values that should be high and values that should be low, and where their stakes may change."""

    def __init__(self, likely: Array, unlikely: Array) -> None:
        pairs = min(len(likely), len(unlikely))
        self.likely, self.unlikely = np.asarray(likely[:pairs], float), np.asarray(unlikely[:pairs], float)
        starts = [0]
        while starts[-1] < pairs:
            starts.append(max(starts[-1] + 1, int(_GROWTH * starts[-1])))
        self.starts = np.array(starts[:-1] or [0])
        self.sizes = np.diff(np.append(self.starts, pairs))
        columns = (self.likely, self.unlikely, self.likely**2, self.unlikely**2, self.likely * self.unlikely)
        past = np.array([np.concatenate([[0.0], np.cumsum(column)])[self.starts] for column in columns])
        prior = np.array([0.5, 0.5, 0.5, 0.5, 0.25])[:, None]
        self.moments = (past + prior) / (self.starts + 1)
        self.seen = self.starts + 1.0

    def stakes(self, delta: float, most: float, significance: float) -> Array:
        """Return the stake of every pair, aimed at the largest epsilon that the pairs before it could refute."""
        high, low, high2, low2, _ = self.moments
        room = np.maximum(high - delta, 1e-9)
        variance = (high2 - high**2) / room**2 + (low2 - low**2) / low**2
        reach = math.sqrt(0.5 * math.log(2 / significance)) * np.sqrt(np.maximum(variance, 1e-12) / self.seen)
        aim = np.clip(np.log(room / low) - reach, 0.0, _LARGEST)
        return self._kelly(np.exp(aim), np.full(len(aim), delta), most * np.exp(-aim))

    def _kelly(self, factor: Array, delta: Array, most: Array) -> Array:
        """Return mean over mean square of phi(X) - factor phi(Y) - delta in the past, within [0, most], a pair."""
        high, low, high2, low2, both = self.moments
        plain = high - factor * low
        square = high2 - 2 * factor * both + factor**2 * low2 - 2 * delta * plain + delta**2
        return np.repeat(np.clip((plain - delta) / np.maximum(square, 1e-12), 0.0, most), self.sizes)

    def wealth(self, stake: Array, factor: float, price: Array) -> float:
        """Return the largest log wealth after any eighth pair and after the last."""
        growth = 1 + stake * (self.likely - factor * self.unlikely) - price
        whole = len(growth) // _TOGETHER * _TOGETHER
        blocks = np.append(growth[:whole].reshape(-1, _TOGETHER).prod(axis=1), growth[whole:].prod())
        return float(np.cumsum(np.log(blocks)).max(initial=0.0))


def _directions(first: Array, second: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return (likely, unlikely) for phi on the second neighbour, and for 1 - phi on the first."""
    return (second, first), (1 - np.asarray(first), 1 - np.asarray(second))
