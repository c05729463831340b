"""The schedule of epochs, each twice as long as the last; it depends on the horizon alone."""

import math

from algorithms._growth import Epoch, doubling_epochs


def epochs_of(horizon: int) -> tuple[Epoch, ...]:
    """Return the epochs of `horizon` rounds: the first of ceil(sqrt(horizon)), each next twice as long.

    Source: Algorithm 1, lines 2 and 20.

    >>> [epoch.length for epoch in epochs_of(1000)]
    [32, 64, 128, 256, 512, 8]
    """
    return doubling_epochs(horizon, math.isqrt(horizon - 1) + 1)


def completed(horizon: int) -> int:
    """Return how many epochs reach their full length, each of which ends in one release in the joint model."""
    return sum(epoch.complete for epoch in epochs_of(horizon))
