"""Noisy prefix sums by tree aggregation, with a trace of the nodes that hold the first element."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit import Recorder
from dpaudit.model.mechanism import AdditiveMechanism, Array
from dpaudit.model.tape import tape_of
from mechanisms import TreeAggregation

CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""


@dataclass(slots=True, kw_only=True)
class TracedTree:
    """The noisy sums of a stream of at most `horizon` elements, fed one element at a time.

    The first element is in the most nodes: those that end at elements 1, 2, 4, and so on, each of which is a prefix
    of its own. These are the releases that the trace records under `label`.
    """

    label: str
    mechanism: AdditiveMechanism
    recorder: Recorder
    horizon: int
    _counter: Any = field(default=None, init=False)
    _sum: Any = field(default=0.0, init=False)

    def __call__(self, element: Array) -> Array:
        """Return the noisy sum of all elements so far. Shape: (n_runs, ...) in and out."""
        if self._counter is None:
            tree = TreeAggregation(horizon=self.horizon, leaf=self.mechanism)
            self._counter = tree.counter(element.shape, self.recorder.rng)
        released: Array = self._counter.step(element)
        self._sum = self._sum + element
        length = self._counter.length
        if length & (length - 1) == 0:
            self.recorder.record(self.label, self.mechanism, self._sum, released)
        tape = tape_of(self.recorder.rng)
        if tape is None:
            return released
        numbers, drawn = np.full(len(element), length), self._counter.noise
        return tape.enter((self.label,), self.mechanism, self._sum, released, element=numbers, drawn=drawn)
