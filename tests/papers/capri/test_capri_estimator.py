"""Gram form, operator form and feature form are one estimator; the bound is that of the map in use."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.capri.design import Design, Factors, cell_law, factorise
from algorithms.kernels import factor, matern, squared_exponential
from dpaudit.model.mechanism import Array
from tests.papers.capri.gram import gram_maps, posterior_variance


def one_run(
    features: Array,
    covariance: list[int] | Array,
    basis: list[int] | Array,
    ridge: float = 1.0,
    active: Array | None = None,
) -> Factors:
    shown = np.ones((1, len(features)), dtype=bool) if active is None else active
    return factorise(features, Design(covariance=np.array([covariance]), basis=np.array([basis])), shown, ridge)


def points(counts: list[int] | Array) -> Array:
    return np.repeat(np.arange(len(counts)), counts)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 40), ridge=st.sampled_from([0.3, 1.0, 4.0]))
def test_the_three_forms_agree(seed: int, size: int, ridge: float) -> None:
    """Inner products of mapped cells, bounds and estimates are equal to 1e-10 in the forms G, O and F."""
    rng = np.random.default_rng(seed)
    kernel = matern(rng.random((7, 2)), 0.5, 1.5)
    features = factor(kernel)
    covariance, basis = rng.multinomial(size, [1 / 7] * 7), rng.multinomial(size, [1 / 7] * 7)
    sums = rng.standard_normal(7)
    factors = one_run(features, covariance, basis, ridge)
    gram = gram_maps(kernel, points(basis), points(covariance), ridge)
    present = features[basis > 0]
    projector = np.linalg.pinv(present) @ present
    spread = (features.T * covariance) @ features
    operator = np.linalg.inv(projector @ spread @ projector + ridge * np.eye(len(projector)))
    inner = factors.maps[0].T @ factors.maps[0]
    np.testing.assert_allclose(inner, gram.T @ gram, atol=1e-10)
    np.testing.assert_allclose(inner, features @ projector @ operator @ projector @ features.T, atol=1e-10)
    np.testing.assert_allclose(factors.estimates(factors.apply(sums[None]))[0], gram.T @ (gram @ sums), atol=1e-10)
    variance = posterior_variance(kernel, points(basis), points(covariance), ridge)
    assert factors.scale[0] == pytest.approx(np.sqrt(variance.max()), abs=1e-10)
    np.testing.assert_allclose(variance, np.einsum("nd,de,ne->n", features, operator, features), atol=1e-10)


@pytest.mark.parametrize("length_scale", [0.2, 0.5, 3.0])
def test_the_map_stays_finite_where_gram_matrices_are_singular(length_scale: float) -> None:
    """Ill-conditioned kernels (condition 1e18) give finite maps within the bound, and a bound up to 1 / sqrt(ridge)."""
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 10), np.linspace(0, 1, 10)), axis=-1).reshape(-1, 2)
    features = factor(squared_exponential(grid, length_scale))
    rng = np.random.default_rng(0)
    counts = rng.multinomial(60, np.full(100, 0.01), size=(2, 20))
    factors = factorise(features, Design(covariance=counts[0], basis=counts[1]), np.ones((20, 100), bool), 1.0)
    lengths = np.sqrt((factors.maps**2).sum(axis=1))
    assert np.isfinite(factors.maps).all()
    assert (lengths <= factors.scale[:, None] * (1 + 1e-9)).all()
    assert (factors.scale <= 1 + 1e-9).all()


def test_leaving_out_the_projector_changes_nothing_on_active_cells() -> None:
    """Where S holds every active cell, the shortcut without projector equals the map with it."""
    rng = np.random.default_rng(3)
    kernel = matern(rng.random((8, 2)), 0.3, 2.5)
    active = np.array([[True] * 5 + [False] * 3])
    covariance, basis = np.array([3, 1, 4, 1, 5, 0, 0, 0]), np.array([1, 2, 1, 1, 3, 0, 0, 0])
    factors = one_run(factor(kernel), covariance, basis, active=active)
    gram = gram_maps(kernel, points(basis), points(covariance), 1.0)
    inner = factors.maps[0].T @ factors.maps[0]
    np.testing.assert_allclose(inner[:5, :5], (gram.T @ gram)[:5, :5], atol=1e-10)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), bound=st.sampled_from([0.5, 1.0, 7.0]))
def test_no_pair_of_records_moves_the_sum_further_than_twice_the_bound(seed: int, bound: float) -> None:
    """T-P3: the largest |y h_w - y' h_w'| over all cells and rewards is 2 bound reach, at most 2 bound scale."""
    rng = np.random.default_rng(seed)
    features = factor(matern(rng.random((9, 2)), 0.4, 2.5))
    factors = one_run(features, rng.multinomial(15, [1 / 9] * 9), rng.multinomial(15, [1 / 9] * 9))
    signed = np.concatenate([bound * factors.maps[0].T, -bound * factors.maps[0].T])
    farthest = np.linalg.norm(signed[:, None] - signed[None, :], axis=-1).max()
    assert farthest == pytest.approx(2 * bound * factors.reach[0], rel=1e-9)
    assert factors.reach[0] <= factors.scale[0] * (1 + 1e-12)


def test_the_cell_law_ignores_eliminated_actions_and_sums_to_one() -> None:
    """A context keeps its probability when actions go; the rest share it equally."""
    active = np.array([[[True, False, True], [False, True, False]]])
    law = cell_law(np.array([0.25, 0.75]), active)
    np.testing.assert_allclose(law, [[0.125, 0, 0.125, 0, 0.75, 0]])


def test_the_bound_counts_contexts_of_probability_zero() -> None:
    """A neighbour may hold a context that never arrives: its length lies within the bound all the same."""
    features = np.eye(3)
    active = np.ones((1, 3, 1), dtype=bool)
    law = cell_law(np.array([0.5, 0.5, 0.0]), active)
    counts = np.random.default_rng(0).multinomial(50, law)
    factors = factorise(features, Design(covariance=counts, basis=counts), active.reshape(1, 3), 0.25)
    assert factors.scale[0] == pytest.approx(2.0)


@pytest.mark.parametrize("points_a_side", [5, 6, 10])
def test_blocks_of_rows_solve_the_same_system(points_a_side: int) -> None:
    """More features than one block, whole blocks or not: inner products equal F A^-1 F^T to 1e-10."""
    line = np.linspace(0, 1, points_a_side)
    features = factor(matern(np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2), 0.2, 1.5))
    cells = len(features)
    covariance = np.random.default_rng(1).multinomial(500, np.full(cells, 1 / cells))
    factors = one_run(features, covariance, np.ones(cells, int))
    inverse = np.linalg.inv((features.T * covariance) @ features + np.eye(features.shape[1]))
    np.testing.assert_allclose(factors.maps[0].T @ factors.maps[0], features @ inverse @ features.T, atol=1e-10)
