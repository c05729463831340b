"""The reviewer's questions: exposed people, the intruder's guesses, and the pair most at risk, against other sums."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit import Claim, Release, certify
from dpaudit.accounting.loss_tail import LossTail
from dpaudit.model.deployment import Deployment
from dpaudit.report import Report
from dpaudit.report.compliance.attacker import claimed_delta, exposed_share, intruder_success, reviewer
from dpaudit.report.compliance.audited import most_at_risk
from dpaudit.report.compliance.certified import certified
from dpaudit.report.compliance.fields import Grid
from dpaudit.report.facts import gather
from mechanisms import Gaussian

MU, PRIORS = 1.0, (0.01, 0.1, 0.5)
NOISE = Gaussian(stddev=1.0, l2_sensitivity=MU, neighbours="add_remove")


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a report on one Gaussian release at mu = 1, of 10,000 people."""
    claim = Claim(epsilon=5.0, delta=1e-5, neighbours="add_remove", unit="one person")
    scope = replace(Deployment().scope, number_of_units=10_000)
    certificate = certify(Release(label="sum", mechanism=NOISE), claim)
    return Report(certificate=certificate, created="2026-01-31", deployment=replace(Deployment(), scope=scope))


def questions(report: Report) -> Grid:
    """Return the table of questions."""
    return reviewer(gather(report))


def number(text: str) -> float:
    """Return the number of an answer."""
    plain = text.removeprefix("at most ").split(" of ")[0].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return float(plain.replace(",", "").replace(" × 10", "e"))


def test_the_number_of_exposed_people_covers_the_exact_tail_of_the_loss(report: Report) -> None:
    """L is normal with mean mu^2 / 2 and variance mu^2: the exact share is below the stated one, in expectation."""
    rows = questions(report).rows[:3]
    for prior, (question, by_claim, proved) in zip(PRIORS, rows, strict=True):
        needed = math.log(9) - math.log(prior / (1 - prior))
        exact = 10_000 * norm.sf((needed - MU**2 / 2) / MU)
        assert f"a belief of {prior:g} before" in question
        assert exact <= number(proved) <= number(by_claim) <= 10_000


def test_the_number_of_exposed_people_is_that_of_simulated_attackers(report: Report) -> None:
    """100,000 outputs of the true value, a prior of one half: the posterior passes .9 no more often than stated."""
    outputs = np.random.default_rng(0).normal(MU, 1.0, 100_000)
    posterior = 1 / (1 + np.exp(-(MU * outputs - MU**2 / 2)))
    found = 10_000 * float((posterior > 0.9).mean())
    stated = number(questions(report).rows[2][2])
    assert 0 < found <= stated


def test_the_intruder_is_right_as_often_as_the_best_test_of_a_grid(report: Report) -> None:
    """The largest p TPR + (1 - p)(1 - FPR) over 10,000 thresholds, never above and close below at one half."""
    cuts = np.linspace(-8, 8, 10_001)
    for prior, (_, by_claim, proved) in zip(PRIORS, questions(report).rows[3:], strict=True):
        best = float((prior * norm.sf(cuts - MU) + (1 - prior) * norm.cdf(cuts)).max())
        assert best <= number(proved) + 1e-9
        assert number(proved) <= number(by_claim)
        assert number(proved) == pytest.approx(best, rel=0.02)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_bare_claim_allows_what_its_worst_mechanism_does(delta: float) -> None:
    """Randomised response with atoms of delta attains both answers at every belief."""
    claim = Claim(epsilon=1.5, delta=delta, neighbours="add_remove")
    e = math.exp(1.5)
    ins = np.array([delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e), 0.0])
    outs = ins[::-1]
    for prior in (0.05, 0.3, 0.5):
        best = float(np.maximum(prior * ins, (1 - prior) * outs).sum())
        at = math.log((1 - prior) / prior)
        assert intruder_success(claimed_delta(claim, at), prior) == pytest.approx(best, rel=1e-12)
    tail = LossTail(points=((1.5, delta),))
    assert exposed_share(tail, 0.5) >= delta
    assert exposed_share(tail, 0.9) == 1.0


def test_the_pair_most_at_risk_pays_for_all_pairs(stories: dict[str, Report]) -> None:
    """The largest bound without assumption, and the sum of all significances beside it."""
    audits = next(story.audits for story in stories.values() if story.audits)
    first = replace(audits[0], name="first", epsilon_lower=0.3, significance=0.005, verdict="consistent", bounds=())
    second = replace(first, name="second", epsilon_lower=0.7)
    said = most_at_risk((first, second))
    assert said.startswith("'second'")
    assert "the largest of 2 pairs" in said
    assert said.endswith("except with probability 0.01")
    assert most_at_risk(()) == ""
    assert "above 0" in most_at_risk((replace(first, epsilon_lower=0.0),))
    resting = audits[0]
    assert resting.assumption
    assert "rests on an assumption" in most_at_risk((resting,))


def test_the_questions_are_not_answered_where_no_upper_bound_is_known(stories: dict[str, Report]) -> None:
    """A report whose claim is refuted or whose code differs gives no figure of at most so much."""
    for story in stories.values():
        names = [part.name for part in certified(gather(story))]
        assert ("reviewer" in names) == (not story.void)
