import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from dpaudit.engines import CLOSED, ENGINES, RENYI, TILTED, basic, is_closed
from dpaudit.engines.gaussian import gaussian_delta
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
)
from dpaudit.model.losses.sampled_gaussian import SampledOrder
from tests.accounting import drawing, oracle

LAPLACE = Composition.of(LaplaceLoss(shift=0.1)) * 1000


def exact_gaussian(mu: float, epsilon: float) -> Any:
    with mp.workdps(60):
        m, e = mpf(mu), mpf(epsilon)
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", [1e-12, 1e-6, 1e-3, 0.05, 0.3, 1.0, 4.0, 20.0, 100.0, 1000.0])
def test_gaussian_margins_hold_against_sixty_digits(mu: float) -> None:
    """The closed form's bounds enclose the 60-digit value from tiny mu to huge mu, and are tight where it matters."""
    for z in (-8.0, -3.0, -1.0, -0.1, 0.0, 0.5, 2.0, 5.0, 9.0, 15.0, 30.0):
        epsilon = mu * mu / 2 + z * mu
        if epsilon < 0:
            continue
        low, high = gaussian_delta(mu, epsilon)
        truth = exact_gaussian(mu, epsilon)
        assert mpf(low) <= truth <= mpf(high), (mu, epsilon)
        if truth > 1e-100 and mu >= 0.05:
            assert high - low <= 1e-8 * high


@pytest.mark.parametrize("mu", [0.0, 1e-200])
def test_laws_that_are_almost_equal_differ_below_epsilon_zero(mu: float) -> None:
    """Equal laws have delta 1 - e^epsilon there; a bound of mu alone would be below."""
    for epsilon in (-1e-9, -0.3, -5.0, -800.0):
        low, high = gaussian_delta(mu, epsilon)
        truth = 1 - mp.exp(epsilon)
        assert mpf(low) <= truth <= mpf(high) <= 1
        assert high - low <= 1e-14


@pytest.mark.parametrize("number", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_no_engine_is_on_the_wrong_side_of_the_truth_on_random_compositions(number: int) -> None:
    """On random compositions both ends of epsilon, and of delta at these ends, lie on their side of the oracle."""
    rng = np.random.default_rng(20)
    widths, unsettled = [], 0
    for _ in range(number):
        _, composition, delta = drawing.draw(rng)
        while composition.events > 100 or len(composition.parts) > 3:
            _, composition, delta = drawing.draw(rng)
        for engine in (RENYI, TILTED, CLOSED):
            if not engine.covers(composition) or (engine is CLOSED and not is_closed(composition)):
                continue
            bracket = engine.epsilon(composition, delta)
            try:
                for epsilon, sign in ((bracket.upper, 1), (bracket.lower, -1)):
                    if 0 < epsilon < math.inf:
                        truth = oracle.true_delta(composition, epsilon, 30).real
                        assert sign * (truth - delta) <= 1e-12 * delta, engine.name
                        curve = engine.delta(composition, epsilon)
                        assert curve.lower * (1 - 1e-12) <= truth <= curve.upper * (1 + 1e-12), engine.name
            except ArithmeticError:  # the integral converges too slowly to be a witness
                unsettled += 1
            if engine is TILTED:
                widths.append((bracket.upper - bracket.lower) / bracket.upper)
    assert np.median(widths) <= 1e-4
    assert unsettled <= number / 20


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_every_engine_brackets_delta_on_a_mixture(epsilon: float) -> None:
    """delta(epsilon) of a mixture with a mass at infinity lies in every engine's bracket."""
    composition = (
        Composition.of(GaussianLoss(mu=0.2), LaplaceLoss(shift=0.3), ApproximateLoss(epsilon=0.1, delta=1e-4)) * 5
    )
    truth = oracle.true_delta(composition, epsilon, 40).real
    for engine in ENGINES:
        if engine.covers(composition):
            bracket = engine.delta(composition, epsilon)
            assert bracket.lower <= truth <= bracket.upper, engine.name


@pytest.mark.parametrize(
    ("delta", "tolerance"),
    [(1e-5, 2e-5), (1e-14, 5e-5), (1e-30, 1e-4), (1e-100, 1e-3)],
    ids=["1e-5", "1e-14", "1e-30", "1e-100"],
)
def test_thousand_laplace_releases_stay_sharp_down_to_tiny_delta(delta: float, tolerance: float) -> None:
    """Laplace(10) x 1000: the bracket holds the oracle's epsilon and is narrower than the stated tolerance."""
    bracket = TILTED.epsilon(LAPLACE, delta)
    assert oracle.true_delta(LAPLACE, bracket.upper, 130).real <= delta
    assert oracle.true_delta(LAPLACE, bracket.lower, 130).real >= delta
    assert bracket.upper - bracket.lower <= tolerance
    if delta == 1e-5:
        assert 0 <= bracket.upper - 17.4236519875 <= 2e-5


@pytest.mark.parametrize(("order", "truth", "digits"), [("remove", 6.1877124, 5e-8), ("add", 5.6115, 5e-5)])
def test_sampled_gaussian_is_right_in_both_orders(order: SampledOrder, truth: float, digits: float) -> None:
    """Poisson rate 0.01, sigma 1, 10^4 steps: 6.1877124 if a record is removed, 5.6115 if one is added, within 1e-4."""
    composition = Composition.of(SampledGaussianLoss(mu=1, rate=0.01, order=order)) * 10_000
    bracket = TILTED.epsilon(composition, 1e-5)
    assert truth - 1e-4 - digits <= bracket.lower <= truth + digits
    assert truth - digits <= bracket.upper <= truth + 1e-4 + digits


@pytest.mark.parametrize("times", [1, 30])
def test_many_kinds_of_losses_are_bracketed_to_second_order(times: int) -> None:
    """Twelve Laplace, two response and one Gaussian kind: the oracle's value within a bracket 1e-5 wide, relatively."""
    rng = np.random.default_rng(times)
    sizes = rng.uniform(0.3, 1.0, 15) / math.sqrt(times)
    losses: list[Loss] = [LaplaceLoss(shift=float(size)) for size in sizes[:12]]
    losses += [ApproximateLoss(epsilon=float(size)) for size in sizes[12:14]]
    composition = Composition.of(*losses, GaussianLoss(mu=float(sizes[14]))) * times
    bracket = TILTED.epsilon(composition, 1e-6)
    assert oracle.true_delta(composition, bracket.upper, 30).real <= 1e-6
    assert oracle.true_delta(composition, bracket.lower, 30).real >= 1e-6
    assert bracket.upper - bracket.lower <= 1e-5 * bracket.upper


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("epsilon", [-0.02, 0.0, 0.05, 0.3])
def test_hockey_stick_of_a_sampled_gaussian_is_the_integral_of_its_densities(
    order: SampledOrder, epsilon: float
) -> None:
    """The closed form equals the integral of (p - e^epsilon q)_+ over the output."""
    x = np.linspace(-14, 15, 400_001)
    plain, moved = np.exp(-x * x / 2), np.exp(-((x - 1) ** 2) / 2)
    mixture = 0.9 * plain + 0.1 * moved
    p, q = (mixture, plain) if order == "remove" else (plain, mixture)
    integral = np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi)
    loss = SampledGaussianLoss(mu=1, rate=0.1, order=order)
    assert loss.hockey_stick(epsilon) == pytest.approx(integral, rel=1e-6, abs=1e-9)


def test_one_sided_wishart_reaches_infinity_at_its_mass() -> None:
    """Atoms {0: e^-c, infinity: 1 - e^-c}: epsilon is 0 at the mass and infinite just below it."""
    mass = -math.expm1(-0.2)
    loss = DiscreteLoss(atoms=((0.0, 1 - mass),), infinite_mass=mass, reverse_infinite_mass=mass)
    composition = Composition.of(loss)
    assert CLOSED.epsilon(composition, mass * 1.0001).upper == 0
    assert CLOSED.epsilon(composition, mass * 0.9999).lower == math.inf
    assert basic.epsilon_ends(composition, mass * 0.9999)[0] == math.inf


def test_a_thousand_black_boxes_cost_their_binomial_sum() -> None:
    """1000 copies of pure 0.1: 17.787128449 by the transform, 18.96 by Renyi moments."""
    composition = Composition.of(ApproximateLoss(epsilon=0.1)) * 1000
    found = TILTED.epsilon(composition, 1e-5)
    assert found.lower <= 17.787128449 + 1e-8
    assert found.upper - found.lower <= 1e-6
    assert RENYI.epsilon(composition, 1e-5).upper == pytest.approx(18.9637, abs=1e-3)
    assert found.upper == pytest.approx(17.787128449, abs=1e-8)


def test_renyi_moments_of_laplace_noise_have_their_known_epsilon() -> None:
    assert RENYI.epsilon(LAPLACE, 1e-5).upper == pytest.approx(18.575, rel=1e-4)


@pytest.mark.parametrize("size", [0.01, 0.25, 0.5, 3.0])
def test_a_loss_bounded_in_one_order_only_may_cost_more_than_randomised_response(size: float) -> None:
    """One-sided noise from the full record: loss `size` for certain, delta(0) = 1 - e^-size, not tanh(size / 2)."""
    loss = DiscreteLoss(atoms=((size, 1.0),), reverse_infinite_mass=-math.expm1(-size))
    for epsilon in (0.0, size / 3, size * 0.999):
        truth = -math.expm1(epsilon - size)
        for engine in ENGINES:
            if engine.covers(Composition.of(loss)):
                bracket = engine.delta(Composition.of(loss), epsilon)
                assert bracket.lower <= truth * (1 + 1e-14), engine.name
                assert bracket.upper >= truth * (1 - 1e-14), engine.name


def test_basic_delta_is_attained_by_two_losses_of_different_size() -> None:
    """Losses a and -b alone are the worst of their range: basic's upper bound is their delta, to rounding."""
    for a, b in ((0.3, 1.0), (1.0, 0.3), (2.0, 1e-3), (1e-3, 2.0)):
        share = math.expm1(-b) / math.expm1(-a - b)
        loss = DiscreteLoss(atoms=((a, share), (-b, 1 - share)))
        for epsilon in (0.0, a / 2):
            _, upper = basic.delta_ends(Composition.of(loss), epsilon)
            assert upper == pytest.approx(loss.hockey_stick(epsilon), rel=1e-12)
            assert upper >= loss.hockey_stick(epsilon) * (1 - 1e-15)


@pytest.mark.parametrize("times", [1, 3, 7])
def test_basic_epsilon_is_exact_at_the_accumulated_mass(times: int) -> None:
    """At delta equal to the mass, epsilon is the sum of the largest losses from both sides; a hair below, infinite."""
    composition = Composition.of(ApproximateLoss(epsilon=0.25, delta=0.5)) * times
    mass = 1 - 0.5**times
    assert basic.epsilon_ends(composition, mass) == (0.25 * times, 0.25 * times)
    assert basic.epsilon_ends(composition, math.nextafter(mass, 0))[0] == math.inf
    assert basic.epsilon_ends(composition, math.nextafter(mass, 1))[0] == 0


def test_the_rounded_supremum_of_a_sampled_gaussian_is_no_lower_bound() -> None:
    """Adding a record to a sample of rate q costs less than -ln(1 - q), which rounding may exceed."""
    for rate in (0.01, 0.1, 1 / 3, 0.9):
        bracket = CLOSED.epsilon(Composition.of(SampledGaussianLoss(mu=1, rate=rate, order="add")), 0.0)
        with mp.workdps(40):
            assert bracket.lower <= -mp.log(1 - mpf(rate)) <= bracket.upper
