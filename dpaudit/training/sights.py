"""What was seen in a sampler's draws, and how probable so strange a sight is."""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc

from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One thing that was looked at: how probable so strange a sight is under the declared law, and the sight in words.

    >>> Sight(name="sizes", probability=0.3, says="Batches have the declared sizes.").name
    'sizes'
    """

    name: str
    probability: float
    says: str


def any_of(probability: float, looks: int) -> float:
    """Return a bound on the probability that any of so many looks shows something so improbable."""
    return min(1.0, probability * looks)


def binomial_tails(seen: Array, trials: Array | int, share: Array | float) -> Array:
    """Return the smaller tail of a binomial count, at what was seen; at share 1 everything is drawn."""
    number = np.asarray(trials, dtype=np.int64)
    k, n, p = np.broadcast_arrays(np.asarray(seen, dtype=np.float64), number, np.clip(share, 0.0, 1.0))
    below = np.where(p >= 1, np.where(k < n, 0.0, 1.0), bdtr(k, n, np.minimum(p, 1 - 1e-16)))
    above = np.where(k <= 0, 1.0, bdtrc(np.maximum(k - 1, 0), n, p))
    tails: Array = np.minimum(below, above)
    return tails
