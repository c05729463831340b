"""Gaussian noise on a Gram matrix and a target vector, released together under their joint sensitivity."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim, smallest_noise
from dpaudit.arguments import settled
from dpaudit.checks import FieldError, Size, settle, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array
from mechanisms.gaussian import Gaussian
from mechanisms.symmetric_gaussian import SymmetricGaussian

_LARGEST_RATIO = 1e150  # of two bounds over a deviation, or the reverse: its square is a float with all digits


@settled
class JointGaussian:
    """Releases sums of x x^T and of y x over records (x, y), with symmetric and with plain normal noise.

    Shape: an answer is (..., d, d + 1): the matrix, and the vector as its last column; see `joined` and `split`.
    Unit: `feature_bound` bounds the Euclidean norm of x, `target_bound` the absolute value of y; the matrix noise is
    (G + G^T) / 2 with entries of G of `matrix_stddev`, the vector noise has `vector_stddev`.
    Guarantee: mu^2 is the largest ||dM||_F^2 / matrix_stddev^2 + ||du||^2 / vector_stddev^2 that one record causes.
    With a = feature_bound, b = target_bound and t = min(1, b^2 matrix_stddev^2 / (2 a^2 vector_stddev^2)), it is
    2 a^4 (1 - t^2) / matrix_stddev^2 + 2 a^2 b^2 (1 + t) / vector_stddev^2 when a record is replaced, attained at
    full norms, angle of cosine -t and equal targets; and a^4 / matrix_stddev^2 + a^2 b^2 / vector_stddev^2 when one
    is added, removed or set to zero. With equal bounds and deviations the former is 4.5 a^4 / stddev^2, where composing
    the two parts by their own worst cases gives 6.
    Edge cases: bounds must be enforced by clipping. Rounded real noise, as for Gaussian noise on vectors.
    Raises: ValueError: a parameter outside 1e-140 to 1e140, noise that is 1e150 times smaller or larger than what a
        record may add, or unknown neighbours.
    Source: Balle and Wang (2018), Theorem 8.
    """

    name: ClassVar[str] = "joint_gaussian"
    item_axes: ClassVar[int] = 2

    matrix_stddev: Size
    vector_stddev: Size
    feature_bound: Size
    target_bound: Size
    neighbours: Neighbours

    def __post_init__(self) -> None:
        settle(self)
        for name, bound in (("matrix_stddev", self.feature_bound), ("vector_stddev", self.target_bound)):
            value, product = getattr(self, name), self.feature_bound * bound
            if not product <= _LARGEST_RATIO * value:
                raise FieldError(name, f"Expected {name}={value} to be at least the bounds' product / 1e150; raise it.")
            if not value <= _LARGEST_RATIO * product:
                raise FieldError(name, f"Expected {name}={value} to be at most the bounds' product * 1e150; lower it.")

    @classmethod
    def calibrated(cls, claim: Claim, *, feature_bound: float, target_bound: float) -> Self:
        """Return the smallest noise, equal on both parts, for which one release meets `claim`.

        Raises: UnsupportedError: delta is 0, which no Gaussian noise meets.
        """
        stddev = size("feature_bound", feature_bound) * max(feature_bound, size("target_bound", target_bound))
        unit = cls(
            matrix_stddev=stddev,
            vector_stddev=stddev,
            feature_bound=feature_bound,
            target_bound=target_bound,
            neighbours=claim.neighbours,
        )
        return unit.scaled(smallest_noise(unit, claim))

    @property
    def cosine(self) -> float:
        """The cosine of the angle between the features of the worst replaced pair, from -1 to 0."""
        ratio = min(2.0, self.target_bound * self.matrix_stddev / (self.feature_bound * self.vector_stddev))
        return -min(1.0, ratio**2 / 2)

    def loss(self) -> GaussianLoss:
        """Return the exact loss of one release of both parts."""
        matrix = (self.feature_bound**2 / self.matrix_stddev) ** 2
        vector = (self.feature_bound * self.target_bound / self.vector_stddev) ** 2
        if self.neighbours != "replace_one":  # a zeroed record adds nothing, as a removed one
            return GaussianLoss(mu=math.sqrt(matrix + vector))
        return GaussianLoss(mu=math.sqrt(2 * matrix * (1 - self.cosine**2) + 2 * vector * (1 - self.cosine)))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return both parts with noise. Shape: (..., d, d + 1) in and out.

        Raises: ValueError: another shape.
        """
        matrix, vector = split(np.asarray(value, dtype=np.float64))
        symmetric, plain = _parts(self.matrix_stddev, self.vector_stddev, self.neighbours)
        return joined(symmetric.release(matrix, rng), plain.release(vector, rng))

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the joint log density of each pair of matrix and vector. Shape: (...)."""
        matrices, vectors = zip(split(np.asarray(output)), split(np.asarray(value)), strict=True)
        symmetric, plain = _parts(self.matrix_stddev, self.vector_stddev, self.neighbours)
        return symmetric.log_density(*matrices) + plain.log_density(*vectors).sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise on both parts."""
        return replace(self, matrix_stddev=self.matrix_stddev * factor, vector_stddev=self.vector_stddev * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return the answers of two data sets of one record (or none), in two dimensions, as far apart as can be."""
        first = self.feature_bound * np.array([1.0, 0.0])
        second = self.feature_bound * np.array([self.cosine, math.sqrt(1 - self.cosine**2)])
        pair = tuple(joined(np.outer(x, x), self.target_bound * x) for x in (first, second))
        return pair[0], pair[1] if self.neighbours == "replace_one" else np.zeros((2, 3))


@lru_cache(maxsize=64)
def _parts(matrix_stddev: float, vector_stddev: float, neighbours: Neighbours) -> tuple[SymmetricGaussian, Gaussian]:
    """Return the noise of the matrix and of the vector; only their scales are used."""
    return (
        SymmetricGaussian(stddev=matrix_stddev, l2_sensitivity=1.0, neighbours=neighbours),
        Gaussian(stddev=vector_stddev, l2_sensitivity=1.0, neighbours=neighbours),
    )


def joined(matrix: Array, vector: Array) -> Array:
    """Return one answer (..., d, d + 1) made of a matrix (..., d, d) and a vector (..., d)."""
    return np.concatenate([matrix, np.asarray(vector)[..., None]], axis=-1)


def split(answer: Array) -> tuple[Array, Array]:
    """Return the matrix (..., d, d) and the vector (..., d) of an answer.

    Raises: ValueError: the last two axes are not d and d + 1.
    """
    if answer.ndim < 2 or answer.shape[-1] != answer.shape[-2] + 1:
        raise ValueError(f"Expected the last two axes to be d and d + 1, got shape {answer.shape}.")
    return answer[..., :-1], answer[..., -1]


EXAMPLES = (
    JointGaussian(matrix_stddev=4.0, vector_stddev=4.0, feature_bound=1.0, target_bound=1.0, neighbours="replace_one"),
    JointGaussian(matrix_stddev=3.0, vector_stddev=1.5, feature_bound=1.0, target_bound=1.0, neighbours="replace_one"),
    JointGaussian(matrix_stddev=2.0, vector_stddev=3.0, feature_bound=1.0, target_bound=2.0, neighbours="add_remove"),
)
