"""Earned power: the limit for outputs with few values, controls, and the verdict that they allow."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from audits import Settings, audit, function_case, when_refuted
from audits.bounds.error_rates import threshold_counts
from audits.decision.controls import far_pair, gross
from audits.decision.earned import would_refute
from audits.decision.other_measures import gaussian_of, judged_by_event, runs_to_refute
from audits.decision.upper_limit import epsilon_limit, hockey_stick_limit
from dpaudit import AuditCase, AuditResult, Claim
from dpaudit.model.audit_result import Counts
from dpaudit.model.measures.claims import MeasuredClaim
from tests.cases import case_of
from tests.narrowing import present

ONE = Claim(epsilon=1.0, neighbours="replace_one")


def run(
    function: Callable[..., Any],
    runs: int = 2000,
    seed: int = 0,
    neighbours: tuple[float, float] = (0.0, 1.0),
    **more: Any,
) -> AuditResult:
    rng = np.random.default_rng(seed)
    return audit(function, neighbours=neighbours, claim=ONE, runs=runs, rng=rng, **more)


def laplace(scale: float) -> Callable[..., Any]:
    return lambda data, rng, n_runs: data + rng.laplace(0, scale, n_runs)


def response(epsilon: float) -> Callable[..., Any]:
    return lambda data, rng, n_runs: np.where(rng.random(n_runs) < 1 / (1 + math.exp(-epsilon)), data, 1 - data)


def test_the_limit_has_its_known_values() -> None:
    """Two tables of counts with values computed elsewhere."""
    first, second = np.array([300, 500, 200, 0]), np.array([420, 430, 150, 0])
    assert hockey_stick_limit(first, second, 0.5) == pytest.approx(0.0436383, abs=1e-6)
    first, second = np.array([90, 60, 1]), np.array([40, 110, 2])
    assert hockey_stick_limit(first, second, 0.8, 0.1) == pytest.approx(0.330595, abs=1e-5)


def test_the_limit_is_below_the_truth_as_rarely_as_promised() -> None:
    """2,000 tables of a ternary law: the limit on epsilon lies below the pair's own in fewer than 5 % of them.

    The twin that counts no confidence limit lies below in about half.
    """
    rng = np.random.default_rng(0)
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    truth = 0.1
    epsilon = math.log((0.5 - truth) / 0.2)
    limits, plain = [], []
    for _ in range(2000):
        first, second = rng.multinomial(800, p), rng.multinomial(800, q)
        limits.append(hockey_stick_limit(np.append(first, 0), np.append(second, 0), epsilon))
        plain.append(np.maximum(second / 800 - math.exp(epsilon) * first / 800, 0).sum())
    assert np.sum(np.array(limits) < truth) <= stats.binom.isf(1e-6, 2000, 0.05)
    assert np.sum(np.array(plain) < truth) > 600


def test_epsilon_is_infinite_where_the_other_cell_is_too_likely() -> None:
    """An unknown output in one run of ten leaves delta .01 out of reach."""
    assert epsilon_limit(np.array([50, 40, 10]), np.array([50, 40, 10]), 0.01) == math.inf


def test_randomised_response_is_consistent_by_its_limit() -> None:
    """Right probabilities: an upper limit above the truth and below the gross size, without any control."""
    result = run(response(1.0), neighbours=(0, 1))
    assert (result.verdict, result.power.kind) == ("consistent", "upper_limit")
    assert 1 < result.power.epsilon < gross(1.0)


def test_one_noisy_number_is_not_refuted_by_a_pair_further_apart() -> None:
    """The control is named with its repetitions, and the size of a violation is not excluded."""
    result = run(laplace(1.0))
    assert (result.verdict, result.power.kind, result.power.epsilon) == ("not_refuted", "far_pair", 2.0)
    assert 400 < result.power.repetitions <= 2000
    assert result.blind_delta == pytest.approx(-math.log(0.01) / result.counts.runs)
    assert run(laplace(1.0), how=Settings(control_runs=0)).verdict == "inconclusive"


def test_a_clamped_number_is_not_refuted_by_repeated_runs() -> None:
    """A pair further apart is clamped to the same pair; two runs as one are caught."""
    result = run(lambda data, rng, n_runs: min(data, 1.0) + rng.laplace(0, 1.0, n_runs))
    assert result.power.kind in ("repeated_runs", "none")
    assert result.verdict == ("not_refuted" if result.power.kind == "repeated_runs" else "inconclusive")


def test_the_case_with_less_noise_makes_it_consistent() -> None:
    """Where the epsilon of the weakened case is known, catching it says that a gross violation would be caught."""

    def case(scale: float) -> AuditCase:
        return case_of(
            "laplace",
            laplace(scale),
            view="o",
            score=lambda view: (np.abs(view) - np.abs(view - 1)) / scale,
            weaker=lambda epsilon: case(1 / epsilon),
        )

    result = audit(case(1.0), claim=ONE, runs=2000, rng=np.random.default_rng(0))
    assert (result.verdict, result.power.kind, result.power.epsilon) == ("consistent", "less_noise", 2.0)


def test_pairs_further_apart() -> None:
    """Numbers, arrays, lists and added records; nothing for what has no distance."""
    assert far_pair((1.0, 3.0), 2) == (1.0, 5.0)
    assert far_pair(([1.0, 2.0], [1.0, 3.0]), 3) == ([1.0, 2.0], [1.0, 5.0])
    first, second = present(far_pair((np.array([1.0, 2.0]), np.array([1.0, 9.0, 2.0])), 3))
    assert sorted(second.tolist()) == [1.0, 2.0, 9.0, 9.0, 9.0]
    assert first.tolist() == [1.0, 2.0]
    assert far_pair(("a", "b"), 2) is None
    assert far_pair((True, False), 2) is None
    assert far_pair((np.zeros(2), np.zeros(5)), 2) is None


def test_the_anytime_audit_earns_its_power_too() -> None:
    """The control is accused by the same anytime audit."""
    rng = np.random.default_rng(0)
    result = audit(laplace(1.0), neighbours=(0.0, 1.0), claim=ONE, runs=600, rng=rng, stop=when_refuted)
    assert result.power.kind in ("far_pair", "none")
    assert result.verdict == ("not_refuted" if result.power.kind == "far_pair" else "inconclusive")


@pytest.mark.parametrize("cases", [500, pytest.param(2000, marks=pytest.mark.slow)])
def test_what_a_control_shows_is_as_rarely_wrong_as_promised(cases: int) -> None:
    """A control whose audit refutes with probability .85 is called caught in at most 10 % of all cases.

    One that always refutes is called caught nearly always; the twin that takes the shares for true errs in a third.
    """
    rng = np.random.default_rng(0)
    runs, small, rate, claim, level = 1500, 600, 0.6, Claim(epsilon=1.0, neighbours="replace_one"), 0.01
    needed = stats.binom.isf(level, int(runs * rate), 1 / (1 + math.exp(-1.0))) + 1

    def counted(guesses: int, right: int) -> Counts:
        return Counts(
            runs=small, guesses=guesses, correct=right, true_positives=0, false_positives=0, positives=1, negatives=1
        )

    def called(share: float, error: float = 0.1) -> float:
        guesses = rng.binomial(small, rate, cases)
        right = rng.binomial(guesses, share)
        found = [
            would_refute(counted(int(g), int(r)), runs, claim, 0.0, level, error)
            for g, r in zip(guesses, right, strict=True)
        ]
        return float(np.mean(found))

    barely = next(s for s in np.arange(0.73, 0.9, 0.001) if stats.binom.sf(needed - 1, int(runs * rate), s) > 0.85)
    assert called(float(barely)) <= stats.binom.isf(1e-6, cases, 0.1) / cases
    assert called(float(barely), error=0.5) > 0.2
    assert called(0.9) > 0.95


def noisy(stddev: float) -> Any:
    """A sum with normal noise."""
    return lambda data, rng, n_runs: float(sum(data)) + rng.normal(0.0, stddev, n_runs)


def test_power_is_measured_for_a_small_claim_in_rho_and_the_runs_that_it_needs_are_named() -> None:
    """rho = 1/60 at 5,000 runs: a control is caught; that half the noise is not caught yet, a remark says."""
    claim = Claim(rho=1 / 60, neighbours="replace_one")

    def found(stddev: float, runs: int) -> AuditResult:
        """The audit alone, without a replay."""
        case = function_case(noisy(stddev), ([0, 1], [0, 2]), claim)
        return audit(case, claim=claim, runs=runs, rng=np.random.default_rng(1))

    right = found(30**0.5, 5_000)
    assert (right.verdict, right.power.kind) == ("not_refuted", "far_pair")
    assert "With about 21,000 runs, code with half the Gaussian noise" in right.remarks[0]
    assert "epsilon = 0.7196 at delta 1e-05" in right.remarks[0]
    assert found(30**0.5 / 2, 21_000).verdict == "violation"


@pytest.mark.parametrize(
    "measure", [{"mu": 0.3}, {"renyi": ((2, 0.5), (10, 3.0))}, {"profile": ((1.0, 1e-5), (2.0, 1e-8))}]
)
def test_the_runs_that_are_named_refute_half_the_noise_nine_times_in_ten(measure: Any) -> None:
    """Counted at the threshold that shows the most; with an eighth of them the claim stands more often than not."""
    claim = Claim(**measure, neighbours="replace_one")
    assert isinstance(claim, MeasuredClaim)
    needed, mu, rng = runs_to_refute(claim, 0.01) or 0, 2 * gaussian_of(claim), np.random.default_rng(3)

    def excess(hits: int, alarms: int, half: int) -> float:
        """The largest ratio of what counts show and what is claimed."""
        test = judged_by_event(claim, threshold_counts(hits, alarms, half, half), 1e-5, 0.01)
        return max(number.lower / number.claimed for number in test.numbers)

    def refuted(half: int) -> float:
        """The share of draws that refute the claim."""
        cuts = np.linspace(-3, mu + 3, 25)
        rates = zip(ndtr(mu - cuts), ndtr(-cuts), strict=True)
        b, q = max(rates, key=lambda pair: excess(int(pair[0] * half), int(pair[1] * half) + 1, half))
        return float(np.mean([excess(rng.binomial(half, b), rng.binomial(half, q), half) > 1 for _ in range(50)]))

    assert refuted(needed // 2) > 0.7
    assert refuted(needed // 16) < 0.6
