"""The crossing of the curve of a lattice with a delta: an epsilon on its safe side, for each way to round."""

import math

import numpy as np

from dpaudit.engines.verified.dominated import DOMINATED
from dpaudit.engines.verified.dominating import DOMINATING
from dpaudit.engines.verified.lattice import Lattice, floats, positions

_STEPS = (1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3)  # relative, from where floating point puts it


def epsilon_above(upper: Lattice, delta: float) -> float:
    """Return an epsilon at which the dominating lattice is at most `delta`, or infinity."""
    if DOMINATING.delta(upper, 0.0) <= delta:
        return 0.0
    near = max(_near(upper, delta), 0.0)
    for step in _STEPS:
        epsilon = near * (1 + step) + step * 1e-3
        if DOMINATING.delta(upper, epsilon) <= delta:
            return epsilon
    return math.inf


def epsilon_below(lower: Lattice, delta: float) -> float:
    """Return an epsilon at which the dominated lattice still exceeds `delta`, or 0."""
    if lower.infinite > delta * 2.0**lower.bits and DOMINATED.delta(lower, 1e308) > delta:
        return math.inf
    near = _near(lower, delta)
    for step in _STEPS:
        epsilon = near * (1 - step) - step * 1e-3
        if epsilon > 0 and DOMINATED.delta(lower, epsilon) > delta:
            return epsilon
    return 0.0


def _near(lattice: Lattice, delta: float) -> float:
    """Return in floating point where the lattice's curve crosses `delta`."""
    masses, losses = floats(lattice.masses, lattice.bits), positions(lattice)
    others = masses if lattice.others is None else floats(lattice.others, lattice.bits)
    low, high = min(0.0, float(losses[0])), max(float(losses[-1]), 0.0)
    goal = delta - math.ldexp(float(lattice.infinite), -lattice.bits)
    for _ in range(100):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        first = int(np.searchsorted(losses, middle - 1.0))
        gains = masses[first:] - others[first:] * np.exp(middle - losses[first:])
        if float(np.maximum(gains, 0.0).sum()) <= goal:
            high = middle
        else:
            low = middle
    return high
