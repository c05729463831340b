"""Trees whose streams grow while they are read: one run in blocks, or many counters with clocks of their own.

Both keep the Fenwick form: the noise of the n-th prefix sum is that of the prefix without its last block, drawn
before, plus one fresh node. A node's noise is drawn once; reading again returns the same number.
"""

from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

_REMEMBERED = 8


class TreePath:
    """The noise of one run's prefix sums: drawn ahead in blocks, kept as far as the stream really went.

    Memory: horizon + 1 numbers.
    """

    def __init__(self, *, leaf: Any, horizon: int, rng: np.random.Generator) -> None:
        self.leaf, self.horizon, self.rng, self.clock = leaf, horizon, rng, 0
        self._path = np.zeros(horizon + 1)

    def ahead(self, length: int) -> Array:
        """Return the noise of the next `length` prefix sums, without moving the clock.

        Calling it again before `advance` draws those nodes anew; nothing that was drawn and not kept is ever read.
        Raises: ValueError: more elements than the capacity.
        """
        first, last = self.clock + 1, self.clock + length
        if last > self.horizon:
            raise ValueError(f"Expected at most horizon={self.horizon} elements; the stream would have {last}.")
        path = self._path
        path[first : last + 1] = self.leaf.release(np.zeros(length, dtype=np.int64), self.rng)
        for level in reversed(range(last.bit_length())):
            step = 1 << level
            start = first + (step - first) % (2 * step)
            path[start : last + 1 : 2 * step] += path[start - step : last + 1 - step : 2 * step]
        return path[first : last + 1]

    def advance(self, length: int) -> None:
        """Keep the next `length` nodes as drawn: the stream has so many more elements."""
        self.clock += length

    def first_noise(self) -> Array:
        """Return the noise of the first few prefix sums, which tells this tree's noise from any other."""
        return self._path[1 : 1 + min(self.clock, _REMEMBERED)].copy()


class TreeBank:
    """Many trees in lock-step, each with its own clock and sum. Memory: (levels + 3) numbers a counter."""

    def __init__(self, *, leaf: Any, horizon: int, n_counters: int, rng: np.random.Generator) -> None:
        self.leaf, self.horizon, self.n_counters, self.rng = leaf, horizon, n_counters, rng
        self.clocks, self.sums = np.zeros(n_counters, dtype=np.int64), np.zeros(n_counters)
        self._carried = np.zeros((horizon.bit_length() + 1, n_counters))

    def push(self, counters: Array, elements: Array) -> Array:
        """Return the noisy sums of `counters` (distinct places) after one more element each.

        Raises: ValueError: a counter is full.
        """
        clock = self.clocks[counters] + 1
        if clock.size and clock.max() > self.horizon:
            raise ValueError(f"Expected at most horizon={self.horizon} elements; a counter is full.")
        self.clocks[counters] = clock
        parent = clock & (clock - 1)
        flat = self._carried.ravel()
        fresh = self.leaf.release(np.zeros(clock.shape, dtype=np.int64), self.rng)
        noise = flat[_slot(parent) * self.n_counters + counters] + fresh
        flat[_slot(clock) * self.n_counters + counters] = noise
        total = self.sums[counters] + elements
        self.sums[counters] = total
        return total + noise

    def keep(self, counters: Array) -> None:
        """Forget all but `counters`, in that order: for runs that are over."""
        self.clocks, self.sums = self.clocks[counters], self.sums[counters]
        self._carried = np.ascontiguousarray(self._carried[:, counters])
        self.n_counters = len(counters)


def _slot(clock: Array) -> Array:
    """Return 1 + the place of the lowest bit of each clock, and 0 for clock 0, whose noise is none."""
    low = clock & -clock
    return np.where(low == 0, 0, np.bitwise_count(low - 1) + 1).astype(np.int64)
