"""Numbers that the calibrations use: the exact mu of a claim, nodes of a tree, deviations of noise, and l1 distances.

Euclidean sensitivities do not answer how far one record moves a Gram matrix and a target vector in l1 norm, which
Laplace noise needs. For unit features the matrix moves by up to sqrt(2) d in l1 norm, and by sqrt(2) in Frobenius norm;
the vector by 2 sqrt(d), and by 2.
"""

import math

import numpy as np

from dpaudit import Claim, Mechanism
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian, JointGaussian, Laplace, SymmetricGaussian

SAFETY = 1 + 1e-9
"""Relative margin above the exact scale, so that rounding in the sum of losses does not exceed the claim."""


def nodes_printed(horizon: int) -> int:
    """Return the number of nodes that the paper lets a prefix use: ceil(log2(horizon) + 1) (Appendix F.4).

    >>> nodes_printed(1000), nodes_printed(1024)
    (11, 11)
    """
    return (horizon - 1).bit_length() + 1


def exact_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu for which N(mu, 1) against N(0, 1) is (epsilon, delta)-private.

    >>> round(exact_mu(1.0, 1e-5), 6)
    0.268051
    """
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    return 1 / float(Gaussian.calibrated(claim, l2_sensitivity=1.0).stddev)


def matrix_spread(mechanism: Mechanism) -> float:
    """Return sqrt(2) times the deviation off the diagonal, which decides the operator norm.

    Raises: ValueError: a mechanism that puts no noise on a matrix.
    """
    match mechanism:
        case JointGaussian(matrix_stddev=stddev):
            return float(stddev)
        case SymmetricGaussian(deviations=(_, off)):
            return math.sqrt(2) * float(off)
        case Laplace(scale=scale):
            return math.sqrt(2) * float(scale)
        case _:
            raise ValueError(f"Expected noise on a matrix, got {mechanism!r}.")


def vector_spread(mechanism: Mechanism) -> float:
    """Return the deviation of each entry of the vector.

    Raises: ValueError: a mechanism that puts no noise on a vector.
    """
    match mechanism:
        case JointGaussian(vector_stddev=stddev) | Gaussian(stddev=stddev):
            return float(stddev)
        case Laplace(scale=scale):
            return math.sqrt(2) * float(scale)
        case _:
            raise ValueError(f"Expected noise on a vector, got {mechanism!r}.")


_ANGLES = 181


def l1_moves(dimension: int, matrix_weight: float, vector_weight: float) -> tuple[float, float]:
    """Return (matrix, vector): l1 distances that one pair of records with unit features and equal unit targets attains.

    The pair is the best found for matrix_weight * matrix + vector_weight * vector, so what it shows is attained; that
    no pair does better is not claimed. It is the best for the matrix alone and, in even dimension, for the vector.
    """
    pairs = (*_block_pairs(dimension), *_turned_pairs(dimension))
    moves = [(_matrix_move(x, z), float(np.abs(x - z).sum())) for x, z in pairs]
    return max(moves, key=lambda move: matrix_weight * move[0] + vector_weight * move[1])


def _matrix_move(x: Array, z: Array) -> float:
    """Return ||x x^T - z z^T|| in l1 norm."""
    return float(np.abs(np.outer(x, x) - np.outer(z, z)).sum())


def _block_pairs(dimension: int) -> tuple[tuple[Array, Array], ...]:
    """Return the extreme eigenvectors of a sign matrix, with either sign of the second.

    Its entries are +1 where i, j <= a, -1 where i, j > a, and +1 elsewhere; its eigenvectors are constant on the two
    blocks, and the largest eigenvalue less the smallest is the l1 distance of their outer products.
    """
    a = (dimension + 1) // 2
    b = dimension - a
    if b == 0:
        return ((np.ones(1), -np.ones(1)),)
    angle = math.atan2(2 * math.sqrt(a * b), dimension) / 2
    first = np.repeat([math.cos(angle) / math.sqrt(a), math.sin(angle) / math.sqrt(b)], [a, b])
    second = np.repeat([-math.sin(angle) / math.sqrt(a), math.cos(angle) / math.sqrt(b)], [a, b])
    return (first, second), (first, -second)


def _turned_pairs(dimension: int) -> tuple[tuple[Array, Array], ...]:
    """Return the vector of equal entries with its opposite, turned by angles up to a right one."""
    level = np.full(dimension, dimension**-0.5)
    across = np.where(np.arange(dimension) % 2 == 0, 1.0, -1.0)[: dimension - dimension % 2]
    across = np.concatenate([across, np.zeros(dimension % 2)])
    across = across / max(float(np.linalg.norm(across)), 1.0)
    if dimension == 1:
        return ((level, -level),)
    angles = np.linspace(0, math.pi / 2, _ANGLES)
    return tuple((level, -(math.cos(t) * level + math.sin(t) * across)) for t in angles)
