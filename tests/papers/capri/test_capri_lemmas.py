"""Lemmas 6.2 to 6.4 of CAPRI on random matrices."""

import numpy as np
import pytest

from dpaudit.model.mechanism import Array

_RIDGE = 0.7


def _sandwiched(rng: np.random.Generator) -> tuple[Array, Array, Array, float]:
    """Return (A + tau, Phi Phi^T + tau, the projector on Phi's columns, alpha) with fewer points than dimensions.

    Alpha is the smallest with (1 - alpha)(A + tau) <= Phi Phi^T + tau <= (1 + alpha)(A + tau).
    """
    d = int(rng.integers(3, 7))
    basis = rng.standard_normal((d, d - 1))
    small = 0.2 * rng.standard_normal((d, d))
    covariance = basis @ np.diag(rng.uniform(0.7, 1.3, d - 1)) @ basis.T + small @ small.T
    exact, drawn = covariance + _RIDGE * np.eye(d), basis @ basis.T + _RIDGE * np.eye(d)
    root = np.linalg.inv(np.linalg.cholesky(exact))
    alpha = float(np.linalg.norm(root @ drawn @ root.T - np.eye(d), 2))
    return exact, drawn, basis @ np.linalg.pinv(basis), alpha


def _least(matrix: Array) -> float:
    return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])


@pytest.mark.parametrize("seed", range(20))
def test_a_projected_covariance_keeps_its_order_where_the_design_is_sandwiched(seed: int) -> None:
    """Lemma 6.2: P A P + tau between (1 - a) / (1 + a) and (1 + a) / (1 - a) times A + tau; tau for the printed alpha.

    The twin: a projector on half of the columns does not keep the lower end.
    """
    exact, _, projector, alpha = _sandwiched(np.random.default_rng(seed))
    assert 0 < alpha < 1
    ridge = _RIDGE * np.eye(len(exact))
    projected = projector @ (exact - ridge) @ projector + ridge
    low, high = (1 - alpha) / (1 + alpha), (1 + alpha) / (1 - alpha)
    assert _least(projected - low * exact) >= -1e-9
    assert _least(high * exact - projected) >= -1e-9
    nothing = ridge  # what is left of A by a projector on nothing
    assert _least(nothing - low * exact) < 0


@pytest.mark.parametrize("seed", range(20))
def test_a_projector_loses_at_most_the_ridge_where_the_design_is_sandwiched(seed: int) -> None:
    """Lemma 6.3, with the ridge that the print loses: Id - P <= tau / (1 - a) (A + tau)^-1; Id for tau Id is false."""
    exact, drawn, projector, alpha = _sandwiched(np.random.default_rng(seed))
    identity = np.eye(len(exact))
    lost = identity - projector
    assert _least(_RIDGE * np.linalg.inv(drawn) - lost) >= -1e-9
    assert _least(_RIDGE / (1 - alpha) * np.linalg.inv(exact) - lost) >= -1e-9
    assert _least(0.9 * _RIDGE * np.linalg.inv(drawn) - lost) < 0  # the twin: a smaller ridge


def test_lemma_6_3_as_printed_is_false() -> None:
    """A = 0 and no points: Id - P = Id, above tau / (1 - a) (A + Id)^-1 = tau Id at any tau below 1."""
    alpha = 1e-9
    assert _least(_RIDGE / (1 - alpha) * np.eye(2) - np.eye(2)) < 0


@pytest.mark.parametrize("seed", range(20))
def test_the_kernel_trick_exchanges_the_order_of_two_factors(seed: int) -> None:
    """Lemma 6.4: A (B A + tau)^-1 = (A B + tau)^-1 A."""
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((3, 5))
    right = left.T + 0.1 * rng.standard_normal((5, 3))
    one = np.linalg.solve(left @ right + _RIDGE * np.eye(3), left)
    other = left @ np.linalg.inv(right @ left + _RIDGE * np.eye(5))
    assert np.allclose(one, other)
