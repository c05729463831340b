"""A quick function is run ten times as often where so many runs like those that were counted would refute its claim."""

from dataclasses import replace

import numpy as np

from audits import Settings, audit
from audits.experiment.function_case import function_case
from audits.experiment.settings import PLAIN
from audits.procedures import further_runs
from dpaudit import AuditResult, Claim
from dpaudit.model.audit_result import Counts

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")


LUCKY = Counts(runs=200, guesses=200, correct=160, true_positives=80, false_positives=20, positives=100, negatives=100)
"""Counts that promise more than the claim."""


def response(bit: int, rng: np.random.Generator, n_runs: int, epsilon: float = 1.0) -> np.ndarray:
    """Return randomised responses, which lose exactly `epsilon`."""
    kept = rng.random(n_runs) < 1 / (1 + np.exp(-epsilon))
    return np.where(kept, bit, 1 - bit)


def too_much(bit: int, rng: np.random.Generator, n_runs: int) -> np.ndarray:
    """Return responses at 1.25 times the budget."""
    return response(bit, rng, n_runs, 1.25)


def audited(function: object, runs: int = 600, control_runs: int = 100) -> AuditResult:
    """Return the audit of a pair of answers."""
    rng = np.random.default_rng(1)
    return audit(function, neighbours=(0, 1), claim=CLAIM, runs=runs, rng=rng, how=Settings(control_runs=control_runs))  # type: ignore[arg-type]


def test_a_response_with_too_large_a_budget_is_found_in_few_runs() -> None:
    """Broken twin: the audit itself shows less than the claim; the runs of the second look exceed it."""
    result = audited(too_much)
    assert (result.verdict, result.bound) == ("violation", "second look")
    assert CLAIM.epsilon < result.epsilon_lower < 1.25
    assert any("a second look with 6,000 fresh runs" in remark for remark in result.remarks)


def test_a_response_with_the_budget_of_its_claim_is_never_flagged() -> None:
    """At the boundary the second look, with its level of 1e-9, finds nothing in 20 audits that make it."""
    case = function_case(response, (0, 1), CLAIM)
    lucky = replace(
        audit(case, claim=CLAIM, runs=400, rng=np.random.default_rng(0), how=Settings(control_runs=0)), counts=LUCKY
    )
    for seed in range(20):
        rng = np.random.default_rng([seed, 3])
        assert further_runs.looked_again(lucky, case, rng, PLAIN) is lucky


def test_a_slow_audit_without_controls_makes_no_further_runs() -> None:
    """`control_runs` 0 asks for the attack alone."""
    assert audited(too_much, control_runs=0).bound != "second look"
