"""Evidence that is handed on: one probability of a false alarm over many audits, and noise watched by its own law."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits import continue_audit, watch_noise
from audits.checks.noise_law import FACTORS
from audits.procedures.prior_evidence import PriorEvidence
from dpaudit import AuditCase, AuditResult, Claim
from mechanisms import Gaussian, Laplace
from tests.cases import case_of

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
LAPLACE = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")


@pytest.fixture
def oracle_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the betting to the likelihood ratio, so that many audits take little time."""
    monkeypatch.setattr("audits.procedures.anytime.learners_of", lambda state, rng: (None, None, None))


def case(scale: float, boldness: float = 1.0) -> AuditCase:
    """One Laplace release, scored by its likelihood ratio; with more boldness a fair game of some variance."""
    return case_of(
        "laplace",
        lambda data, rng, n_runs: data + rng.laplace(0, scale, n_runs),
        score=lambda x: boldness * (np.abs(x) - np.abs(x - 1)) / scale,
    )


def nights(
    held: AuditCase, how_many: int, runs: int, significance: float, rng: np.random.Generator
) -> tuple[int | None, PriorEvidence]:
    """The first night on which the claim falls, or None, and what is left."""
    carried = PriorEvidence.nothing(CLAIM)
    for night in range(how_many):
        result, carried = continue_audit(held, carried, runs=runs, rng=rng, significance=significance)
        if result.verdict == "violation":
            return night + 1, carried
    return None, carried


@pytest.mark.parametrize("suites", [40, pytest.param(80, marks=pytest.mark.slow)])
def test_correct_code_at_the_boundary_keeps_one_budget_over_many_nights(oracle_only: None, suites: int) -> None:
    """Suites of 8 nights at the exact boundary, alpha = 0.5 for each suite: at most its 1 - 1e-6 quantile fall.

    The twin that starts every night anew, and so spends alpha every night, goes beyond it.
    """
    rng = np.random.default_rng(11)
    limit = stats.binom.isf(1e-6, suites, 0.5)
    fallen = sum(nights(case(1.0, 2.0), 8, 40, 0.5, rng)[0] is not None for _ in range(suites))
    anew = sum(any(nights(case(1.0, 2.0), 1, 40, 0.5, rng)[0] is not None for _ in range(8)) for _ in range(suites))
    assert 0 < fallen <= limit < anew


def test_two_calls_are_worth_the_product() -> None:
    """What is carried is the sum of the log wealth of both calls, against the claim and on the whole grid."""
    held = case(0.7)
    first, second = (
        continue_audit(held, PriorEvidence.nothing(CLAIM), runs=30, rng=np.random.default_rng(s), significance=1e-9)[1]
        for s in (1, 2)
    )
    both = continue_audit(held, first, runs=30, rng=np.random.default_rng(2), significance=1e-9)[1]
    assert both.runs == 60
    assert both.against == pytest.approx(first.against + second.against, abs=1e-12)
    np.testing.assert_allclose(both.wealth, np.add(first.wealth, second.wealth), atol=1e-12)


def test_evidence_survives_json_and_refuses_what_it_is_not() -> None:
    """Plain data both ways; another length, a missing field, infinity or text are refused."""
    _, carried = continue_audit(case(0.7), PriorEvidence.nothing(CLAIM), runs=30, rng=np.random.default_rng(1))
    data = json.loads(json.dumps(carried.to_dict()))
    assert PriorEvidence.from_dict(CLAIM, data) == carried
    refused: tuple[Any, ...] = (
        [],
        {},
        data | {"wealth": data["wealth"][1:]},
        data | {"against": math.inf},
        data | {"against": "x"},
        data | {"best": [-1e9] * len(data["best"])},
        data | {"runs": -1},
        data | {"wealth": [10**400] * len(data["wealth"])},
    )
    for broken in refused:
        with pytest.raises(ValueError, match="Expected"):
            PriorEvidence.from_dict(CLAIM, broken)


def releases_of(sampled: Laplace | Gaussian) -> Callable[[np.random.Generator, int], Any]:
    return lambda rng, n_runs: sampled.release(np.zeros(n_runs), rng)


@pytest.mark.parametrize("mechanism", [LAPLACE, Gaussian(stddev=3.0, l2_sensitivity=1.0, neighbours="add_remove")])
def test_half_the_noise_falls_within_500_runs_and_the_right_noise_does_not(mechanism: Laplace | Gaussian) -> None:
    """At 1e-6, 60 seeds: every half-noise twin is caught, no correct mechanism is (false alarms: 6e-5 in all)."""
    for seed in range(60):
        for factor, expected in ((1.0, False), (0.5, True)):
            sampled = mechanism.scaled(factor)
            seen = watch_noise(
                releases_of(sampled), mechanism, 0.0, runs=500, rng=np.random.default_rng([seed, 3]), significance=1e-6
            )
            assert seen.fallen == expected
            assert not expected or seen.factor in (0.5, 0.7)


@pytest.mark.parametrize("suites", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_watching_the_noise_keeps_its_level_over_many_calls(suites: int) -> None:
    """Suites of 8 calls that hand on their wealth, alpha = 0.1: at most the 1 - 1e-6 quantile accuse."""
    rng, accused = np.random.default_rng(13), 0
    for _ in range(suites):
        wealth = (0.0,) * len(FACTORS)
        for _ in range(8):
            seen = watch_noise(
                lambda rng, n: rng.laplace(0, 1, n), LAPLACE, 0.0, runs=25, rng=rng, significance=0.1, wealth=wealth
            )
            wealth = seen.wealth
            if seen.fallen:
                accused += 1
                break
    assert 0 < accused <= stats.binom.isf(1e-6, suites, 0.1)


def test_an_output_that_the_declared_law_cannot_produce_is_enough() -> None:
    """A bit outside a randomised response, or NaN from a Gaussian, is refuted in the first block."""
    seen = watch_noise(
        lambda rng, n: np.full(n, np.nan), LAPLACE, 0.0, runs=100, rng=np.random.default_rng(0), significance=1e-9
    )
    assert seen.fallen
    with pytest.raises(ValueError, match="runs axis first"):
        watch_noise(lambda rng, n: np.zeros(n - 1), LAPLACE, 0.0, runs=100, rng=np.random.default_rng(0))


def test_a_claim_falls_only_after_all_levels_below_it() -> None:
    """Wealth against the claim alone, or against all levels but the claim, is no violation and lifts no bound to it."""
    from audits.bounds.e_process import LEVELS

    def found(wealth: tuple[Any, ...], against: float = 50.0) -> AuditResult:
        before = PriorEvidence(claim=CLAIM, against=against, wealth=wealth, best=wealth, runs=100)
        return continue_audit(case(1.0), before, runs=4, rng=np.random.default_rng(0), stop=lambda state: False)[0]

    alone = found((0.0,) * len(LEVELS))
    assert (alone.verdict == "violation", alone.epsilon_lower) == (False, 0.0)
    above = found(tuple(50.0 * (LEVELS < 1.5)))
    assert above.verdict == "violation"
    assert above.epsilon_lower == pytest.approx(1.495)
    standing = found(tuple(50.0 * (LEVELS < 1.5)), against=-50.0)
    assert standing.verdict != "violation"
    assert standing.epsilon_lower == pytest.approx(0.995)
    hollow = found(tuple(50.0 * (LEVELS < 0.5)))
    assert hollow.verdict != "violation"
    assert hollow.epsilon_lower == pytest.approx(0.495)
