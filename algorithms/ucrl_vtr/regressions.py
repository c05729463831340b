"""The statistics of one regression, a Gram matrix and a target vector, and the noise of each calibration on them."""

import math
from dataclasses import dataclass, replace

from algorithms._linear_rl.l1_moves import l1_moves
from algorithms._linear_rl.settings import Symmetry
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import AdditiveMechanism
from mechanisms import Gaussian, JointGaussian, Laplace, SymmetricGaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """The statistics of one regression: sums of x x^T and of y x, ||x|| <= feature_bound and 0 <= y <= target_bound.

    `noises` holds (label, mechanism): one mechanism for the pair of matrix and vector, or one for the matrix and one
    for the vector. `step` counts from 0.
    """

    name: str
    step: int
    feature_bound: float
    target_bound: float
    noises: tuple[tuple[str, AdditiveMechanism], ...] = ()

    @property
    def joint(self) -> bool:
        """Whether one mechanism covers matrix and vector together."""
        return len(self.noises) == 1

    def squared_mu(self) -> float:
        """Return the mu^2 of one release of all parts, for Gaussian noise."""
        losses = [mechanism.loss() for _, mechanism in self.noises]
        return math.fsum(loss.mu**2 for loss in losses if isinstance(loss, GaussianLoss))

    def scaled(self, factor: float) -> "Regression":
        """Return the same statistics with `factor` times the noise."""
        return replace(self, noises=tuple((label, mechanism.scaled(factor)) for label, mechanism in self.noises))


def gaussian_noise(regression: Regression, stddev: float, symmetry: Symmetry) -> Regression:
    """Return the regression with Gaussian noise of `stddev` on all parts, under its exact sensitivities.

    With "half" both parts are one release whose joint sensitivity is known: mu^2 = 4.5 R^4 / stddev^2 for bounds R on
    features and targets. The other symmetries are two releases, of sensitivities sqrt(2) R^2 and 2 R^2.
    """
    x, y, name = regression.feature_bound, regression.target_bound, regression.name
    if symmetry == "half":
        joint = JointGaussian(
            matrix_stddev=stddev, vector_stddev=stddev, feature_bound=x, target_bound=y, neighbours="replace_one"
        )
        return replace(regression, noises=((name, joint),))
    return _two(regression, stddev, symmetry, matrix=math.sqrt(2) * x**2, vector=2 * x * y)


def printed_noise(regression: Regression, stddev: float, symmetry: Symmetry) -> Regression:
    """Return the regression with Gaussian noise of `stddev` and the sensitivities that the paper prints.

    2 R^2 for either part, by the triangle inequality. For the matrix that is sqrt(2) too many.
    """
    bound = 2 * regression.feature_bound * regression.target_bound
    return _two(regression, stddev, symmetry, matrix=bound, vector=bound)


def remarked_noise(regression: Regression, scale: float, dimension: int) -> Regression:
    """Return the regression with Laplace noise of `scale` on every entry of both parts, as the pure remarks have it.

    `l1_sensitivity` is what a pair of records attains in both parts together (see `l1_moves`); the remarks set the
    scale by 2 R^2 for either part, which is a Euclidean sensitivity.
    """
    x, y = regression.feature_bound, regression.target_bound
    laplace = Laplace(scale=scale, l1_sensitivity=_l1(dimension, x, y), neighbours="replace_one")
    return replace(regression, noises=((regression.name, laplace),))


def repaired_noise(regression: Regression, scale: float, dimension: int) -> Regression:
    """Return the regression with the Laplace noise that the pure remarks need: d / sqrt(2) and sqrt(d) times as much.

    The entrywise l1 sensitivities are at most sqrt(2) d R^2 and 2 sqrt(d) R^2, by Cauchy and Schwarz.
    """
    x, y, name = regression.feature_bound, regression.target_bound, regression.name
    matrix = Laplace(
        scale=scale * dimension / math.sqrt(2),
        l1_sensitivity=math.sqrt(2) * dimension * x**2,
        neighbours="replace_one",
    )
    vector = Laplace(
        scale=scale * math.sqrt(dimension), l1_sensitivity=2 * math.sqrt(dimension) * x * y, neighbours="replace_one"
    )
    return replace(regression, noises=((f"matrix of {name}", matrix), (f"vector of {name}", vector)))


def _l1(dimension: int, feature_bound: float, target_bound: float) -> float:
    """Return an l1 distance that one pair of records attains, matrix and vector together."""
    matrix, vector = l1_moves(dimension, feature_bound**2, feature_bound * target_bound)
    return feature_bound**2 * matrix + feature_bound * target_bound * vector


def _two(regression: Regression, stddev: float, symmetry: Symmetry, *, matrix: float, vector: float) -> Regression:
    """Return the regression with a noise for each of its two parts."""
    noisy_matrix = SymmetricGaussian(stddev=stddev, l2_sensitivity=matrix, neighbours="replace_one", symmetry=symmetry)
    noisy_vector = Gaussian(stddev=stddev, l2_sensitivity=vector, neighbours="replace_one")
    labels = f"matrix of {regression.name}", f"vector of {regression.name}"
    return replace(regression, noises=((labels[0], noisy_matrix), (labels[1], noisy_vector)))
