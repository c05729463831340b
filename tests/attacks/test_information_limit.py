"""The least entropy of a pair of laws to an (epsilon, delta) claim: known values, a general solver, and one claim."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import laplace

from benchmarks import information_limit
from dpaudit.model.mechanism import Array


def test_laplace_noise_of_half_the_scale_has_its_known_growth() -> None:
    """Epsilon 2 against a pure claim of 1: E KL(sigma(L), sigma(clip(L, 1))) = .0445572 nats a run."""
    middles = np.linspace(-12, 12, 20_001)
    edges = np.concatenate([[-np.inf], (middles[1:] + middles[:-1]) / 2, [np.inf]])
    first = np.maximum(np.diff(laplace.cdf(edges, -0.5, 0.5)), 1e-300)
    assert information_limit.growth(first, first[::-1].copy(), 1.0, 1e-9) == pytest.approx(0.0445572, abs=2e-6)


def test_a_general_solver_finds_no_nearer_pair() -> None:
    """Three cells: sequential quadratic programming over all allowed pairs ends at the same entropy."""
    first = np.array([0.5, 0.3, 0.2])
    second = first[::-1].copy()

    def laws(values: Array) -> tuple[Array, Array]:
        shown = np.exp(values.reshape(2, 3))
        return tuple(shown / shown.sum(axis=1, keepdims=True))

    def entropy(values: Array) -> float:
        p, q = laws(values)
        return float((first * np.log(first / p)).sum() + (second * np.log(second / q)).sum()) / 2

    def slack(values: Array, turned: bool) -> float:
        p, q = laws(values)[:: -1 if turned else 1]
        return 0.02 - float(np.maximum(0, q - math.exp(0.3) * p).sum())

    allowed: Any = [{"type": "ineq", "fun": slack, "args": (turned,)} for turned in (False, True)]
    start = np.log(np.concatenate([first, second]) + 0.1)
    found = minimize(entropy, start, constraints=allowed, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500})
    assert information_limit.growth(first, second, 0.3, 0.02) == pytest.approx(found.fun, rel=1e-9)


def test_a_fifth_less_noise_is_out_of_reach_at_a_small_delta() -> None:
    """(1, 1e-5), 70,000 runs at .001: the best chance is .086; right noise has growth 0; half may be found."""
    mu = information_limit.gaussian_mu(1.0, 1e-5)
    assert mu == pytest.approx(0.26805112, abs=1e-7)
    rates = [
        information_limit.growth(*information_limit.gaussian(mu / factor), 1.0, 1e-5) for factor in (1.0001, 0.8, 0.5)
    ]
    assert rates[0] == 0.0
    chances = [information_limit.best_chance(70_000, rate, 1e-3) for rate in rates[1:]]
    assert chances[0] == pytest.approx(0.086, abs=1e-3)
    assert chances[1] == 1.0
