"""A replaced record at a secret step: what a removed one and an added one cost together, by the best split."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from dpaudit.verifier.losses import Loss, reverse
from dpaudit.verifier.pairs import pair, plain
from dpaudit.verifier.polygons import fallen, listed, symmetric

_KNOTS, _FAR, _FURTHEST, _RARE, _RAREST = 800, 100, 600.0, 1e-11, 1e-30
LEAST, MOST, LONGEST = 0.01, 8.0, 10**5
"""The moves and the number of steps for which the split is computed; beyond, steps count as known."""


@cache
def split(mu: float, steps: int) -> Loss:
    """Return what is above the curve min over y of [removed(y) + y added(x / y)], and what the sum of answers shows.

    No split exceeds two records at known steps.
    """
    removed: Loss = ("allocated", ((("gaussian", mu), 1),), steps, "remove")
    at_known_steps: Loss = ("gaussian", 2 * mu)

    removed_curve, added_curve = _above(removed), _above(reverse(removed))

    def apart(at: float) -> float:
        return min(1.0, plain(at_known_steps, at)[1])

    last = fallen(apart, _FURTHEST, _RAREST)
    end = min(last, fallen(removed_curve, _FURTHEST, _RARE) + fallen(added_curve, _FURTHEST, _RARE))
    near = np.linspace(0.0, end, _KNOTS)
    costs = [np.array([curve(float(at)) for at in near]) for curve in (removed_curve, added_curve)]
    both = [float((costs[0][: j + 1] + np.exp(near[: j + 1]) * costs[1][j::-1]).min()) for j in range(_KNOTS)]
    knots = [*near.tolist(), *(np.linspace(end, last, _FAR)[1:].tolist() if last > end else [])]
    heights = [min(apart(at), both[j] if j < _KNOTS else 1.0) for j, at in enumerate(knots)]
    upper_loss = listed(*symmetric(np.array(knots), heights))
    return ("between", upper_loss, ("gaussian", 2 * mu / math.sqrt(steps) * (1 - 2.0**-50)))


def _above(loss: Loss) -> Callable[[float], float]:
    """Return the curve of a loss from above, by fine atoms: sums over all atoms beyond an epsilon."""
    atoms = pair(loss, 2**16)
    order = np.argsort(-atoms.at)
    at, masses = atoms.at[order], atoms.masses[order]
    p, q = (np.append(0.0, np.cumsum(row)) for row in (masses, masses * np.exp(-at)))

    def curve(epsilon: float) -> float:
        n = int(np.searchsorted(-at, -epsilon))
        return float(min(1.0, (p[n] - math.exp(epsilon) * q[n]) + 1e-13 * p[n] + atoms.lost + 1e-300))

    return curve
