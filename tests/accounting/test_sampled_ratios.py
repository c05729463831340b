"""Every closed form of a sample against 60 digits: rates 1e-60 to 1, losses 1e-16 to 700, by the rate's decimal."""

import math
from collections import Counter
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, Subsample, certify, verify
from dpaudit.accounting.zeroed import _loss as zeroed_loss
from dpaudit.accounting.zeroed import is_cut, zeroed_above
from dpaudit.engines.basic import total_supremum
from dpaudit.engines.single import single_delta
from dpaudit.model import losses
from dpaudit.model.losses.mixture import binomial_weights
from dpaudit.model.losses.sampled_ratios import absent, log_absent, loss_before, sampled_loss, share_without
from dpaudit.verifier import integers, schemes
from dpaudit.verifier import losses as checker
from dpaudit.verifier.numerics import rates
from mechanisms import DiscreteLaplace

DIGITS = 160
CLOSE = 1e-9
RATES = [1e-60, 1e-40, 1e-17, 1e-8, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-9, 1 - 2e-14, 1 - 1e-16]
LOSSES = [1e-16, 1e-9, 0.01, 0.9, 1.1, 36.0, 138.5, 690.0, 700.0]


@pytest.fixture(autouse=True)
def _digits() -> Any:
    """Compute truths with many digits."""
    with mpmath.workdps(DIGITS):
        yield


def rate_of(rate: float) -> Any:
    """Return the decimal that a rate stands for."""
    return mpmath.mpf(repr(rate))


def truth(loss: float, rate: float) -> Any:
    """Return ln(1 - q + q e^loss)."""
    return mpmath.log(1 - rate_of(rate) + rate_of(rate) * mpmath.exp(mpmath.mpf(loss)))


def near(found: float, exact: Any, relative: float = 2e-15) -> bool:
    """Return whether a float is as near to the truth as that."""
    return bool(abs(mpmath.mpf(found) - exact) <= relative * abs(exact))


def random_points() -> list[tuple[float, float]]:
    """Return losses with rates at all scales, rates near 1 among them; the same at each run."""
    rng = np.random.default_rng(0)
    points = []
    for _ in range(400):
        rate = 10 ** rng.uniform(-60, 0) if rng.random() < 0.6 else 1 - 10 ** rng.uniform(-15.9, -0.1)
        points.append((float(rng.choice([-1, 1]) * 10 ** rng.uniform(-16, math.log10(700))), float(rate)))
    return points


def points() -> list[tuple[float, float]]:
    """Return all losses, of either sign and a little beyond those of a float's exponent, with all rates."""
    return [(sign * loss, rate) for loss in (*LOSSES, 710.0) for sign in (1, -1) for rate in RATES] + random_points()


@pytest.mark.parametrize("sampled", [sampled_loss, lambda v, q: float(rates.sampled(np.array(v), q))])
def test_a_sampled_loss_is_right_to_the_last_digits(sampled: Any) -> None:
    """The project's function and the checker's; the logarithm of a sum alone cancels at small rates (twin below)."""
    for loss, rate in points():
        assert near(sampled(loss, rate), truth(loss, rate)), (loss, rate)
    for rate in RATES:
        assert near(sampled(-math.inf, rate), mpmath.log(1 - rate_of(rate)))
        assert sampled(math.inf, rate) == math.inf
        assert sampled(0.0, rate) == 0
    assert sampled(2.0, 1.0) == 2
    assert sampled(2.0, 0.0) == 0


def test_the_cancelling_form_is_caught() -> None:
    """Twin: L + ln(q + p e^-L) is 0 at a rate of 1e-17, and ln(1 + q (e^L - 1)) loses p near a rate of 1."""
    assert not near(5.0 + math.log(1e-17 + (1 - 1e-17) * math.exp(-5.0)), truth(5.0, 1e-17), 0.1)
    rate = 1 - 2e-14
    assert not near(math.log1p(rate * math.expm1(-36.0)), truth(-36.0, rate), 1e-5)


def test_the_inverse_and_the_shares_of_a_sample_are_right() -> None:
    """What is mapped to epsilon, the chance to lack the record, and the factor of an added record."""
    for loss, rate in points():
        epsilon, q = abs(loss), rate_of(rate)
        assert near(loss_before(epsilon, rate), mpmath.log1p(mpmath.expm1(mpmath.mpf(epsilon)) / q))
        assert near(absent(rate), 1 - q)
        assert near(log_absent(rate), mpmath.log(1 - q))
        assert near(rates.absent(rate), 1 - q)
        assert near(rates.log_absent(rate), mpmath.log(1 - q))
        share = 1 - (1 - q) * mpmath.exp(mpmath.mpf(epsilon))
        if share > q / 2:
            assert near(share_without(epsilon, rate), share, 1e-14)


@pytest.mark.parametrize("rate", RATES)
def test_the_largest_loss_of_a_sample_is_no_less_than_the_truth(rate: float) -> None:
    """In both orders of the neighbours, of the project and of the checker."""
    for loss in LOSSES:
        sample = losses.SampledLoss(inside=((losses.LaplaceLoss(shift=loss), 1),), rate=rate)
        held = ("map", ((("laplace", loss), 1),), rate, "remove")
        for order, other, exact in (
            (sample, held, truth(loss, rate)),
            (sample.reversed(), checker.reverse(held), -truth(-loss, rate)),
        ):
            assert exact <= mpmath.mpf(order.supremum) <= exact * (1 + CLOSE) + mpmath.mpf("2e-300")
            assert near(checker.supremum(other), exact, 1e-12)
            assert total_supremum(losses.Composition.of(order))[0] <= exact


def gaussian(mu: Any, epsilon: Any) -> Any:
    """Return the delta of N(mu, 1) against N(0, 1)."""
    tail = [mpmath.erfc(-(sign * mu / 2 - epsilon / mu) / mpmath.sqrt(2)) / 2 for sign in (1, -1)]
    return tail[0] - mpmath.exp(epsilon) * tail[1]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mu", [0.01, 1.0, 5.0])
def test_a_sampled_gaussian_is_bracketed_closely(rate: float, mu: float) -> None:
    """Upper ends are never below the truth, lower ends never above, and both are near it."""
    q = rate_of(rate)
    for share in (0.0, 0.5, 3.0):
        epsilon = share * rate if rate < 0.4 else share / 10
        e = mpmath.mpf(epsilon)
        outer = 1 - (1 - q) * mpmath.exp(e)
        removed = q * gaussian(mpmath.mpf(mu), mpmath.log1p(mpmath.expm1(e) / q))
        added = outer * gaussian(mpmath.mpf(mu), -mpmath.log((mpmath.exp(-e) - 1 + q) / q)) if outer > 0 else 0
        for order, exact in (("remove", removed), ("add", added)):
            low, high = single_delta(losses.SampledGaussianLoss(mu=mu, rate=rate, order=order), epsilon)  # type: ignore[arg-type]
            assert low <= exact <= high
            if exact > 1e-9 * rate:
                assert high - low <= CLOSE * exact, (order, epsilon)


@pytest.mark.parametrize("rate", RATES[:7])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
def test_a_record_against_its_opposite_is_bracketed_closely(rate: float, noise: Any, mu: float) -> None:
    """Two mixtures of shifts that share their largest weight: at rates below 1e-15 the upper end was nothing."""
    sides = ((0.0, absent(rate)), (mu, rate)), ((-mu, rate), (0.0, absent(rate)))
    for epsilon in (0.0, rate / 2, 1.5 * rate):
        low, high = single_delta(losses.MixtureLoss(above=sides[0], below=sides[1], noise=noise), epsilon)
        exact = opposite(rate, mu, epsilon, noise)
        assert low <= exact <= high
        assert high - low <= CLOSE * exact or exact < 1e-290


def opposite(rate: float, mu: float, epsilon: float, noise: str) -> Any:
    """Return the delta of (1 - q) N(0) + q N(mu) against (1 - q) N(0) + q N(-mu): the best half line."""
    q, x = rate_of(rate), mpmath.exp(mpmath.mpf(epsilon))

    def tail(z: Any) -> Any:
        if noise == "gaussian":
            return mpmath.erfc(z / mpmath.sqrt(2)) / 2
        return mpmath.exp(-z) / 2 if z > 0 else 1 - mpmath.exp(z) / 2

    def ratio(z: Any) -> Any:
        shapes = [mpmath.exp(-((z - s) ** 2) / 2 if noise == "gaussian" else -abs(z - s)) for s in (0, mu, -mu)]
        return ((1 - q) * shapes[0] + q * shapes[1]) / ((1 - q) * shapes[0] + q * shapes[2])

    low, high = (mpmath.mpf(-60), mpmath.mpf(400)) if noise == "gaussian" else (-mpmath.mpf(mu), mpmath.mpf(mu))
    if ratio(high) <= x:
        return mpmath.mpf(0)
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) <= x else (low, middle)
    law = [(1 - q) * tail(high) + q * tail(high - sign * mu) for sign in (1, -1)]
    return law[0] - x * law[1]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 5.0, 100.0, 650.0])
def test_a_sampled_response_is_bracketed_closely(rate: float, epsilon: float) -> None:
    """Two atoms on a sample: delta at 0 and at half of the largest loss, in both orders; the checker's atoms too."""
    odds = math.exp(-epsilon)
    told = losses.DiscreteLoss(atoms=((-epsilon, odds / (1 + odds)), (epsilon, 1 / (1 + odds))), symmetric=True)
    sampled = losses.outer_losses(losses.sampled_atoms(told, rate), above=True)
    part = Counter([checker.black_box(epsilon)])
    q, e = rate_of(rate), mpmath.mpf(epsilon)
    first = 1 / (1 + mpmath.exp(-e))
    under_p, under_q = q * first + (1 - q) * (1 - first), 1 - first
    for share in (0, 0.5):
        at = share * truth(epsilon, rate)
        low, high = single_delta(sampled, float(at))
        exact = under_p - mpmath.exp(mpmath.mpf(float(at))) * under_q
        assert low <= exact <= high
        assert high - low <= CLOSE * exact
    back = single_delta(sampled.reversed(), 0.0)
    exact = first - (q * (1 - first) + (1 - q) * first)
    assert back[0] <= exact <= back[1]
    assert back[1] - back[0] <= CLOSE * exact
    (_, atoms, *_) = integers.mapped(part, rate)
    if rate < 1:
        assert near(atoms[-1][0], truth(epsilon, rate), 1e-14)
        assert near(atoms[-1][1], under_p, 1e-13)
    (boxed,) = schemes._boxed(part, rate)
    assert near(boxed[1][-1][0], truth(epsilon, rate), 1e-14)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("trials", [1, 5, 400, 10_000, 10**18])
def test_binomial_weights_are_right_and_leave_out_next_to_nothing(rate: float, trials: int) -> None:
    """The project's weights and the checker's, over all numbers of successes above 1e-300."""
    if trials * min(rate, 1 - rate) > 1e6:
        return
    q, first_found = rate_of(rate), binomial_weights(trials, rate)
    found = list(enumerate(first_found[1], first_found[0]))
    for weights in (found, rates.binomial(trials, rate)):
        kept = weights[:: max(1, len(weights) // 40)]
        for j, weight in kept:
            exact = mpmath.binomial(trials, j) * q**j * (1 - q) ** (trials - j)
            assert near(weight, exact, CLOSE), (trials, j)
        assert math.fsum(weight for _, weight in weights) == pytest.approx(1, rel=1e-14)
        for j in (weights[0][0] - 1, weights[-1][0] + 1):
            if 0 <= j <= trials:
                assert mpmath.binomial(trials, j) * q**j * (1 - q) ** (trials - j) < mpmath.mpf("1e-300")


@pytest.mark.parametrize("rate", [1e-60, 1e-12, 1e-3, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("mu", [0.001, 1.0, 20.0])
def test_the_losses_of_a_zeroed_record_are_right(rate: float, mu: float) -> None:
    """A record among opposite ones against its zero; the law that is cut from it lies nowhere below."""
    at = np.array([1.5 * mu + 0.5, 2 * mu + 3.0])
    q, found = rate_of(rate), zeroed_loss(at, ((0.0, absent(rate)), (2 * mu, rate)), ((0.0, absent(rate)), (mu, rate)))
    for z, loss in zip(at.tolist(), found.tolist(), strict=True):
        laws = [(1 - q) + q * mpmath.exp(m * mpmath.mpf(z) - mpmath.mpf(m) ** 2 / 2) for m in (2 * mu, mu)]
        assert near(loss, mpmath.log(laws[0] / laws[1]), CLOSE)
    exact = q * (mpmath.erfc(-mpmath.mpf(mu) / 2 / mpmath.sqrt(2)) - 1)
    assert is_cut(mu, rate) == (mu < 20 or rate < 0.9)
    assert not is_cut(mu, rate) or exact <= zeroed_above(mu, rate).hockey_stick(0.0) * (1 + 1e-13)


@pytest.mark.parametrize("rate", [1e-17, 1e-9, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize("scale", [0.1, 0.2, 0.3, 0.5])
def test_integer_noise_on_a_rare_sample_is_certified_at_its_largest_loss(rate: float, scale: float) -> None:
    """Losses above 1 used to cancel: claims of nothing were certified, or engines disagreed."""
    noise = DiscreteLaplace(scale=scale, l1_sensitivity=1, neighbours="add_remove")
    sample = Subsample(part=Release(label="count", mechanism=noise), rate=rate)
    largest = truth(1 / scale, rate)
    for claimed, verdict in ((float(largest) * 1.001, "certified"), (float(largest) * 0.999, "refuted")):
        certificate = certify(sample, Claim(epsilon=claimed, delta=0.0, neighbours="add_remove"))
        assert certificate.verdict == verdict
        assert verify(certificate.to_json()).accepted
    many = certify(Repeat(part=sample, times=10**17), Claim(epsilon=0.0, delta=0.0, neighbours="add_remove"))
    assert many.verdict == "refuted"


def test_a_whole_gaussian_is_its_own_sample() -> None:
    """At a rate next to 1 the curve of a sampled Gaussian release is next to that of the release."""
    sampled = single_delta(losses.SampledGaussianLoss(mu=1.0, rate=1 - 1e-15), 1.0)
    assert sampled[1] == pytest.approx(losses.GaussianLoss(mu=1.0).hockey_stick(1.0), rel=1e-12)
