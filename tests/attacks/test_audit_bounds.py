"""Bounds: exact values, laws, and how often they are wrong on the boundary."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits.bounds.binomial import proportion_lower, proportion_upper, tail, tail_quantile
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import critical_correct, guessing_bound, guessing_epsilon, leak_allowance
from audits.decision.power import blind_delta, ceiling, runs_needed
from dpaudit.model.audit_result import Counts

BOUNDS = (guessing_bound, error_rate_bound, gaussian_bound, gaussian_rate_bound)


def counts(
    *,
    true_positives: int,
    positives: int,
    false_positives: int,
    negatives: int,
    guesses: int | None = None,
    correct: int | None = None,
) -> Counts:
    right = true_positives + negatives - false_positives
    return Counts(
        runs=positives + negatives,
        guesses=positives + negatives if guesses is None else guesses,
        correct=right if correct is None else correct,
        true_positives=true_positives,
        false_positives=false_positives,
        positives=positives,
        negatives=negatives,
    )


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_limits_of_a_proportion_agree_with_scipy(n: int) -> None:
    """Clopper-Pearson limits are those of scipy.stats.binomtest, one side at a time."""
    for k in sorted({0, 1, n // 2, n - 1, n}):
        lower = stats.binomtest(k, n, alternative="greater").proportion_ci(0.95).low
        upper = stats.binomtest(k, n, alternative="less").proportion_ci(0.95).high
        assert proportion_lower(k, n, 0.05) == pytest.approx(lower, abs=1e-12)
        assert proportion_upper(k, n, 0.05) == pytest.approx(upper, abs=1e-12)


def test_binomial_tails_agree_with_scipy() -> None:
    """P(B >= k) is scipy's survival function at k - 1, outside the support too."""
    k = np.arange(-1, 13)
    np.testing.assert_allclose(tail(k, 11, 0.3), stats.binom.sf(k - 1, 11, 0.3), atol=1e-14)
    for probability in (1e-5, 0.01, 0.5):
        found = tail_quantile(2000, probability, 0.001)
        assert stats.binom.sf(found, 2000, probability) <= 0.001
        assert found == 0 or stats.binom.sf(found - 1, 2000, probability) > 0.001


@pytest.mark.parametrize(("runs", "bound"), [(20, 1.82), (200, 4.19), (2000, 6.50), (20_000, 8.81), (2_000_000, 13.4)])
def test_ceiling_of_the_guessing_game_is_the_logit_of_the_nth_root(runs: int, bound: float) -> None:
    """A perfect attack shows logit(alpha^(1/N)) and no more."""
    assert ceiling(guessing_bound, runs, 0.0, 0.05) == pytest.approx(bound, abs=0.015)


@pytest.mark.parametrize(("side", "bound"), [(10, 0.81), (100, 3.28), (1000, 5.60), (100_000, 10.2)])
def test_ceiling_of_clopper_pearson_lies_below_that_of_the_game(side: int, bound: float) -> None:
    """A perfect attack shows ln((1 - u) / u), u = 1 - (alpha / 2)^(1 / n)."""
    found = ceiling(error_rate_bound, 2 * side, 0.0, 0.05)
    assert found == pytest.approx(bound, abs=0.02)
    assert found < ceiling(guessing_bound, 2 * side, 0.0, 0.05)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_no_count_makes_a_bound_fail(bound: Callable[..., Any], delta: float) -> None:
    """Every possible count gives a finite bound of at least 0: no errors, only errors, one side empty."""
    for positives, negatives in ((5, 5), (1, 9), (0, 10), (10, 0)):
        for hits in range(positives + 1):
            for alarms in range(negatives + 1):
                held = bound(
                    counts(true_positives=hits, positives=positives, false_positives=alarms, negatives=negatives),
                    delta,
                    0.05,
                )
                assert 0 <= held.epsilon < math.inf


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_grows_with_what_it_counts_and_with_the_significance(bound: Callable[..., Any]) -> None:
    """More hits never lower a bound; neither does a larger significance."""
    found = [
        bound(counts(true_positives=k, positives=100, false_positives=20, negatives=100), 1e-5, a).epsilon
        for a in (0.01, 0.05)
        for k in range(40, 101)
    ]
    small, large = found[:61], found[61:]
    assert small == sorted(small)
    assert large == sorted(large)
    assert all(x <= y for x, y in zip(small, large, strict=True))
    assert large[-1] > 0.5


@pytest.mark.parametrize("bound", [gaussian_bound, gaussian_rate_bound])
def test_a_gaussian_bound_never_takes_an_absolute_value(bound: Callable[..., Any]) -> None:
    """A test that is worse than a coin shows nothing; with |mu| it would show a lot."""
    backwards = counts(true_positives=200, positives=1000, false_positives=800, negatives=1000)
    forwards = counts(true_positives=800, positives=1000, false_positives=200, negatives=1000)
    assert bound(backwards, 1e-5, 0.05).epsilon == 0
    assert bound(forwards, 1e-5, 0.05).epsilon > 1
    assert "Gaussian" in bound(forwards, 1e-5, 0.05).assumption


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("significance", [0.01, 0.05])
def test_the_game_is_exact_at_the_boundary_of_a_mixture(delta: float, significance: float) -> None:
    """Worst pair with delta atoms on both sides: false certification is at most, and for delta 0 nearly, alpha.

    400 runs, each right by itself; the twin that pays nothing for atoms of delta 0.02 is wrong more often than alpha.
    """
    epsilon, runs = 1.0, 400
    right = np.arange(runs + 1)
    law = stats.binom.pmf(right, runs, delta + (1 - delta) / (1 + math.exp(-epsilon)))
    wrong, naive = (
        law[guessing_epsilon(right, runs, runs, paid, significance) > epsilon].sum() for paid in (delta, 0.0)
    )
    assert wrong <= significance
    assert delta > 0 or wrong >= 0.6 * significance
    assert delta < 0.02 or naive > significance


def test_significance_for_leaks_is_paid_once() -> None:
    """What the leaks use and what is left add up to the significance."""
    for runs, delta in ((20_000, 1e-5), (400, 0.02)):
        leaks, rest = leak_allowance(runs, delta, 0.05)
        assert stats.binom.sf(leaks, runs, delta) + rest == pytest.approx(0.05, abs=1e-12)
    assert leak_allowance(400, 0.0, 0.05) == (0, 0.05)


def test_critical_count_is_the_first_that_exceeds_epsilon() -> None:
    """One guess fewer would not do."""
    needed = critical_correct(500, 1000, 1.0, 1e-5, 0.05)
    assert guessing_epsilon(needed, 500, 1000, 1e-5, 0.05) > 1.0
    assert guessing_epsilon(needed - 1, 500, 1000, 1e-5, 0.05) <= 1.0
    assert critical_correct(10, 10, 3.0, 0.0, 0.05) == 11


def test_planned_runs_have_the_planned_power() -> None:
    """Claim 1, true 2, 60 % guesses: power 0.9, and 0.8 is out of reach of half the runs."""
    runs = runs_needed(1.0, 2.0, guess_rate=0.6, significance=0.05)

    def power(n: int) -> float:
        guesses = round(0.6 * n)
        needed = critical_correct(guesses, n, 1.0, 0.0, 0.05)
        return float(stats.binom.sf(needed - 1, guesses, 1 / (1 + math.exp(-2.0))))

    assert power(runs) >= 0.9
    assert power(runs // 2) < 0.8


def test_rare_leaks_are_out_of_reach() -> None:
    """A leak as rare as the blind spot is missed with the significance's probability."""
    rare = blind_delta(1000, 0.05)
    assert (1 - rare) ** 1000 == pytest.approx(0.05, abs=1e-3)
