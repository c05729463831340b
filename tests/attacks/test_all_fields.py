"""Tests of the learned attack on all fields beside a given score."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audits import Settings, audit, when_refuted
from audits.procedures.further_runs import FALSE_ALARM
from dpaudit import AuditCase, Claim
from dpaudit.model.mechanism import Array

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")


def case_of(leak: str) -> AuditCase:
    """Return a case whose score reads the noisy sum alone, beside fields that may leak."""

    def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        noisy = data + rng.laplace(0.0, 2.0, n_runs)
        other: Any = {
            "": np.round(noisy) > 0,
            "exact": np.full(n_runs, 3.0 * data + 1.0),
            "count": np.full(n_runs, int(data > 0)),
            "noise again": noisy - data,
            "lower half": np.stack([noisy, rng.laplace(0.0, 2.0, n_runs) * 0 + data], axis=1),
        }[leak]
        return {"sum": noisy, "other": other}

    return AuditCase(
        name=f"sum, {leak}",
        view="all",
        description="",
        neighbours=(0.0, 1.0),
        relation="replace_one",
        run=run,
        score=lambda view: view["sum"],
    )


@pytest.mark.parametrize("leak", ["exact", "count", "noise again", "lower half"])
def test_a_field_that_the_score_does_not_read_is_attacked(leak: str) -> None:
    """The score of the noisy sum stays below the claim; the learner on all fields refutes it at 1e-9."""
    result = audit(case_of(leak), claim=CLAIM, runs=20_000, rng=np.random.default_rng(0), significance=0.01)
    assert (result.verdict, result.bound) == ("violation", "all_fields")
    assert result.exceeds_claim
    assert next(held for held in result.bounds if held.name == "all_fields").significance == FALSE_ALARM


def test_honest_fields_change_nothing() -> None:
    """Where the other fields follow from the sum, verdict, bound and counts are those of the score alone."""
    honest = case_of("")
    result = audit(honest, claim=CLAIM, runs=20_000, rng=np.random.default_rng(4), significance=0.01)
    alone = audit(
        honest, claim=CLAIM, runs=20_000, rng=np.random.default_rng(4), significance=0.01, how=Settings(control_runs=0)
    )
    assert result.verdict in ("consistent", "not_refuted")
    assert (result.epsilon_lower, result.counts, result.remarks) == (alone.epsilon_lower, alone.counts, alone.remarks)


def test_few_runs_are_left_to_the_score() -> None:
    """Below 4,000 runs a tenth is too few for a bound at 1e-9: nothing is done, and nothing is said."""
    result = audit(case_of("exact"), claim=CLAIM, runs=2_000, rng=np.random.default_rng(2), significance=0.01)
    assert result.bound != "all_fields"


def test_a_view_that_cannot_be_read_is_said_to_be_left_out() -> None:
    """Fields of a type that nobody can read leave the verdict to the score, with a remark."""

    class Odd:
        __slots__ = ()

    def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        return {"sum": data + rng.laplace(0.0, 2.0, n_runs), "other": [Odd() for _ in range(n_runs)]}

    odd = replace(case_of(""), run=run)
    result = audit(odd, claim=CLAIM, runs=8_000, rng=np.random.default_rng(3), significance=0.01)
    assert result.verdict != "violation"


def test_the_learned_attack_is_inside_the_significance() -> None:
    """The deciding bound of the score and that of the learner have the stated significance together."""
    for significance in (0.01, 1e-8):
        honest = audit(case_of(""), claim=CLAIM, runs=20_000, rng=np.random.default_rng(1), significance=significance)
        leak = audit(
            case_of("exact"), claim=CLAIM, runs=20_000, rng=np.random.default_rng(0), significance=significance
        )
        parts = (honest.bounds[0].significance, leak.bounds[0].significance)
        assert sum(parts) <= significance
        assert sum(parts) > 0.99 * significance


@pytest.mark.parametrize("leak", ["exact", "count", "lower half"])
def test_the_anytime_audit_attacks_all_fields_as_well(leak: str) -> None:
    """A learner bets beside the given score on the whole view, inside the significance; the honest view passes."""
    result = audit(case_of(leak), claim=CLAIM, runs=4_000, rng=np.random.default_rng(0), stop=when_refuted)
    honest = audit(case_of(""), claim=CLAIM, runs=1_000, rng=np.random.default_rng(0), stop=when_refuted)
    assert result.verdict == "violation"
    assert honest.verdict != "violation"
