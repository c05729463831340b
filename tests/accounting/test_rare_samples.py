"""Bounds for samples that hardly ever hold the record: above the truth, and of some use where grids have none."""

import math
from typing import Any, Literal

import mpmath as mp
import pytest

from dpaudit import Claim, Release, Repeat, Subsample, certify, smallest_noise, verify
from dpaudit.accounting.calibration import excess_scaled
from dpaudit.engines import PROVED_UPPERS, RENYI, TILTED, UPPERS
from dpaudit.engines.renyi import log_delta, log_excess
from dpaudit.engines.single import single_delta
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import Composition, SampledGaussianLoss
from mechanisms import Gaussian

CLAIM = Claim(epsilon=1.0, delta=1e-6, neighbours="add_remove")


def steps(rate: float, stddev: float, times: int) -> Declaration:
    """Steps of DP-SGD."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove")
    return Repeat(part=Subsample(part=Release(label="x", mechanism=noise), rate=rate), times=times)


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize(
    ("mu", "rate", "times"), [(1.0, 1e-3, 50), (0.3, 1e-4, 100), (2.0, 1e-3, 10), (3.0, 1e-5, 1000), (0.05, 0.02, 5)]
)
def test_the_bound_lies_above_what_grids_show(
    mu: float, rate: float, times: int, order: Literal["remove", "add"]
) -> None:
    """Lower ends of another engine, which are near the truth there."""
    composition = Composition.of(SampledGaussianLoss(mu=mu, rate=rate, order=order)) * times
    assert RENYI.covers(composition)
    shown = 0
    for epsilon in (0.001, 0.05, 0.5, 2.0):
        lower = TILTED.delta(composition, epsilon).lower
        shown += lower > 0
        assert RENYI.delta(composition, epsilon).upper >= lower, (epsilon, lower)
    assert shown >= (order == "remove")


@pytest.mark.parametrize("rate", [4.9e-20, 1e-17, 1e-60])
def test_a_rate_below_rounding_is_certified_by_moments(rate: float) -> None:
    """Losses of 1e-20 stand on no knots of a transform, which failed there: delta at epsilon .001 is below 1e-20."""
    certificate = certify(steps(rate, 2.66, 10**6), Claim(epsilon=1e-3, delta=1e-20, neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert certificate.engines == ("closed", "renyi")
    assert not verify(certificate.to_json()).complaints


def test_the_bound_of_an_epsilon_keeps_its_delta() -> None:
    composition = Composition.of(SampledGaussianLoss(mu=1.0, rate=1e-12)) * 10**9
    for delta in (1e-3, 1e-6, 1e-12, 1e-100):
        found = RENYI.epsilon(composition, delta).upper
        assert RENYI.delta(composition, found).upper <= delta


def test_the_moment_is_that_of_quadrature() -> None:
    """E_P[e^(s L)] of one release by 40 digits."""
    mu, rate = 1.3, 0.02
    with mp.workdps(40):
        for order in (2, 3, 7):

            def density(x: Any, order: int = order) -> Any:
                ratio = 1 - mp.mpf(rate) + mp.mpf(rate) * mp.exp(mp.mpf(mu) * x - mp.mpf(mu) ** 2 / 2)
                return mp.npdf(x) * ratio**order

            exact = mp.quad(density, [-20, -5, 0, 5, 10, 20, 40]) - 1
            found = log_excess(mu, rate, order)
            assert float(mp.log(exact)) <= found <= float(mp.log(exact)) + 1e-9


def test_the_certificate_of_a_billion_rare_steps_is_not_loose() -> None:
    """1e-12 of the records a step, 1e9 steps: delta was 1 between 1 and 2 times this noise, and epsilon 1."""
    rare = steps(1e-12, 1.0, 10**9)
    for factor in (1.0, 1.5, 2.0):
        for precision in (UPPERS, PROVED_UPPERS):
            assert excess_scaled(rare, factor, CLAIM, precision) < -50
    assert 0.1 < smallest_noise(rare, CLAIM) < 0.3  # 3.1 deviations beyond a shift of 5 at 0.2, by hand


def test_more_noise_never_costs_more() -> None:
    before = math.inf
    for stddev in (0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0):
        found = RENYI.delta(Composition.of(SampledGaussianLoss(mu=1 / stddev, rate=1e-12)) * 10**9, 1.0).upper
        assert found <= before
        before = found


def test_extreme_parameters_neither_crash_nor_fall_below_the_truth() -> None:
    """Total variations add up: at small epsilon the bound is no smaller than what one release shows."""
    for mu in (1e-200, 1e-20, 1e-3, 1.0, 1e3, 1e5):
        for rate in (5e-324, 1e-300, 1e-20, 1e-3):
            composition = Composition.of(SampledGaussianLoss(mu=mu, rate=rate)) * 10
            for epsilon in (0.0, 1e-310, 1e-200, 1e-9, 1.0, 700.0, 1e9, 1e308):
                found = RENYI.delta(composition, epsilon).upper
                assert 0 < found <= 1
                assert found >= single_delta(composition.parts[0][0], epsilon)[0]
    with pytest.raises(UnsupportedError, match="the most is 1e\\+150"):
        Composition.of(SampledGaussianLoss(mu=1.0, rate=1e-310)) * 10**305


def test_a_bound_of_one_release_for_all_is_caught() -> None:
    """The broken twin: the moment of one release falls below what fifty show."""
    one = SampledGaussianLoss(mu=2.0, rate=1e-3)
    shown = TILTED.delta(Composition.of(one) * 50, 0.5).lower
    assert math.exp(log_delta(Composition.of(one), 0.5)) < shown
