"""The symmetric loss whose curve connects given heights by straight lines."""

import math

import numpy as np

from dpaudit.engines.transform import Floats
from dpaudit.model.losses import DiscreteLoss


def connected(x: Floats, heights: Floats) -> DiscreteLoss:
    """Return the symmetric loss whose curve connects `heights` at the knots `x` = e^epsilon, which begin with 1.

    The curve is the largest convex one through or below the heights; a convex curve that lies nowhere above them lies
    nowhere above it. Symmetry, h(1/x) = 1 - 1/x + h(x)/x, gives the knots below 1. The last height is mass at infinity.
    Heights that are no more than rounding above the curve must be raised by the caller.

    >>> loss = connected(np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    >>> round(loss.hockey_stick(math.log(2)), 12)
    0.25
    """
    mirrored = 1 / x[:0:-1]
    places = np.concatenate([[0.0], mirrored, x])
    curve = np.concatenate([[1.0], 1 - mirrored + mirrored * heights[:0:-1], heights])
    corners = convex_corners(places, curve)
    points, curve = places[corners], curve[corners]
    slopes = np.append(np.diff(curve) / np.diff(points), 0.0)
    masses, points = np.maximum(np.diff(slopes), 0.0) * points[1:], points[1:]
    return _symmetric(np.log(points[points > 1]), masses[points > 1], float(heights[-1]))


def convex_corners(x: Floats, h: Floats) -> list[int]:
    """Return which points are corners of the lower convex hull: a convex curve below the points lies below it too.

    >>> convex_corners(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.0]))
    [0, 2]
    """
    corners: list[int] = []
    for i in range(len(x)):
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if (h[b] - h[a]) * (x[i] - x[b]) < (h[i] - h[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return corners


def _symmetric(losses: Floats, masses: Floats, lost: float) -> DiscreteLoss:
    """Return the symmetric law with these masses at positive losses: of P at l, so of Q at -l; the rest is at 0.

    The curve at epsilon of 0 or more depends on these masses alone, so that rounding of the others does not enter it.
    """
    mirrored = masses * np.exp(-losses)
    total = max(1.0, lost + math.fsum((*masses, *mirrored)))
    probabilities = np.concatenate([mirrored[::-1], masses]) / total
    places = np.concatenate([-losses[::-1], losses])
    zero_mass = max(0.0, 1 - lost - math.fsum(probabilities))
    atoms = ((0.0, zero_mass), *zip(places.tolist(), probabilities.tolist(), strict=True))
    return DiscreteLoss(atoms=atoms, infinite_mass=lost, reverse_infinite_mass=lost, symmetric=True)
