"""Betting, one run, two rates at once, witnesses, likelihood ratios: values, laws and planted faults."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits.attacks.likelihood import LikelihoodRatio
from audits.bounds.credible import credible_bound
from audits.bounds.e_process import EProcess, e_process_bound, run_gains
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_epsilon
from audits.bounds.joint import joint_bound, joint_gaussian_bound, joint_p_value
from audits.bounds.one_run import one_run_bound, one_run_p_value
from audits.bounds.trade_offs import GaussianTradeOff, PrivateTradeOff
from audits.procedures.anytime import when_refuted
from audits.procedures.audit import audit
from dpaudit import AuditCase, Claim, Release, Repeat, Sequential
from dpaudit.model.audit_result import Counts
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian
from tests.cases import case_of
from tests.narrowing import present

ONE = Claim(epsilon=1.0, neighbours="replace_one")


def rates(true_positives: int, positives: int, false_positives: int, negatives: int) -> Counts:
    return Counts(
        runs=positives + negatives,
        guesses=0,
        correct=0,
        true_positives=true_positives,
        false_positives=false_positives,
        positives=positives,
        negatives=negatives,
    )


def laplace_case(true: float, score: Callable[..., Any] | None = None) -> AuditCase:
    return case_of("laplace", lambda data, rng, n_runs: data + rng.laplace(0, 1 / true, n_runs), score=score)


def test_one_run_reproduces_published_values() -> None:
    """(m, r, v, delta, alpha) = (1000, 100, 75, 1e-4, .05) gives 0.673, and the ceilings at delta 1e-5."""
    assert one_run_bound(1000, 100, 75, 1e-4, 0.05).epsilon == pytest.approx(0.673, abs=5e-4)
    for guesses, ceiling in ((100, 3.49), (1000, 5.78), (10_000, 7.83), (100_000, 8.13)):
        assert one_run_bound(guesses, guesses, guesses, 1e-5, 0.05).epsilon == pytest.approx(ceiling, abs=0.006)


def test_one_run_without_delta_is_a_binomial_tail() -> None:
    """At delta 0 the p-value is P(B >= v)."""
    expected = stats.binom.sf(74, 100, 1 / (1 + math.exp(-0.5)))
    assert one_run_p_value(1000, 100, 75, 0.5, 0.0) == pytest.approx(expected, rel=1e-12)


def test_wealth_is_a_fair_game_at_the_boundary() -> None:
    """At q = sigma(epsilon) a bet has mean exactly 1, inside it has less, and for small scores it is 1."""
    for score in (1.0, 1.5, 4.0, 12.0):
        for odds in (1.0, 0.3, -1.0):
            share = 1 / (1 + math.exp(-odds))
            gains = np.exp(run_gains(np.array([score, score]), np.array([True, False]), 1.0, 0.0))
            mean = share * gains[0] + (1 - share) * gains[1]
            assert mean == pytest.approx(1.0, abs=1e-12) if odds == 1.0 or score <= 1 else mean < 1
    assert np.all(np.exp(run_gains(np.array([0.7, -0.2]), np.array([True, True]), 1.0, 0.0)) == 1)


def test_wealth_with_atoms_is_fair_only_with_its_price() -> None:
    """The worst (1, 0.05) pair: the mean bet is at most 1 with the price of delta and above 1 without it (the twin)."""
    share = 0.95 / (1 + math.exp(-1.0)) + 0.05
    score = np.array([math.log(share / (1 - share))] * 2)
    labels = np.array([True, False])
    for delta, fair in ((0.05, True), (0.0, False)):
        gains = np.exp(run_gains(score, labels, 1.0, delta))
        assert (share * gains[0] + (1 - share) * gains[1] <= 1 + 1e-12) == fair


def test_the_process_may_be_cut_anywhere() -> None:
    """Runs added in pieces give the wealth of all runs at once."""
    rng = np.random.default_rng(2)
    labels = rng.random(300) < 0.5
    scores = rng.normal(size=300) + labels
    whole = EProcess.fresh(1e-5).extended(scores, labels)
    pieces = EProcess.fresh(1e-5).extended(scores[:111], labels[:111]).extended(scores[111:], labels[111:])
    np.testing.assert_allclose(whole.wealth, pieces.wealth, atol=1e-10)
    assert whole.runs == pieces.runs == 300
    assert e_process_bound(scores[:0], labels[:0], 0.0, 0.05).epsilon == 0


@pytest.mark.parametrize(("score", "median"), [(lambda x: 2 * (np.abs(x) - np.abs(x - 1)), 65), (None, 115)])
def test_half_the_noise_falls_within_few_runs(score: Callable[..., Any] | None, median: int) -> None:
    """Claim 1, true 2, 40 audits: the median number of runs; measured over 200 audits it is 57 and 101."""
    found = [
        audit(
            laplace_case(2.0, score),
            claim=ONE,
            runs=1500,
            rng=np.random.default_rng(seed),
            significance=0.05,
            stop=when_refuted,
        )
        for seed in range(40)
    ]
    assert {result.verdict for result in found} == {"violation"}
    assert np.median([result.runs for result in found]) <= median


@pytest.mark.parametrize("number", [16, pytest.param(30, marks=pytest.mark.slow)])
def test_a_true_claim_survives_the_sequential_audit(number: int) -> None:
    """Audits with learners at the boundary: at most the 1 - 1e-6 quantile of Bin(number, 0.05) fall."""
    found = [
        audit(laplace_case(1.0), claim=ONE, runs=300, rng=np.random.default_rng(seed), stop=when_refuted).verdict
        for seed in range(number)
    ]
    assert found.count("violation") <= stats.binom.isf(1e-6, number, 0.05)


def test_the_joint_test_is_sharper_than_the_union_and_below_the_truth() -> None:
    """At the expected counts of Laplace noise the joint bound lies between Clopper-Pearson and 1."""
    for n in (100, 1000, 100_000):
        counts = rates(round(n / 2), n, round(n / 2 * math.exp(-1)), n)
        assert error_rate_bound(counts, 0.0, 0.05).epsilon < joint_bound(counts, 0.0, 0.05).epsilon < 1
    assert joint_bound(rates(0, 50, 50, 50), 0.0, 0.05).epsilon == 0
    assert joint_bound(rates(0, 0, 5, 10), 0.0, 0.05).epsilon == 0


def test_the_joint_p_value_is_a_p_value_by_enumeration() -> None:
    """All 31 x 31 outcomes at p1 = e p0: P(p <= alpha) <= alpha for every p0 tried."""
    n = 30
    p_values = np.array(
        [[joint_p_value(rates(a, n, b, n), PrivateTradeOff.of(1.0), 0.05) for b in range(n + 1)] for a in range(n + 1)]
    )
    for p0 in (0.02, 0.1, 0.2, 0.3):
        law = np.outer(stats.binom.pmf(range(n + 1), n, math.e * p0), stats.binom.pmf(range(n + 1), n, p0))
        rejected = float(law[p_values < 0.05].sum())
        assert rejected <= 0.05
    assert rejected > 0.005


def test_a_gaussian_curve_and_the_accountants_curve_agree() -> None:
    """Gaussian mu = 1 from its own delta(epsilon): rates of mu = 1.5 refute both curves."""
    counts = rates(round(10_000 * stats.norm.cdf(0.75)), 10_000, round(10_000 * stats.norm.cdf(-0.75)), 10_000)
    grid = tuple(float(e) for e in np.linspace(0, 4, 200))
    own = PrivateTradeOff(points=tuple((e, GaussianLoss(mu=1.0).hockey_stick(e)) for e in grid))
    assert joint_p_value(counts, own, 0.05) < 1e-3
    assert joint_p_value(counts, GaussianTradeOff(mu=1.0), 0.05) < 1e-3
    wide = PrivateTradeOff(points=tuple((e, GaussianLoss(mu=1.5).hockey_stick(e)) for e in grid))
    assert joint_p_value(counts, wide, 0.05) > 0.2
    assert 1.3 < joint_gaussian_bound(counts, 1e-5, 0.05).epsilon / gaussian_epsilon(1.0, 1e-5) < 1.6


def test_a_credible_bound_stays_under_the_frequentist_ceiling_and_survives_zero_errors() -> None:
    """No errors at all neither raise nor exceed what the exact bound could show."""
    perfect = rates(100, 100, 0, 100)
    assert credible_bound(perfect, 0.0, 0.05).epsilon <= error_rate_bound(perfect, 0.0, 0.05).epsilon
    assert "credible" in credible_bound(perfect, 0.0, 0.05).assumption


def test_the_declared_likelihood_ratio_is_the_gaussian_one() -> None:
    """Two labels, one released three times: under the second neighbour mean mu^2 / 2 and variance mu^2."""
    one = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
    two = Gaussian(stddev=4.0, l2_sensitivity=2.0, neighbours="replace_one")
    declaration = Sequential(
        parts=(Release(label="a", mechanism=one), Repeat(part=Release(label="b", mechanism=two), times=3))
    )
    first, second = {"a": np.asarray(0.0), "b": np.zeros(2)}, {"a": np.asarray(1.0), "b": np.array([2.0, 0.0])}

    def run(answers: dict[str, Array], rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return {
            "a": one.release(np.broadcast_to(answers["a"], n_runs), rng),
            "b": two.release(np.broadcast_to(answers["b"], (n_runs, 3, 2)), rng),
        }

    case = case_of("declared", run, (first, second), score=LikelihoodRatio.of(declaration, first, second))
    view = case.run(case.neighbours[1], np.random.default_rng(4), 40_000)
    ratio = present(case.score)(view)
    square = 4 * 0.25
    assert ratio.mean() == pytest.approx(square / 2, abs=5 * math.sqrt(square / 40_000))
    assert ratio.var() == pytest.approx(square, rel=0.05)
    mu = math.sqrt(square)
    claim = Claim(epsilon=gaussian_epsilon(mu, 1e-5), delta=1e-5, neighbours="replace_one")
    result = audit(case, claim=claim, runs=4000, rng=np.random.default_rng(5))
    assert result.verdict != "violation"
    assert result.epsilon_lower > 0.4


def test_answers_may_depend_on_what_came_before() -> None:
    """An adaptive query's answers are functions of the view."""
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    chain = Sequential(parts=(Release(label="a", mechanism=noise), Release(label="b", mechanism=noise)))

    def answers(record: float) -> Callable[..., dict[str, Any]]:
        return lambda view: {"a": np.asarray(record), "b": np.sign(view["a"]) * record}

    score = LikelihoodRatio.of(chain, answers(0.0), answers(1.0))
    view = {"a": np.array([1.0, -1.0]), "b": np.array([1.0, -1.0])}
    np.testing.assert_allclose(score(view), [1.0, -1.0])
