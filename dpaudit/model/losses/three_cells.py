"""The three laws of Gaussian and Laplace noise, cut into cells of outputs: above them and below them.

Over a cell the point (dP+/dP0, dP-/dP0) runs along an arc: for Gaussian noise on a hyperbola, inside the triangle of
its ends and of the point where its tangents meet; for Laplace noise on a line. Above, each point is shared between the
corners, a spread that keeps all three masses; below, all of a cell is one output.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss
from dpaudit.model.losses.three_laws import ThreeLaws

Floats: TypeAlias = NDArray[np.float64]
_FAR = 13.0  # deviations beyond the last shift, where what is left counts as infinite loss
_BEYOND = 2e-38  # more than what lies there, on both sides
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def noise_laws(loss: GaussianLoss | LaplaceLoss, cells: int, *, above: bool) -> ThreeLaws:
    """Return laws that lie above those of a noise with this loss against no record, or below them.

    >>> high, low = (noise_laws(LaplaceLoss(shift=1.0), 100, above=side) for side in (True, False))
    >>> [round(float((laws.masses * np.exp(laws.more)).sum()), 12) for laws in (high, low)]
    [1.0, 1.0]
    """
    if isinstance(loss, LaplaceLoss):
        return _laplace(loss.shift, max(2, cells // 2), above=above)
    return _gaussian(loss.mu, cells, above=above)


def _gaussian(mu: float, cells: int, *, above: bool) -> ThreeLaws:
    """Return cells of N(0, 1), N(mu, 1) and N(-mu, 1)."""
    ends = np.linspace(-_FAR - mu, _FAR + mu, cells + 1)
    z, weights = _inside(ends)
    step = mu * (ends[1] - ends[0])
    masses = weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    if not above:
        sums = [(masses * np.exp(m * z - m * m / 2)).sum(axis=1) for m in (0.0, mu, -mu)]
        return _cells(*sums, left_out=0.0)
    along = mu * (z - ends[:-1, None])  # from 0 to `step`
    low, high = np.expm1(along), np.expm1(step - along)
    square = math.expm1(step) ** 2
    left, right = high * high * np.exp(2 * along), low * low * math.exp(step)
    top = low * high * np.exp(along) * (math.exp(step) + 1)
    sums = [(masses * part * np.exp(-along)).sum(axis=1) / square for part in (left, right, top)]
    at = mu * ends[:-1] - mu * mu / 2
    between = math.log(2) + step - math.log1p(math.exp(step))
    more = np.concatenate([at, at + step, at + between])
    less = np.concatenate([-at - mu * mu, -at - step - mu * mu, -at - step + between - mu * mu])
    return ThreeLaws(masses=np.concatenate(sums), more=more, less=less, left_out=_BEYOND)


def _laplace(shift: float, cells: int, *, above: bool) -> ThreeLaws:
    """Return cells of Laplace noise and of the same moved either way: two outer outputs, and two lines between."""
    ends = np.linspace(0.0, shift, cells + 1)
    z, weights = _inside(ends)
    masses = weights * np.exp(-z) / 2
    if above:
        along, step = 2 * (z - ends[:-1, None]), 2 * shift / cells
        part = masses * np.expm1(along) / math.expm1(step)
        sums = [(masses - part).sum(axis=1), part.sum(axis=1)]
        inner, away = np.concatenate(sums), np.concatenate([2 * ends[:-1], 2 * ends[1:]]) - shift
    else:
        inner = masses.sum(axis=1)
        away = np.log((masses * np.exp(2 * z - shift)).sum(axis=1) / inner)
    inner, away = np.append(inner, math.exp(-shift) / 2), np.append(away, shift)
    still = np.full(len(away), -shift)
    return ThreeLaws(
        masses=np.concatenate([inner, inner]),
        more=np.concatenate([away, still]),
        less=np.concatenate([still, away]),
    )


def _inside(ends: Floats) -> tuple[Floats, Floats]:
    """Return places inside each cell and their weights: sums over them are integrals, up to rounding.

    Shape: (cells, places).
    """
    half = np.diff(ends)[:, None] / 2
    return np.asarray(ends[:-1, None] + half * (1 + _PLACES)), np.asarray(half * _WEIGHTS)


def _cells(masses: Floats, more: Floats, less: Floats, *, left_out: float) -> ThreeLaws:
    """Return cells as outputs, by their masses under the three laws."""
    return ThreeLaws(masses=masses, more=np.log(more / masses), less=np.log(less / masses), left_out=left_out)
