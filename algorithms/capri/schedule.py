"""The schedule of epochs, each twice as long as the last; it depends on the horizon alone."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One epoch: rounds `start` to `stop` - 1, counted from 0; `complete` unless the horizon cut it short."""

    number: int
    start: int
    stop: int
    complete: bool

    @property
    def length(self) -> int:
        """The number of rounds, which is also the number of users who arrive."""
        return self.stop - self.start


def epochs_of(horizon: int) -> tuple[Epoch, ...]:
    """Return the epochs of `horizon` rounds: the first of ceil(sqrt(horizon)), each next twice as long.

    Source: Algorithm 1, lines 2 and 20.

    >>> [epoch.length for epoch in epochs_of(1000)]
    [32, 64, 128, 256, 512, 8]
    """
    epochs: list[Epoch] = []
    start, length = 0, math.isqrt(horizon - 1) + 1  # line 2
    while start < horizon:
        stop = min(start + length, horizon)
        epochs.append(Epoch(number=len(epochs) + 1, start=start, stop=stop, complete=stop == start + length))
        start, length = stop, 2 * length  # line 20
    return tuple(epochs)


def completed(horizon: int) -> int:
    """Return how many epochs reach their full length, each of which ends in one release in the joint model."""
    return sum(epoch.complete for epoch in epochs_of(horizon))
