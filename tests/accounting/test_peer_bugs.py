"""Defects that accountants have shipped, each as a question that ours must answer rightly."""

import math

import pytest

from dpaudit import Claim, Release, Repeat, Subsample, bracket_epsilon, certify, fold
from dpaudit.engines import CLOSED, TILTED
from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss, LaplaceLoss
from mechanisms.gaussian import Gaussian
from mechanisms.randomised_response import RandomisedResponse
from tests.accounting import oracle


def test_b1_noise_given_as_an_integer_is_not_ignored() -> None:
    """PoissonSampled(0.01, 100 Gaussians of sigma 1) x 10: about 204.7 for 1 and for 1.0, not 1.035 for one of them."""
    for sigma in (1, 1.0):
        release = Release(label="g", mechanism=Gaussian(stddev=sigma, l2_sensitivity=1, neighbours="add_remove"))
        tree = Repeat(part=Subsample(part=Repeat(part=release, times=100), rate=0.01, scheme="poisson"), times=10)
        bracket = bracket_epsilon(fold(tree, "add_remove"), 1e-5)
        assert bracket.lower > 100
        assert bracket.upper < 400


def test_b6_optimal_composition_does_not_overflow() -> None:
    """A million black boxes of 0.001 are evaluated in log space: near the Gaussian limit of mu 1, below 10."""
    bracket = TILTED.epsilon(Composition.of(ApproximateLoss(epsilon=0.001)) * 1_000_000, 1e-5)
    assert bracket.upper - bracket.lower <= 1e-3
    assert bracket.lower == pytest.approx(4.3772, abs=1e-2)


def test_b7_the_window_covers_the_sum_of_large_pure_losses() -> None:
    """Pure 2.0 x 20 at delta 1e-5 is about 40, not 36; the transform and the sum of all agree."""
    composition = Composition.of(ApproximateLoss(epsilon=2.0)) * 20
    bracket = TILTED.epsilon(composition, 1e-5).intersect(CLOSED.epsilon(composition, 1e-5))
    assert bracket.lower == pytest.approx(40.0, abs=1e-3)
    assert bracket.upper <= 40.0 + 1e-9


def test_b9_large_epsilon_is_not_capped() -> None:
    """A hundred Gaussians of sigma 20 and next to nothing cost 1.993; tests of engines have epsilons above ln 100."""
    gaussians = (
        Composition.of(GaussianLoss(mu=0.05), LaplaceLoss(shift=1e-9)) + Composition.of(GaussianLoss(mu=0.05)) * 99
    )
    bracket = TILTED.epsilon(gaussians, 1e-5)
    assert bracket.upper == pytest.approx(1.993, abs=2e-3)
    assert bracket.lower > 0


@pytest.mark.parametrize(("epsilon", "times"), [(0.025, 100), (0.1, 100), (0.3, 7), (0.7, 3), (1e-3, 1000)])
def test_black_boxes_asked_about_their_rounded_sum_are_bracketed(epsilon: float, times: int) -> None:
    """At the float next to times x epsilon the true delta can be positive (1e-46 and less), and zero is no upper bound.

    100 releases at a tenth of a tenth and a claim equal to their sum, in floats, do not set engines against each other.
    """
    composition = Composition.of(ApproximateLoss(epsilon=epsilon)) * times
    total = times * epsilon
    positive = 0
    for target in (total, math.nextafter(total, 0), math.nextafter(total, math.inf), total * (1 - 1e-13)):
        truth = oracle.true_delta(composition, target, 80).real
        bracket = TILTED.delta(composition, target)
        assert bracket.lower <= truth <= bracket.upper, target
        positive += truth > 0
        bracket.intersect(CLOSED.delta(composition, target))
    assert positive >= 2


def test_a_hundred_small_responses_against_a_rounded_claim_are_certified() -> None:
    """100 responses of 0.025 in pairs meet (2.5, 1e-5) with engines in agreement: the sum of 0.1 is a hair above."""
    for epsilon, times in ((0.025, 100), (0.1, 25)):
        part = Repeat(part=Release(label="r", mechanism=RandomisedResponse(epsilon=epsilon)), times=times)
        assert certify(part, Claim(epsilon=2.5, delta=1e-5, neighbours="replace_one")).verdict == "certified"
    assert TILTED.delta(Composition.of(ApproximateLoss(epsilon=0.025)) * 100, 2.5).upper > 3e-46
