"""Largest known l1 distances by which one record moves a Gram matrix and a target vector; Laplace noise needs them.

Euclidean sensitivities do not answer this. For unit features the matrix moves by up to sqrt(2) d in l1 norm, and by
sqrt(2) in Frobenius norm; the vector by 2 sqrt(d), and by 2.
"""

import math

import numpy as np

from dpaudit.model.mechanism import Array

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
