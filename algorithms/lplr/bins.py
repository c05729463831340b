"""The tree of bins, walked by all atoms of all runs at once: the bin of each atom, and the rest of its vector.

An atom is a context with an action, so a feature vector that many users share. A bin of layer h is a bin of layer
h - 1 with the index of the norm that is left; only bins that hold an atom are followed, as all others hold noise
that no prediction reads.
"""

from dataclasses import dataclass

import numpy as np

from algorithms.lplr.schedule import Resolution
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk:
    """Where every atom stands before a layer.

    Shape: R runs, A actions, K contexts, dimension d, h layers walked: `vectors` (R, A, K, d), what is left of the
    features; `path` (R, A, K, d, h), the directions taken out, orthonormal; `prediction`, `half_width` and `alive`
    (R, A, K); `together` (R, A, K, K), whether two atoms have shared every bin so far.
    """

    vectors: Array
    path: Array
    prediction: Array
    half_width: Array
    alive: Array
    together: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """The bins of one layer.

    Shape: `key` and `inside`, whether an atom has a cell, (R, A, K); `scaled` (R, A, K, d), vectors times gamma^key;
    `together` (R, A, K, K), whether two atoms share the bin; `first` (R, A, K), the first atom of an atom's bin.
    """

    key: Array
    inside: Array
    scaled: Array
    together: Array
    first: Array

    def sums(self, values: Array) -> Array:
        """Return each bin's sum of `values`, (R, A, K, ...), at every atom of the bin."""
        flat = values.reshape(*self.key.shape, -1)
        return (self.together.astype(np.float64) @ flat).reshape(values.shape)

    def shared(self, values: Array) -> Array:
        """Return the value of the first atom of each bin, at every atom of the bin."""
        index = self.first.reshape(*self.first.shape, *([1] * (values.ndim - 3)))
        return np.take_along_axis(values, np.broadcast_to(index, values.shape), axis=2)


def start(features: Array, n_runs: int) -> Walk:
    """Return the walk at the root. Shape: features (A, K, d)."""
    actions, atoms, dimension = features.shape
    cells = (n_runs, actions, atoms)
    return Walk(
        vectors=np.broadcast_to(features, (*cells, dimension)),
        path=np.zeros((*cells, dimension, 0)),
        prediction=np.zeros(cells),
        half_width=np.zeros(cells),
        alive=np.ones(cells, dtype=bool),
        together=np.ones((*cells, atoms), dtype=bool),
    )


def keys(norms: Array, resolution: Resolution) -> Array:
    """Return the largest k in 0..depth with norm <= gamma^-k, by comparison; a vector of 0 has depth.

    Source: Figure 2.
    """
    limits = np.array([resolution.width(k) for k in range(1, resolution.depth + 1)])
    return (norms[..., None] <= limits).sum(axis=-1)


def bins_of(walk: Walk, resolution: Resolution) -> Bins:
    """Return the bins of the next layer."""
    key = keys(np.linalg.norm(walk.vectors, axis=-1), resolution)
    inside = walk.alive & (key < resolution.depth)
    scaled = walk.vectors * (resolution.gamma**key)[..., None]
    scaled = scaled / np.maximum(1.0, np.linalg.norm(scaled, axis=-1, keepdims=True))
    together = walk.together & inside[..., :, None] & inside[..., None, :]
    together = together & (key[..., :, None] == key[..., None, :])
    first = together.argmax(axis=-1)
    return Bins(key=key, inside=inside, scaled=scaled, together=together, first=first)
