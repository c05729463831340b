"""Lower bounds on the error of locally private linear regression, as numbers, each rounded down."""

import math

import numpy as np

from dpaudit.model.mechanism import Array

_BELOW = 1e-9
"""What rounding and quadrature may take, as a share."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
"""Gauss-Legendre nodes and weights of a piece: the integrand is analytic between its kinks."""

_SCALES = tuple(map(float, np.geomspace(0.5, 8.0, 200)))
"""The constants c of m = c n^(-1/3) that are tried."""


def least_squared_error(epsilon: float, users: float) -> float:
    """Return what every locally private estimator's mean squared error reaches on the worst law: order 1 / sqrt(users).

    With c = min(1 / (2 a), sqrt(users)) and total variation at most c a, for a the half of (e^epsilon - 1) times the
    root of min(4, e^(2 epsilon)): Eq. (13) bounds the sum of both divergences.
    Source: Li, Simchi-Levi and Wang (2024), Theorem 2.1.

    >>> round(least_squared_error(1.0, 1e4), 9)
    0.000363735
    """
    spread = math.expm1(epsilon) * math.sqrt(min(4.0, math.exp(2 * epsilon))) / 2
    share = min(1 / (2 * spread), math.sqrt(users))
    return share * (1 - share * spread) / (4 * math.sqrt(users)) * (1 - _BELOW)


def least_error_of_input_perturbation(alpha: float, users: float) -> float:
    """Return what every estimator from noisy records reaches in mean absolute error: order users^(-1/3) / alpha.

    A message is a feature in two dimensions and its answer, with Laplace noise of scale 1 / alpha on each number. Its
    epsilon is `epsilon_of_input_perturbation(alpha)`.
    Features are (1/2, +-m), answers 1/4, or 1/4 +- m/2 where the second weight is 1/2; m = c users^(-1/3) is at most
    sqrt(3)/2, and c the best of those tried.
    Source: Li, Simchi-Levi and Wang (2024), Theorem 2.2, with the exact distance of both laws of a message.

    >>> round(least_error_of_input_perturbation(1.0, 1e6) * 100, 3)
    0.367
    """
    best = 0.0
    # sup MAD >= m / 4 (1 - sqrt(1 - affinity^(2 n))), the affinity of n messages being the product of theirs
    for scale in _SCALES:
        size = scale / alpha * users ** (-1 / 3)
        if size <= math.sqrt(3) / 2:
            apart = squared_hellinger(alpha * size)
            alike = math.exp(2 * users * math.log1p(-apart)) if apart < 1 else 0.0
            best = max(best, size / 4 * (1 - math.sqrt(max(0.0, 1 - alike))))
    return best * (1 - _BELOW)


def epsilon_of_input_perturbation(alpha: float) -> float:
    """Return the epsilon of a message that has Laplace noise of scale 1 / alpha on each of its three numbers.

    Replacing a record moves the feature, of norm 1 and in two dimensions, by 2 sqrt(2) in the sum of absolute values,
    and a reward in [-1, 1] by 2.
    """
    return math.nextafter((2 * math.sqrt(2) + 2) * alpha, math.inf)


def squared_hellinger(size: float) -> float:
    """Return 1 minus the affinity of both laws of (second feature, answer); noise of scale 1, features at +-size.

    It is size^3 / 192 for small sizes. The integrand has kinks at +-size, 0 and +-size / 2, where the quadrature is
    split; beyond the outermost ones it is a product of exponentials, and its integral is exact.
    """
    x, x_weights = _pieces(size)
    y, y_weights = _pieces(size / 2)
    x, y = x[:, None], y[None, :]
    near, far = np.exp(-np.abs(x - size)), np.exp(-np.abs(x + size))
    centre = np.exp(-np.abs(y))
    above, below = np.exp(-np.abs(y - size / 2)), np.exp(-np.abs(y + size / 2))
    # the difference of the laws term by term, so that nothing cancels where both are almost the same
    difference = near * centre * np.expm1(np.abs(y) - np.abs(y - size / 2))
    difference = difference + far * centre * np.expm1(np.abs(y) - np.abs(y + size / 2))
    both = np.sqrt((near + far) * centre) + np.sqrt(near * above + far * below)
    # a law is its sum over 8, by two densities of 1/2 and a mixture of two; half of the integral of (p - q)^2 / (..)^2
    return float(min(x_weights @ (difference / both) ** 2 @ y_weights / 16, 1.0))


def _pieces(end: float) -> tuple[Array, Array]:
    """Return places and weights of an integral over the line, with kinks at 0 and +-end and e^-|x| beyond them."""
    right, half = (_NODES + 1) / 2 * end, _WEIGHTS / 2 * end
    return np.concatenate([[-end], -right, right, [end]]), np.concatenate([[1.0], half, half, [1.0]])
