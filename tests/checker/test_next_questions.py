"""What a certificate answers after its verdict: epsilon at another delta, delta at another epsilon."""

import math
from dataclasses import replace
from itertools import pairwise

import mpmath
import pytest

import dpaudit as dp
from dpaudit.render.certificate import delta_phrase
from dpaudit.wording.certificates import bracket_phrase
from mechanisms import Gaussian, Laplace

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")
GAUSSIAN = dp.Release(label="sum", mechanism=Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="add_remove"))
LAPLACE = dp.Release(label="count", mechanism=Laplace(scale=8.0, l1_sensitivity=1.0, neighbours="add_remove"))
TREES: dict[str, dp.Declaration] = {
    "gaussian": GAUSSIAN,
    "laplace": dp.Repeat(part=LAPLACE, times=5),
    "mixed": dp.Sequential(parts=(GAUSSIAN, LAPLACE)),
    "stated": dp.Stated(epsilon=0.5, delta=1e-6, source="a vendor"),
}
DELTAS = (0.0, 1e-9, 1e-6, 1e-5, 1e-3, 0.1)
EPSILONS = (0.0, 0.1, 0.5, 1.0, 3.0)


@pytest.fixture(params=TREES)
def certificate(request: pytest.FixtureRequest) -> dp.Certificate:
    return dp.certify(TREES[request.param], CLAIM)


def test_at_the_claim_the_answers_are_those_of_the_certificate(certificate: dp.Certificate) -> None:
    assert certificate.epsilon_at(CLAIM.delta) == certificate.tight.epsilon
    assert certificate.delta_at(CLAIM.epsilon) == certificate.tight.delta


def test_elsewhere_the_answers_are_those_of_the_accountant(certificate: dp.Certificate) -> None:
    form = dp.fold(certificate.declaration, CLAIM.neighbours)
    for delta in DELTAS:
        assert certificate.epsilon_at(delta) == dp.bracket_epsilon(form, delta)
    for epsilon in EPSILONS:
        assert certificate.delta_at(epsilon) == dp.bracket_delta(form, epsilon)


def test_a_certificate_read_from_json_answers_the_same(certificate: dp.Certificate) -> None:
    again = dp.Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert isinstance(again, dp.Certificate)
    assert again.epsilon_at(1e-7) == certificate.epsilon_at(1e-7)


def test_both_curves_fall_and_one_undoes_the_other(certificate: dp.Certificate) -> None:
    epsilons = [certificate.epsilon_at(delta) for delta in DELTAS]
    for smaller, larger in pairwise(epsilons):
        assert larger.lower <= smaller.upper
    deltas = [certificate.delta_at(epsilon) for epsilon in EPSILONS]
    for smaller, larger in pairwise(deltas):
        assert larger.lower <= smaller.upper
    for delta in DELTAS[2:]:
        there = certificate.epsilon_at(delta).upper
        assert certificate.delta_at(there).lower <= delta


def test_the_answers_enclose_the_closed_form_of_one_laplace_release() -> None:
    """delta(epsilon) = 1 - e^((epsilon - 1/8) / 2) for one release of scale 8 and sensitivity 1."""
    certificate = dp.certify(LAPLACE, CLAIM)
    exact = 0.0487705754992860  # 1 - exp(-0.05), at epsilon 0.025
    bracket = certificate.delta_at(0.025)
    assert bracket.lower <= exact <= bracket.upper
    assert certificate.epsilon_at(0.0).upper == pytest.approx(0.125)


@pytest.mark.parametrize("delta", [-0.1, 1.0, float("nan")])
def test_a_delta_out_of_range_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        dp.certify(GAUSSIAN, CLAIM).epsilon_at(delta)


@pytest.mark.parametrize("epsilon", [-0.1, float("inf")])
def test_an_epsilon_out_of_range_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        dp.certify(GAUSSIAN, CLAIM).delta_at(epsilon)


@pytest.mark.parametrize("epsilon", [40.0, 60.0, 300.0])
@pytest.mark.parametrize("times", [1, 3])
def test_a_delta_too_small_for_a_float_has_a_logarithm_that_bounds_it(epsilon: float, times: int) -> None:
    """Against Balle and Wang's formula with 60 digits: never below the truth, and within one part in a hundred."""
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    tree = dp.Repeat(part=dp.Release(label="sum", mechanism=noise), times=times)
    certificate = dp.certify(tree, replace(CLAIM, epsilon=epsilon))
    with mpmath.workdps(60):
        mu, e = mpmath.sqrt(times), mpmath.mpf(epsilon)
        truth = mpmath.log10(mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu))
    found = certificate.log10_delta_at(epsilon)
    assert truth <= found <= truth + abs(truth) / 100


def test_the_logarithm_is_that_of_the_bracket_above_1e_300_and_shown_below() -> None:
    """Zero has none, sampled noise has a floor, and the broken twin says no more than 'below' the smallest float."""
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    certificate = dp.certify(dp.Release(label="sum", mechanism=noise), replace(CLAIM, epsilon=60.0))
    assert certificate.log10_delta_at(1.0) == pytest.approx(math.log10(certificate.delta_at(1.0).upper), rel=1e-12)
    assert delta_phrase(certificate) == "at most 10⁻⁷⁷⁰"
    assert bracket_phrase(certificate.tight.delta) == "below 10⁻³⁰⁰"
    pure = dp.Release(label="sum", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
    assert dp.certify(pure, replace(CLAIM, epsilon=60.0)).log10_delta_at(60.0) == -math.inf
