"""Audits that stop early, go on tomorrow, and pay for delta."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits import audit, when_refuted
from audits.experiment.chunk_store import ChunkStore
from audits.experiment.settings import Settings
from dpaudit import AuditCase, Claim
from dpaudit.model.mechanism import Array

ONE = Claim(epsilon=1.0, neighbours="replace_one")


def laplace(scale: float) -> Callable[..., Any]:
    return lambda data, rng, n_runs: data + rng.laplace(0.0, scale, n_runs)


def never(state: Any) -> bool:
    return False


def test_a_function_of_ones_own_is_audited_in_one_call_and_stops_early() -> None:
    """Half the noise falls long before 20,000 runs; whoever has seen enough stops it when they like."""
    result = audit(
        laplace(0.5), neighbours=(0.0, 1.0), claim=ONE, runs=20_000, rng=np.random.default_rng(2), stop=when_refuted
    )
    assert result.verdict == "violation"
    assert result.runs < 2_000
    stopped = audit(
        laplace(1.0),
        neighbours=(0.0, 1.0),
        claim=ONE,
        runs=20_000,
        rng=np.random.default_rng(2),
        stop=lambda state: state.runs >= 300,
    )
    assert 300 <= stopped.runs < 400
    assert stopped.verdict != "violation"


@pytest.mark.parametrize("dictionary", [False, True])
def test_an_audit_goes_on_tomorrow_and_runs_nothing_twice(tmp_path: Path, dictionary: bool) -> None:
    """Stopped after 300 runs and continued: the numbers of one that was never stopped, from the missing runs only."""
    calls = []

    def run(data: Array, rng: np.random.Generator, n_runs: int) -> dict[str, Array] | Array:
        calls.append(n_runs)
        noisy = data + rng.laplace(0.0, 1.0, n_runs)
        return {"answer": noisy, "twice": 2 * noisy} if dictionary else noisy

    arguments: dict[str, Any] = {"neighbours": (0.0, 1.0), "claim": ONE, "runs": 1_000}
    how = Settings(control_runs=0)
    whole = audit(run, rng=np.random.default_rng(3), stop=never, how=how, **arguments)
    probes = sum(calls) - 1_000
    store = ChunkStore(path=tmp_path / "bets.sqlite", key="laplace")
    how = replace(how, store=store)
    first = audit(run, rng=np.random.default_rng(3), stop=lambda state: state.runs >= 300, how=how, **arguments)
    calls.clear()
    second = audit(run, rng=np.random.default_rng(3), stop=never, how=how, **arguments)
    assert (second.bounds, second.counts, second.roc) == (whole.bounds, whole.counts, whole.roc)
    looked_at = 2 * 8
    assert sum(calls) - probes - looked_at == 1_000 - first.runs


def test_a_budget_that_grows_goes_on_from_the_last_block(tmp_path: Path) -> None:
    """400 runs today and 400 more tomorrow: 800 counted, 400 run."""
    store = ChunkStore(path=tmp_path / "bets.sqlite", key="laplace")
    arguments: dict[str, Any] = {
        "neighbours": (0.0, 1.0),
        "claim": ONE,
        "how": Settings(store=store, control_runs=0),
        "stop": never,
    }
    today = audit(laplace(1.0), runs=400, rng=np.random.default_rng(4), **arguments)
    tomorrow = audit(laplace(1.0), runs=800, rng=np.random.default_rng(4), **arguments)
    assert (today.counts.runs, tomorrow.counts.runs) == (400, 800)


def test_outputs_of_any_type_are_stored_as_columns(tmp_path: Path) -> None:
    """Words and tuples are columns of numbers in the store: nothing is pickled, and the audit goes on from there."""
    store = ChunkStore(path=tmp_path / "bets.sqlite", key="words")
    first, second = (
        audit(
            lambda data, rng, n_runs: [("yes", "no", "no")[: 1 + int(k)] for k in rng.integers(0, 3, n_runs)],
            neighbours=(0.0, 1.0),
            claim=ONE,
            runs=100,
            rng=np.random.default_rng(5),
            stop=when_refuted,
            how=Settings(control_runs=0, store=store),
        )
        for _ in range(2)
    )
    assert (first.counts, first.bounds) == (second.counts, second.bounds)


def leaky(epsilon: float, leak: float) -> AuditCase:
    """Randomised response that tells everything with probability `leak`; the score knows which is which."""

    def run(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
        honest = rng.random(n_runs) < 1 / (1 + np.exp(-epsilon))
        told = rng.random(n_runs) < leak
        answer = np.where(honest | told, data, 1 - data)
        return np.where(told, 8.0, 1.0) * (2 * answer - 1)

    return AuditCase(
        name="leaky", view="o", description="", neighbours=(0, 1), relation="replace_one", run=run, score=np.asarray
    )


@pytest.mark.parametrize("number", [24, pytest.param(60, marks=pytest.mark.slow)])
def test_delta_is_paid_for_at_every_step(number: int) -> None:
    """At the boundary (1, .05) at most 5 % of all audits refute, up to chance 1e-7; without the price most do."""
    honest = Claim(epsilon=1.0, delta=0.05, neighbours="replace_one")
    case = leaky(1.0, 0.05)
    rngs = np.random.default_rng(6).spawn(number)
    false = sum(audit(case, claim=honest, runs=300, rng=rng, stop=when_refuted).verdict == "violation" for rng in rngs)
    assert false <= stats.binom.isf(1e-7, number, 0.05)
    unpaid = sum(audit(case, claim=ONE, runs=300, rng=rng, stop=when_refuted).verdict == "violation" for rng in rngs)
    assert unpaid > stats.binom.isf(1e-7, number, 0.05)
