"""Noise on matrices: stated losses against every direction, Wishart facts against samples and quadrature."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dpaudit import Release, UnsupportedError, bracket_delta, bracket_epsilon, fold
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Array
from mechanisms import JointGaussian, Laplace, OneSidedWishart, SymmetricGaussian, SymmetrisedWishart
from mechanisms.joint_gaussian import joined
from mechanisms.one_sided_wishart import EXAMPLES as ONE_SIDED
from mechanisms.symmetric_gaussian import Symmetry

FALSE_ALARM = 1e-7


def squared_mu(mechanism: SymmetricGaussian | JointGaussian, first: Array, second: Array) -> float:
    """Return mu^2 of a Gaussian mechanism between two answers: twice its log likelihood ratio at the first."""
    return 2 * float(mechanism.log_density(first, first) - mechanism.log_density(first, second))


def random_symmetric(rng: np.random.Generator, dimension: int) -> Array:
    """Return a symmetric matrix of Frobenius norm 1, sparse or dense."""
    entries = rng.standard_normal((dimension, dimension)) * (rng.random((dimension, dimension)) < rng.random())
    matrix = np.triu(entries) + np.triu(entries, 1).T + 1e-9 * np.eye(dimension)
    return matrix / np.linalg.norm(matrix)


@pytest.mark.parametrize(("symmetry", "expected"), [("half", 1.0), ("mirror", 1.0), ("sqrt2", 0.5)])
def test_no_symmetric_direction_costs_more_than_the_stated_mu_and_the_worst_pair_costs_it(
    symmetry: Symmetry, expected: float
) -> None:
    mechanism = SymmetricGaussian(stddev=3.0, l2_sensitivity=3.0, neighbours="replace_one", symmetry=symmetry)
    assert mechanism.loss().mu ** 2 == pytest.approx(expected)
    assert squared_mu(mechanism, *mechanism.worst_pair()) == pytest.approx(expected)
    rng = np.random.default_rng(1)
    costs = [
        squared_mu(mechanism, 3 * random_symmetric(rng, d), np.zeros((d, d))) for d in (1, 2, 5) for _ in range(99)
    ]
    assert max(costs) <= expected * (1 + 1e-12)
    if symmetry != "mirror":
        assert min(costs) == pytest.approx(expected)


def test_symmetric_noise_has_the_stated_variances_is_symmetric_and_never_reads_the_lower_triangle() -> None:
    # 20,000 variances from normals: six standard errors, below 1e-8 together.
    shares: dict[Symmetry, tuple[float, float]] = {"half": (1, 0.5), "mirror": (1, 1), "sqrt2": (2, 1)}
    for symmetry, (diagonal, off) in shares.items():
        mechanism = SymmetricGaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one", symmetry=symmetry)
        value = np.array([[1.0, 2.0, 3.0], [np.nan, 4.0, 5.0], [np.nan, np.nan, 6.0]])
        output = mechanism.release(np.broadcast_to(value, (20_000, 3, 3)), np.random.default_rng(7))
        assert np.array_equal(output, np.swapaxes(output, -1, -2))
        expected = np.where(np.eye(3, dtype=bool), diagonal, off)
        assert output.var(axis=0) == pytest.approx(expected, rel=6 * math.sqrt(2 / 20_000))
        assert output.var(axis=0) != pytest.approx(1.1**2 * expected, rel=6 * math.sqrt(2 / 20_000))
    with pytest.raises(ValueError, match=r"square.*\(3, 2\)"):
        mechanism.release(np.zeros((3, 2)), np.random.default_rng(1))


@pytest.mark.parametrize(
    ("matrix_stddev", "vector_stddev", "expected"),
    [(1.0, 1.0, 4.5), (math.sqrt(2), 1.0, 4.0), (2.0, 1.0, 4.0), (1.0, 2.0, 2 + 2 / 4 + 1 / 32)],
)
def test_joint_sensitivity_of_unit_records_has_its_known_values(
    matrix_stddev: float, vector_stddev: float, expected: float
) -> None:
    # H^4 (2/v_M + 2/v_u + v_M / (2 v_u^2)) up to v_M = 2 v_u, then 4 H^4 / v_u.
    mechanism = JointGaussian(
        matrix_stddev=matrix_stddev,
        vector_stddev=vector_stddev,
        feature_bound=1,
        target_bound=1,
        neighbours="replace_one",
    )
    assert mechanism.loss().mu ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_remove", "zero_out"])
@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, 1.0), (1.0, 3.0)])
@pytest.mark.parametrize("deviations", [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0)])
def test_no_pair_of_records_costs_more_than_the_joint_sensitivity(
    neighbours: Neighbours, bounds: tuple[float, float], deviations: tuple[float, float]
) -> None:
    feature_bound, target_bound = bounds
    mechanism = JointGaussian(
        matrix_stddev=deviations[0],
        vector_stddev=deviations[1],
        feature_bound=feature_bound,
        target_bound=target_bound,
        neighbours=neighbours,
    )
    stated = mechanism.loss().mu ** 2
    assert squared_mu(mechanism, *mechanism.worst_pair()) == pytest.approx(stated)
    rng = np.random.default_rng(5)

    def record(dimension: int) -> Array:
        features = rng.standard_normal(dimension)
        features *= feature_bound * rng.choice([1.0, rng.random()]) / np.linalg.norm(features)
        return joined(np.outer(features, features), target_bound * rng.choice([-1, 1, rng.uniform(-1, 1)]) * features)

    for _ in range(400):
        dimension = int(rng.integers(1, 4))
        second = record(dimension) if neighbours == "replace_one" else np.zeros((dimension, dimension + 1))
        assert squared_mu(mechanism, record(dimension), second) <= stated * (1 + 1e-9)


def test_a_joint_answer_of_another_shape_is_refused() -> None:
    mechanism = JointGaussian(
        matrix_stddev=1, vector_stddev=1, feature_bound=1, target_bound=1, neighbours="replace_one"
    )
    with pytest.raises(ValueError, match=r"d and d \+ 1.*\(3, 3\)"):
        mechanism.release(np.zeros((3, 3)), np.random.default_rng(1))


@pytest.mark.parametrize(("alpha", "expected"), [(0.1, 0.011050), (0.5, 0.054041), (1.0, 0.105161), (4.0, 0.358820)])
def test_one_sided_wishart_noise_keeps_its_delta_at_every_epsilon_so_that_no_pure_claim_holds(
    alpha: float, expected: float
) -> None:
    for neighbours in ("replace_one", "add_remove"):
        mechanism = OneSidedWishart(dimension=2, scale=4.5 / alpha, trace_sensitivity=1.0, neighbours=neighbours)
        form = fold(Release(label="gram", mechanism=mechanism), neighbours)
        for epsilon in (0.5, 10.0, 1e6):
            bracket = bracket_delta(form, epsilon)
            assert bracket.lower == pytest.approx(expected, abs=5e-7)
            assert bracket.upper == pytest.approx(expected, abs=5e-7)
        assert bracket_epsilon(form, 1e-3).lower == math.inf


@pytest.mark.parametrize("mechanism", ONE_SIDED, ids=repr)
def test_the_support_of_one_sided_noise_betrays_the_record_as_often_as_stated(mechanism: OneSidedWishart) -> None:
    # 50,000 outputs without the record, none of which a record could give when its mass is missing: Hoeffding.
    empty, full = mechanism.worst_pair()
    outputs = mechanism.release(np.broadcast_to(empty, (50_000, *empty.shape)), np.random.default_rng(3))
    betrayed = (mechanism.log_density(outputs, full) == -np.inf).mean()
    band = math.sqrt(math.log(2 / FALSE_ALARM) / 100_000)
    assert betrayed == pytest.approx(mechanism.attained_loss().infinite_mass, abs=band)
    assert betrayed != pytest.approx(mechanism.scaled(0.9).attained_loss().infinite_mass, abs=band) or band > 0.01
    own = mechanism.release(np.broadcast_to(full, (50_000, *empty.shape)), np.random.default_rng(4))
    assert not (mechanism.log_density(own, full) == -np.inf).any()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_difference_of_wisharts_is_positive_and_spread_as_stated(dimension: int) -> None:
    mechanism = SymmetrisedWishart(dimension=dimension, scale=1.5, nuclear_sensitivity=1.0, neighbours="replace_one")
    n = 100_000
    noise = mechanism.release(np.zeros((n, dimension, dimension)), np.random.default_rng(dimension))
    positive = (np.linalg.eigvalsh(noise)[:, 0] >= 0).mean()
    band = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n))
    assert positive == pytest.approx(2.0 ** (-dimension * (dimension + 1) / 2), abs=band)
    # Variances 4 (d + 1) scale^2 on the diagonal and 2 (d + 1) scale^2 off it; entries have kurtosis at most 6.
    variance = 4 * (dimension + 1) * 1.5**2
    assert noise[:, 0, 0].var() == pytest.approx(variance, rel=6 * math.sqrt(5 / n))
    if dimension > 1:
        assert noise[:, 0, 1].var() == pytest.approx(variance / 2, rel=6 * math.sqrt(5 / n))


def test_in_one_dimension_it_is_laplace_noise_of_twice_the_scale() -> None:
    wishart = SymmetrisedWishart(dimension=1, scale=1.5, nuclear_sensitivity=2.0, neighbours="replace_one")
    laplace = Laplace(scale=3.0, l1_sensitivity=2.0, neighbours="replace_one")
    points = np.linspace(-9, 9, 31)
    ours = wishart.log_density(points[:, None, None], np.zeros((1, 1)))
    assert ours == pytest.approx(laplace.log_density(points, np.asarray(0.0)))
    assert wishart.loss() == laplace.loss() == wishart.attained_loss()


def test_in_two_dimensions_the_density_integrates_to_one_and_is_continuous() -> None:
    # Z = [[t + x, y], [y, t - x]] has dZ = 2 dt dx dy, and the density depends on t and r = |(x, y)| alone.
    mechanism = SymmetrisedWishart(dimension=2, scale=0.7, nuclear_sensitivity=1.0, neighbours="replace_one")
    nodes, weights = np.polynomial.legendre.leggauss(24)
    edges = np.linspace(0, 40, 61)
    points = (edges[:-1, None] + np.diff(edges)[:, None] * (nodes + 1) / 2).ravel()
    weight = (np.diff(edges)[:, None] / 2 * weights).ravel()
    radius = points[:, None]
    # t = r u: the density has a kink at |u| = 1, so the panels break there.
    inner = (nodes, weights)
    total = 0.0
    for low, high in ((-1.0, 1.0), (1.0, 41.0)):
        pieces = np.linspace(low, high, 2 if low < 0 else 41)
        for left, right in pairwise(pieces):
            u = left + (right - left) * (inner[0] + 1) / 2
            t = radius * u if low < 0 else radius + (u - 1)
            jacobian = radius if low < 0 else np.ones_like(radius)
            matrices = np.zeros((*t.shape, 2, 2))
            matrices[..., 0, 0], matrices[..., 1, 1] = t + radius, t - radius
            density = np.exp(mechanism.log_density(matrices, np.zeros((2, 2))))
            both = 1 if low < 0 else 2
            total += (
                both
                * (density * 4 * math.pi * radius * jacobian * weight[:, None] * inner[1] * (right - left) / 2).sum()
            )
    assert total == pytest.approx(1, abs=1e-5)
    near = [np.diag([3.0, 1e-7]), np.diag([3.0, -1e-7])]
    assert np.ptp([mechanism.log_density(m, np.zeros((2, 2))) for m in near]) < 1e-5


def test_no_pair_of_answers_moves_the_density_by_more_than_the_nuclear_norm_allows() -> None:
    mechanism = SymmetrisedWishart(dimension=2, scale=0.5, nuclear_sensitivity=1.0, neighbours="replace_one")
    rng = np.random.default_rng(8)
    first, second, output = (10 * rng.random() * random_symmetric(rng, 2) for _ in range(3))
    for _ in range(120):
        first, second, output = (4 * rng.random() * random_symmetric(rng, 2) for _ in range(3))
        moved = abs(float(mechanism.log_density(output, first) - mechanism.log_density(output, second)))
        assert moved <= np.abs(np.linalg.eigvalsh(first - second)).sum() / (2 * 0.5) + 1e-5


def test_beyond_two_dimensions_only_noise_of_one_sign_has_a_density_here() -> None:
    mechanism = SymmetrisedWishart(dimension=3, scale=1.0, nuclear_sensitivity=1.0, neighbours="replace_one")
    assert np.isfinite(mechanism.log_density(np.eye(3), np.zeros((3, 3))))
    with pytest.raises(UnsupportedError, match="dimension=3"):
        mechanism.log_density(np.diag([1.0, -1.0, 0.5]), np.zeros((3, 3)))
