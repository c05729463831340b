"""Mechanisms that choose: exact curves, noisy maxima against closed forms, and votes of teachers."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit import Claim, Release, Repeat, Sequential, certify, verify
from dpaudit.model.measures.claims import MuClaim, RhoClaim
from dpaudit.model.mechanism import Array
from mechanisms import Exponential, Gaussian, NoisyPlurality, PermuteAndFlip, RandomisedResponse, ReportNoisyMax


def hockey_stick(log_p: Array, log_q: Array, epsilon: float) -> float:
    """Return delta(epsilon) of two finite laws."""
    return float(np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0).sum())


def law(mechanism: Exponential | PermuteAndFlip | ReportNoisyMax, scores: Array | list[float]) -> Array:
    """Return the log probability of every candidate."""
    return mechanism.log_density(np.arange(len(scores)), np.asarray(scores, dtype=float))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_exponential_mechanism_attains_its_curve_at_every_point_but_by_another_pair_each_time(
    epsilon: float,
) -> None:
    mechanism = Exponential(epsilon=epsilon, linf_sensitivity=2.0, neighbours="replace_one")
    loss = mechanism.loss()
    for asked in np.linspace(-0.9, 0.9, 13) * epsilon:
        # Losses (epsilon + asked) / 2 and less by epsilon: the mass that makes them so, and a gap that makes the mass.
        upper = (epsilon + asked) / 2
        mass = -math.expm1(upper - epsilon) / -math.expm1(-epsilon)
        gap = (math.log(mass) - math.log1p(-mass)) * 2 * 2.0 / epsilon
        first, second = np.array([gap, 0.0]), np.array([gap - 2.0, 2.0])
        shown = hockey_stick(law(mechanism, first), law(mechanism, second), asked)
        assert shown == pytest.approx((math.exp(epsilon / 2) - math.exp(asked / 2)) ** 2 / math.expm1(epsilon))
        assert shown * (1 - 1e-12) <= loss.hockey_stick(asked) <= shown * (1 + 1e-4)
    assert loss.supremum == epsilon


@pytest.mark.parametrize(
    "mechanism",
    [
        Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="replace_one"),
        ReportNoisyMax(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one"),
        PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one"),
    ],
)
def test_no_pair_of_scores_exceeds_the_stated_loss(mechanism: Exponential | PermuteAndFlip | ReportNoisyMax) -> None:
    rng = np.random.default_rng(1)
    loss, worst = mechanism.loss(), 0.0
    for _ in range(150):
        candidates = int(rng.integers(2, 6))
        first = rng.normal(0, 3, candidates)
        second = first + rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], candidates)
        log_p, log_q = law(mechanism, first), law(mechanism, second)
        worst = max(worst, float(np.abs(log_p - log_q).max()))
        for epsilon in (-1.0, 0.0, 0.4, 1.0, 1.8):
            assert hockey_stick(log_p, log_q, epsilon) <= loss.hockey_stick(epsilon) + 1e-9
    assert 0.6 * loss.supremum < worst <= loss.supremum + 1e-9


def test_half_the_noise_would_exceed_the_stated_loss_of_a_noisy_maximum() -> None:
    # The broken twin: the guarantee for scores that all move in one direction, used where they may cross.
    mechanism = ReportNoisyMax(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one")
    first, second = np.array([0.0, 6.0]), np.array([1.0, 5.0])
    assert np.abs(law(mechanism, first) - law(mechanism, second)).max() > 1.7


def test_the_winner_of_two_noisy_scores_has_the_closed_form() -> None:
    mechanism = ReportNoisyMax(scale=1.5, linf_sensitivity=1.0, neighbours="replace_one")
    for gap in (0.0, 0.3, 4.0, 60.0):
        loser = math.log(0.5) - gap / 1.5 + math.log1p(gap / 3.0)
        assert law(mechanism, [gap, 0.0])[1] == pytest.approx(loser, rel=1e-9)


def test_randomised_response_is_stated_for_replacement_only() -> None:
    with pytest.raises(ValueError, match="neighbours='add_remove'"):
        RandomisedResponse(epsilon=1.0, neighbours="add_remove")
    with pytest.raises(ValueError, match="categories in 0"):
        RandomisedResponse(epsilon=1.0).release(np.array([0, 2]), np.random.default_rng(1))
    with pytest.raises(ValueError, match="epsilon=800 to be above 0, at most 700"):
        RandomisedResponse(epsilon=800)


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


def test_the_checker_rejects_no_refutation_of_votes_beyond_all_floats() -> None:
    """The reversed law of 20,000 nats has no mass in floats: read as a Gaussian of mu (), it ended in a TypeError."""
    votes = Release(label="label", mechanism=NoisyPlurality(stddev=1.0, voters=100, neighbours="replace_one"))
    certificate = certify(votes, MuClaim(mu=0.0, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert not verify(certificate.to_json()).complaints
