"""A seeded slice of the coverage table: no bound is wrong more often than it says, and each reaches somewhere."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits.bounds.credible import credible_bound
from audits.bounds.e_process import e_process_bound
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.bounds.joint import joint_bound
from benchmarks.coverage.harness import Scenario, bound_by_counts, measure
from benchmarks.coverage.scenarios import scenarios
from dpaudit.model.mechanism import Array


def bound_by_wealth(scenario: Any, scores: Array, labels: Array, significance: float) -> float:
    """The anytime-valid bound at its largest: the audit stops where it looks worst."""
    return e_process_bound(scores, labels, scenario.delta, significance).epsilon


SCENARIOS = scenarios()
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
EXACT = {
    "guessing": bound_by_counts(guessing_bound),
    "clopper_pearson": bound_by_counts(error_rate_bound),
    "e_process": bound_by_wealth,
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_an_exact_bound_is_wrong_as_rarely_as_it_says(name: str, scenario: Scenario) -> None:
    """200 audits of 20 and of 200 runs, alpha 0.05: false certifications at most the 1 - 1e-7 quantile of the binomial.

    The smallest fault that is caught surely: a false rate of 17 % and more.
    """
    for runs in (20, 200):
        found = measure(EXACT[name], scenario, runs, 200, 0.05, np.random.default_rng(runs))
        assert found.false <= stats.binom.isf(1e-7, 200, 0.05)
    assert stats.binom.cdf(stats.binom.isf(1e-7, 200, 0.05), 200, 0.25) < 1e-3


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s.gaussian], ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("bound", [gaussian_bound, gaussian_rate_bound])
def test_a_gaussian_bound_is_right_about_gaussian_claims(bound: Callable[..., Any], scenario: Scenario) -> None:
    """As above, on pairs that meet a Gaussian claim."""
    found = measure(bound_by_counts(bound), scenario, 200, 200, 0.05, np.random.default_rng(1))
    assert found.false <= stats.binom.isf(1e-7, 200, 0.05)


def test_a_gaussian_bound_is_wrong_where_its_assumption_is() -> None:
    """Atoms of mass 0.001 make the accuracy bound certify far too much: it must be labelled, and is."""
    judge, scenario = bound_by_counts(gaussian_bound), BY_NAME["randomised response, rare atoms"]
    assert measure(judge, scenario, 200, 100, 0.05, np.random.default_rng(2)).false > 50


@pytest.mark.parametrize("scenario", ["identical laws", "laplace", "randomised response, atoms", "swapped labels"])
def test_the_joint_test_is_exact(scenario: str) -> None:
    """60 audits of 100 runs each: at most the 1 - 1e-7 quantile."""
    found = measure(bound_by_counts(joint_bound), BY_NAME[scenario], 100, 60, 0.05, np.random.default_rng(3))
    assert found.false <= stats.binom.isf(1e-7, 60, 0.05)


def test_every_bound_reaches_somewhere() -> None:
    """Randomised response, epsilon 1, 2,000 runs: the floors of power beside the coverage."""
    floors = {"guessing": 0.85, "clopper_pearson": 0.75, "e_process": 0.8}
    for name, judge in EXACT.items():
        found = measure(judge, BY_NAME["randomised response"], 2000, 30, 0.05, np.random.default_rng(4))
        assert found.reach > floors[name]
    found = measure(bound_by_counts(joint_bound), BY_NAME["laplace"], 2000, 5, 0.05, np.random.default_rng(4))
    assert found.reach > 0.55


def test_a_credible_bound_is_labelled_and_never_certifies_identical_laws_every_time() -> None:
    """Folding would certify P = Q in every run; the un-folded quantile does so in few."""
    judge, scenario = bound_by_counts(credible_bound), BY_NAME["identical laws"]
    assert measure(judge, scenario, 200, 100, 0.05, np.random.default_rng(5)).false < 30


def test_a_bound_that_ignores_the_choice_of_threshold_fails_the_harness() -> None:
    """The twin: the best of many thresholds without correction is caught on the flat likelihood ratio."""
    from audits.decision.events import Event, count_guesses

    def greedy(scenario: Any, scores: Array, labels: Array, significance: float) -> float:
        cuts = np.linspace(0.4, 1.3, 30)
        events = [Event(low=-float(c), high=float(d), cut=0.0) for c in cuts[::3] for d in cuts[::3]]
        return max(guessing_bound(count_guesses(e, scores, labels), 0.0, significance).epsilon for e in events)

    found = measure(greedy, BY_NAME["flat likelihood ratio"], 200, 200, 0.05, np.random.default_rng(6))
    assert found.false > stats.binom.isf(1e-7, 200, 0.05)
