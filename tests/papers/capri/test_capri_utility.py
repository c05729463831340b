"""What CAPRI learns: error in units of its own bound, the price of privacy, and which actions survive."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from algorithms.capri import Capri
from algorithms.capri.design import Design, Factors, factorise
from algorithms.capri.domain import domain_of
from algorithms.capri.elimination import printed_beta, survivors
from algorithms.capri.settings import completed
from algorithms.kernels import factor, matern, pairs, squared_exponential
from algorithms.problems.synthetic import grid
from dpaudit import Streams
from dpaudit.model.mechanism import Array

JOINT = Capri(model="joint", epsilon=1, delta=1e-5, horizon=10_000, kernel="squared_exponential", length_scale=1.0)
SMALL: dict[str, Any] = {"contexts": 3, "actions": 3, "length_scale": 1.0}
GRID = pairs(np.linspace(0, 1, 10)[:, None], np.linspace(0, 1, 10)[:, None])
KERNELS = {"squared_exponential": squared_exponential(GRID, 0.2), "matern": matern(GRID, 0.2, 2.5)}


def streams(seed: int) -> Streams:
    return Streams.spawn(np.random.default_rng(seed))


def designs(features: Array, size: int, runs: int, rng: np.random.Generator) -> tuple[Factors, Design]:
    law = np.full(len(features), 1 / len(features))
    design = Design(covariance=rng.multinomial(size, law, size=runs), basis=rng.multinomial(size, law, size=runs))
    return factorise(features, design, np.ones((runs, len(features)), bool), 1.0), design


def functions(kernel: Array, runs: int, rng: np.random.Generator) -> Any:
    weights = rng.standard_normal((runs, len(kernel))) * (rng.random((runs, len(kernel))) < 0.3)
    norm = np.sqrt(np.einsum("rn,nm,rm->r", weights, kernel, weights))
    return (weights @ kernel) / norm[:, None]


@pytest.mark.parametrize("size", [100, 1600, 25_600])
@pytest.mark.parametrize("name", ["squared_exponential", "matern"])
def test_the_error_without_privacy_is_about_the_bound(name: str, size: int) -> None:
    """T-U1: sup error over scale lies in [0.3, 2.5] on average, not near the theory's constant of about 2,000."""
    rng = np.random.default_rng(size)
    factors, _ = designs(factor(KERNELS[name]), size, 20, rng)
    truth = functions(KERNELS[name], 20, rng)
    counts = rng.multinomial(size, np.full(100, 0.01), size=20)
    noise = np.sqrt(counts) * rng.uniform(-0.5, 0.5, counts.shape)
    estimates = factors.estimates(factors.apply(counts * truth + noise))
    ratio = np.abs(estimates - truth).max(axis=1) / factors.scale
    assert 0.3 < ratio.mean() < 2.5


def test_the_error_does_not_vanish_with_noise_free_rewards() -> None:
    """T-U2: the covariance comes from R and the data from W, which costs about one bound; ridge regression is exact."""
    rng = np.random.default_rng(2)
    kernel = KERNELS["squared_exponential"]
    features = factor(kernel)
    factors, design = designs(features, 25_600, 20, rng)
    truth = functions(kernel, 20, rng)
    counts = rng.multinomial(25_600, np.full(100, 0.01), size=20)
    capri = np.abs(factors.estimates(factors.apply(counts * truth)) - truth).max(axis=1)
    own = factorise(features, Design(covariance=counts, basis=design.basis), np.ones((20, 100), bool), 1.0)
    ridge = np.abs(own.estimates(own.apply(counts * truth)) - truth).max(axis=1)
    assert capri.mean() > 0.5 * factors.scale.mean()
    assert ridge.mean() < 0.1 * capri.mean()


def test_the_privacy_noise_of_estimates_has_the_stated_covariance() -> None:
    """T-U3: covariance sigma^2 H^T H; a chi-square test at 1e-8 either way, which a 5 % larger noise fails."""
    rng = np.random.default_rng(4)
    factors, _ = designs(factor(matern(GRID[::13], 0.5, 1.5)), 40, 1, rng)
    noise = 1.7 * rng.standard_normal((20_000, factors.maps.shape[1]))
    estimates = noise @ factors.maps[0]
    covariance = 1.7**2 * factors.maps[0].T @ factors.maps[0]
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * values[-1]
    squares = (((estimates @ vectors[:, kept]) ** 2) / values[kept]).sum()
    freedom = 20_000 * kept.sum()
    assert 1e-8 < chi2.sf(squares, freedom) < 1 - 1e-8
    assert chi2.sf(1.05**2 * squares, freedom) < 1e-8
    assert np.abs(np.cov(estimates.T) - covariance).max() < 0.06 * covariance.max()


def test_halving_epsilon_doubles_the_printed_noise_and_the_bound_falls_with_the_epoch() -> None:
    """T-U4: noise of an estimate is 2 z scale^2: linear in 1 / epsilon, and about 1 / length once cells repeat."""
    paper = replace(JOINT, calibration="paper")
    ratio = replace(paper, epsilon=0.5).plan().stddev / paper.plan().stddev
    assert ratio == pytest.approx(2.0)
    rng = np.random.default_rng(5)
    features = factor(KERNELS["matern"])
    squares = [designs(features, size, 10, rng)[0].scale.mean() ** 2 for size in (6400, 25_600)]
    assert 3.0 < squares[0] / squares[1] < 4.6


@pytest.mark.parametrize("seed", range(3))
def test_the_best_actions_survive_the_practical_width(seed: int) -> None:
    """T-U5: with half the practical width, runs that lose some context's best action are at most delta_ERR."""
    run = JOINT.run(grid(**SMALL, seed=seed), streams(seed), 200)
    assert run.arrays["lost"].mean() <= JOINT.fail_prob


def test_the_theory_width_eliminates_nothing() -> None:
    """The printed constants give beta of about 1,900 at horizon 10^4: every action survives, regret is linear."""
    run = replace(JOINT, elimination="theory").run(grid(**SMALL), streams(0), 20)
    assert run.arrays["active"].all()
    share = 0.1 / (100 * 10_000 * math.log(10_000))
    assert printed_beta(share, 10_000, 1.0, 1.0) == pytest.approx(1895, abs=1)


def test_the_theory_noise_term_is_the_lemmas() -> None:
    """2 ln(3 / u) sigma0 scale equals beta_1 scale^2 of Lemma 6.6 for the noise of Eq. (5)."""
    config = replace(JOINT, calibration="paper", elimination="theory")
    plan, domain = config.plan(), domain_of(config, grid(**SMALL))
    factors, _ = designs(domain.features, 100, 1, np.random.default_rng(0))
    slots = math.log(config.horizon)
    share = config.fail_prob / (9 * config.horizon * slots)
    width = domain.half_width.of(factors, factors.scale * plan.stddev)
    beta_1 = 8 * slots * math.log(3 / share) * math.sqrt(math.log(1.25 * slots / config.delta))
    beta = printed_beta(share, config.horizon, config.reward_bound, config.ridge)
    expected = beta * factors.scale + beta_1 * factors.scale**2
    np.testing.assert_allclose(width, expected, rtol=1e-8)


@pytest.mark.parametrize("size", [32, 200, 1600])
def test_the_bound_follows_the_information_gain(size: int) -> None:
    """T-U8: scale over sqrt(2 gamma / T), gamma of the drawn counts, lies near 1."""
    for kernel in KERNELS.values():
        features = factor(kernel)
        factors, design = designs(features, size, 10, np.random.default_rng(size))
        spread = (features.T * design.covariance[:, None, :]) @ features + np.eye(features.shape[1])
        gain = 0.5 * np.linalg.slogdet(spread)[1]
        ratio = (factors.scale / np.sqrt(2 * gain / size)).mean()
        assert 0.7 < ratio < 1.5


def test_ties_survive_and_no_context_is_left_empty() -> None:
    """Equal estimates all stay, also when only the best is kept; eliminated actions never return."""
    active = np.array([[[True, True, False], [True, True, True]]])
    kept = survivors(np.array([[1.0, 1.0, 9.0, 0.0, 2.0, 1.0]]), active, np.zeros(1))
    assert kept.tolist() == [[[True, True, False], [False, True, False]]]
    assert completed(10_000) == 6
