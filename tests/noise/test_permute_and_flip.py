"""Permute-and-flip: its law, its curve, and claims in rho that the curve alone does not refute."""

import math

import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, certify, verify
from dpaudit.model.measures.claims import MuClaim, RenyiClaim, RhoClaim
from mechanisms import PermuteAndFlip

CHOICE = PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one")
RELEASE = Release(label="choice", mechanism=CHOICE)


@pytest.mark.parametrize("gap", [0.0, 0.7, 3.0])
def test_two_candidates_win_by_a_laplace_distribution_function_of_their_gap(gap: float) -> None:
    logs = CHOICE.log_density(np.arange(2), np.array([gap, 0.0]))
    assert np.exp(logs) == pytest.approx([1 - math.exp(-gap) / 2, math.exp(-gap) / 2], rel=1e-13)


def test_many_candidates_have_the_law_of_the_permutation() -> None:
    """Brute force: candidates in random order, each kept with probability e^(score - largest)."""
    scores = np.array([0.0, -0.3, -1.1, -2.0])
    kept = np.exp(scores - scores.max())
    exact = np.zeros(4)

    def walk(left: tuple[int, ...], weight: float) -> None:
        for i in left:
            share = weight / len(left)
            exact[i] += share * kept[i]
            walk(tuple(j for j in left if j != i), share * (1 - kept[i]))

    walk((0, 1, 2, 3), 1.0)
    assert np.exp(CHOICE.log_density(np.arange(4), scores)) == pytest.approx(exact, rel=1e-12)


def test_a_claim_of_rho_one_half_is_refuted_though_each_point_of_it_is_true() -> None:
    """Truth is at least .97442 at epsilon 2; the pair (0, 0) against (1, -1) shows .72753 of it."""
    certificate = certify(RELEASE, RhoClaim(rho=0.5, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert certificate.tight.rows[0].lower == pytest.approx(0.97442, abs=1e-5)
    assert verify(certificate.to_json()).accepted
    even = np.array([np.exp(CHOICE.log_density(np.arange(2), np.array(s))) for s in ((0.0, 0.0), (1.0, -1.0))])
    orders = np.linspace(1.001, 4, 3000)
    shown = [math.log(float((even[0] ** a * even[1] ** (1 - a)).sum())) / (a - 1) / a for a in orders]
    assert max(shown) == pytest.approx(0.72753, abs=1e-5)


def test_a_larger_rho_is_certified_and_one_between_is_open() -> None:
    for rho, verdict in ((1.1354, "certified"), (1.05, "not_proved"), (0.974, "refuted")):
        certificate = certify(RELEASE, RhoClaim(rho=rho, neighbours="replace_one"))
        assert certificate.verdict == verdict
        assert verify(certificate.to_json()).accepted


def test_a_single_choice_attains_the_laplace_curve_at_every_point() -> None:
    for epsilon in (0.0, 0.5, 1.3):
        certificate = certify(RELEASE, Claim(epsilon=epsilon, delta=0.5, neighbours="replace_one"))
        assert certificate.delta_at(epsilon).lower == pytest.approx(-math.expm1((epsilon - 2) / 2), rel=1e-9)
        assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize("times", [1, 3])
def test_repeated_choices_are_confirmed_in_each_measure(times: int) -> None:
    """A single choice has the curve of Laplace noise, several have one pair's product: both sides say the same."""
    many = Repeat(part=RELEASE, times=times)
    for claim in (
        Claim(epsilon=3.0, delta=1e-3, neighbours="replace_one"),
        RhoClaim(rho=3.0, neighbours="replace_one"),
        MuClaim(mu=1.0, neighbours="replace_one"),
        RenyiClaim(renyi=((2.0, 1.0),), neighbours="replace_one"),
    ):
        assert verify(certify(many, claim).to_json()).accepted


def test_monotone_scores_cost_half() -> None:
    noise = PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="add_remove", scores="monotone")
    certificate = certify(Release(label="choice", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
