"""The rows of a strategy matrix for streams, written apart from the mechanism that releases them."""

from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array


def rows_of(mechanism: Any, value: Array) -> Array:
    """Return what a matrix mechanism adds its noise to. Shape: (rows, elements) in, (rows, outputs) out."""
    streams, horizon = np.asarray(value, np.float64), int(mechanism.horizon)
    whole = np.pad(streams, [(0, 0)] * (streams.ndim - 1) + [(0, horizon - streams.shape[-1])])
    if mechanism.strategy == "full_tree":
        blocks = [
            whole[..., end - size : end].sum(axis=-1)
            for end in range(1, horizon + 1)
            for size in (1 << level for level in range(horizon.bit_length()))
            if end % size == 0
        ]
        return np.stack(blocks, axis=-1)
    if mechanism.strategy == "explicit":
        return np.asarray(np.einsum("ij,...j->...i", np.reshape(mechanism.entries, (horizon, horizon)), whole))
    first = mechanism.entries or np.cumprod([1.0, *(1 - 0.5 / np.arange(1, horizon))])
    total = np.zeros_like(whole)
    for i, c in enumerate(first):
        total = total + c * np.pad(whole, _late(whole.ndim, i))[..., :horizon]
    return total


def _late(axes: int, places: int) -> list[tuple[int, int]]:
    """Return the padding that moves a stream by some places in time."""
    return [(0, 0)] * (axes - 1) + [(places, 0)]
