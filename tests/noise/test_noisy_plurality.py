"""Votes of teachers: published numbers of PATE, data-independent, and its law."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit import Claim, Release, Repeat, Sequential, certify, verify
from dpaudit.model.measures.claims import MuClaim, RhoClaim
from mechanisms import Gaussian, NoisyPlurality

VOTE = NoisyPlurality(stddev=40.0, neighbours="replace_one")
ANSWERS = Repeat(part=Release(label="label", mechanism=VOTE), times=1000)


def claimed(epsilon: float) -> Claim:
    return Claim(epsilon=epsilon, delta=1e-5, neighbours="replace_one")


def test_a_thousand_answers_cost_what_gaussian_noise_costs() -> None:
    """Stddev 40, 1,000 answers, delta 1e-5: 4.98331, where Renyi divergences prove 5.3777."""
    certificate = certify(ANSWERS, claimed(4.984))
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper == pytest.approx(4.98331, abs=2e-5)
    assert verify(certificate.to_json()).accepted


def test_confident_answers_cost_their_checks_too() -> None:
    """5,000 checks of stddev 200 beside 1,000 answers of 40: mu 1.172604, epsilon 5.268866."""
    check = Gaussian(stddev=200.0, l2_sensitivity=1.0, neighbours="replace_one")
    checks = Repeat(part=Release(label="largest number of votes", mechanism=check), times=5000)
    certificate = certify(Sequential(parts=(checks, ANSWERS)), claimed(5.27))
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper == pytest.approx(5.268866, abs=2e-5)
    assert verify(certificate.to_json()).accepted


def test_rho_and_mu_are_exact_ratios_from_above() -> None:
    """mu^2 is 2 / 1600 for an answer: a claim of that very rho, 1 / 1600, is met; twin: sqrt(2) forgotten."""
    one = Release(label="label", mechanism=VOTE)
    assert certify(one, RhoClaim(rho=1 / 1600, neighbours="replace_one")).verdict == "certified"
    assert certify(one, RhoClaim(rho=0.5 / 1600, neighbours="replace_one")).verdict != "certified"
    certificate = certify(one, MuClaim(mu=0.0354, neighbours="replace_one"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted


def test_two_labels_win_by_a_normal_distribution_function() -> None:
    for gap in (0, 1, 60, 400):
        logs = VOTE.log_density(np.arange(2), np.array([gap, 0]))
        assert logs == pytest.approx([norm.logcdf(gap / 40 / math.sqrt(2)), norm.logcdf(-gap / 40 / math.sqrt(2))])


def test_a_false_claim_is_refuted_by_two_labels() -> None:
    """Two labels that swap places show about two thirds of the bound."""
    certificate = certify(ANSWERS, claimed(2.0))
    assert certificate.verdict == "refuted"
    assert verify(certificate.to_json()).accepted
