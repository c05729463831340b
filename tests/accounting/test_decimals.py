"""A number means its shortest decimal, and the float nearest to a ratio stands for the ratio."""

import math
from fractions import Fraction
from itertools import product

import pytest

import dpaudit as dp
from dpaudit.accounting.additive_costs import cost_of, pure, zcdp
from dpaudit.budgets.filters import Filter, basic_filter
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Mechanism
from dpaudit.verifier import verify
from mechanisms import BallLaplace, DiscreteLaplace, Exponential, Gaussian, Laplace, RandomisedResponse, ReportNoisyMax

SOME = tuple(product((1, 3, 10, 333, 1000), (1, 7, 10, 97)))


def claim(epsilon: float, delta: float = 0.0) -> dp.Claim:
    return dp.Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")


def counts(scale: float, times: int = 1) -> dp.Declaration:
    """Laplace noise on a count, so often."""
    noise = Laplace(scale=scale, l1_sensitivity=1, neighbours="replace_one")
    return dp.Repeat(part=dp.Release(label="count", mechanism=noise), times=times)


@pytest.mark.parametrize(("times", "scale"), SOME)
def test_k_releases_of_scale_b_meet_k_over_b_and_nothing_clearly_below(times: int, scale: int) -> None:
    """Brackets and verdict; a certificate that is met says so to the checker, too."""
    met = dp.certify(counts(scale, times), claim(times / scale))
    assert met.verdict == "certified"
    assert met.tight.epsilon.lower == met.tight.epsilon.upper == times / scale
    assert met.tight.delta.upper == 0
    assert verify(met.to_json()).complaints == ()
    form = dp.fold(counts(scale, times), "replace_one")
    assert dp.bracket_epsilon(form, 0.0).lower > times / scale * (1 - 1e-9)


def test_the_binary_reading_would_refute_true_claims() -> None:
    """The twin: shifts as the floats that they are, against claims as the floats that they are."""
    wrong = [(k, b) for k, b in SOME if k * Fraction(1 / b) > Fraction(k / b)]
    assert len(wrong) >= 3


@pytest.mark.parametrize(
    ("tree", "epsilon", "verdict"),
    [
        (dp.Sequential(parts=(counts(10), counts(5))), 0.3, "certified"),
        (dp.Group(part=counts(10), size=3), 0.3, "certified"),
        (dp.Repeat(part=dp.Stated(epsilon=0.1, source="x"), times=3), 0.3, "stated"),
        (dp.Group(part=dp.Stated(epsilon=0.1, source="x"), size=3), 0.3, "stated"),
    ],
)
def test_sums_and_groups_of_tenths_are_tenths(tree: dp.Declaration, epsilon: float, verdict: str) -> None:
    assert dp.certify(tree, claim(epsilon)).verdict == verdict
    assert dp.certify(tree, claim(math.nextafter(epsilon, 0) * (1 - 1e-12))).verdict not in ("certified", "stated")


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (DiscreteLaplace(scale=10, l1_sensitivity=1, neighbours="replace_one"), 0.3),
        (ReportNoisyMax(scale=20, linf_sensitivity=1.0, neighbours="replace_one"), 0.3),
        (RandomisedResponse(epsilon=0.1, neighbours="replace_one"), 0.3),
        (RandomisedResponse(epsilon=0.1, categories=4, neighbours="replace_one"), 0.3),
        (BallLaplace(scale=20, l2_sensitivity=1.0, dimension=4, neighbours="replace_one"), 0.3),
    ],
)
def test_three_releases_of_a_tenth_cost_three_tenths(mechanism: object, epsilon: float) -> None:
    tree = dp.Repeat(part=dp.Release(label="x", mechanism=mechanism), times=3)  # type: ignore[arg-type]
    certificate = dp.certify(tree, claim(epsilon))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).complaints == ()
    assert dp.certify(tree, claim(epsilon * 0.99)).verdict != "certified"


def test_stated_masses_are_decimals() -> None:
    one = dp.Stated(epsilon=0.1, delta=1e-6, source="x")
    assert dp.certify(one, claim(0.1, 1e-6)).verdict == "stated"
    twice = dp.certify(dp.Repeat(part=one, times=2), claim(0.2, 2e-6))
    assert twice.tight.delta.upper <= 2e-6
    assert twice.verdict == "stated"


def test_the_exponential_mechanism_has_its_own_rho_and_no_other_pure_one_has_it() -> None:
    """epsilon^2 / 8 by its bounded range; report noisy max and randomised response cost more at the same epsilon.

    The first is checked on its own curve: two candidates whose utilities cross have the losses epsilon / 2 and
    -epsilon / 2, whose Renyi divergence of order a is at most a epsilon^2 / 8.
    """
    relation: Neighbours = "replace_one"
    prices = {}
    noises: tuple[Mechanism, ...] = (
        Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours=relation),
        ReportNoisyMax(scale=2.0, linf_sensitivity=1.0, neighbours=relation),
        RandomisedResponse(epsilon=1.0, neighbours=relation),
    )
    for noise in noises:
        cost = cost_of(dp.Release(label="x", mechanism=noise), claim(1.0, 1e-6), zcdp)
        assert cost is not None
        prices[noise.name] = cost.amount
    assert float(prices["exponential"]) == pytest.approx(1 / math.expm1(1) - 1 + math.log(math.expm1(1)), rel=1e-11)
    assert float(prices["report_noisy_max"]) == pytest.approx(math.exp(-1), rel=1e-12)
    assert float(prices["randomised_response"]) == pytest.approx(math.tanh(0.5), rel=1e-12)
    for order in (1.01, 2.0, 8.0, 64.0):
        high, low = math.exp(0.5), math.exp(-0.5)
        moment = (high**order + low ** (order - 1)) / (1 + high)
        assert math.log(moment) / (order - 1) <= order / 8 + 1e-12


def test_prices_and_limits_are_fractions() -> None:
    """Ten bookings of 0.2 fit in 2, an eleventh does not; rho of a Gaussian of scale 10 is 1/200."""
    spending = basic_filter(claim(2.0))
    for _ in range(10):
        found = spending.spend(dp.Stated(epsilon=0.2, source="a booking"))
        assert isinstance(found, Filter)
        spending = found
    assert not isinstance(spending.spend(dp.Stated(epsilon=1e-9, source="a booking")), Filter)
    cost = cost_of(counts(10, 3), claim(1.0), pure)
    assert cost is not None
    assert cost.amount == Fraction(3, 10)
    noise = dp.Release(label="x", mechanism=Gaussian(stddev=10.0, l2_sensitivity=1.0, neighbours="replace_one"))
    rho = cost_of(noise, claim(1.0, 1e-6), zcdp)
    assert rho is not None
    assert rho.amount == Fraction(1, 200)
