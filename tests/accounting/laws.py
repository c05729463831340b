"""Laws of outputs that tests write out, and what an adversary gains between two of them."""

import math
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Law = NDArray[np.float64]


def one_way(first: Law, second: Law, epsilon: float) -> float:
    """Return the sum of (P - e^epsilon Q)_+."""
    return math.fsum(np.maximum(first - math.exp(epsilon) * second, 0.0).ravel().tolist())


def delta_of(first: Law, second: Law, epsilon: float) -> float:
    """Return the larger sum of both orders of the neighbours."""
    return max(one_way(first, second, epsilon), one_way(second, first, epsilon))


def together(laws: Iterable[Law]) -> Law:
    """Return the law of independent outputs."""
    return reduce(lambda one, two: np.asarray(np.outer(one, two).ravel(), np.float64), laws, np.ones(1))


def moved(noise: Any) -> int:
    """Return how far a record moves the answer of integer noise."""
    return int(getattr(noise, "l1_sensitivity", 0) or noise.l2_sensitivity)


def law_of(noise: Any, answer: int, reach: int) -> Law:
    """Return the probabilities of all outputs from -reach to reach, by the density of the mechanism."""
    return np.asarray(np.exp(noise.log_density(np.arange(-reach, reach + 1), np.asarray(answer))), np.float64)
