"""Standard deviations of declared noise on matrices and vectors, from which shifts and radii follow."""

import math

from dpaudit import Mechanism
from mechanisms import Gaussian, JointGaussian, Laplace, SymmetricGaussian


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
