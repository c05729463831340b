"""Atoms of small mass: a value of a few runs in a thousand that only one data set releases."""

from typing import Any

import numpy as np
import pytest

from audits import Settings, audit
from audits.attacks.classifier import LearnedScore, learn_score
from audits.decision.rare_events import rare_event
from dpaudit import AuditResult, Claim
from dpaudit.model.mechanism import Array

CLAIM = Claim(epsilon=0.3, delta=1e-6, neighbours="replace_one")


def with_an_atom(data: float, rng: np.random.Generator, n_runs: int) -> Array:
    """Return noise that keeps the claim, and 77.0 in four runs of a thousand on the second data set."""
    noisy: Array = data + rng.laplace(0, 1 / 0.3, n_runs)
    return np.where((rng.random(n_runs) < 0.004) & (data > 0), 77.0, noisy)


def without(data: float, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the same noise alone."""
    return data + rng.laplace(0, 1 / 0.3, n_runs)


def audited(function: Any, seed: int, significance: float, runs: int = 40_000) -> AuditResult:
    return audit(
        function,
        neighbours=(0.0, 1.0),
        claim=CLAIM,
        runs=runs,
        rng=np.random.default_rng(seed),
        significance=significance,
        how=Settings(control_runs=0),
    )


@pytest.mark.parametrize("significance", [0.05, 0.01, 0.001])
def test_an_atom_is_found_at_every_significance(significance: float) -> None:
    """60 counted runs of one side against none: four audits of four, with a bound above 1.5."""
    found = [audited(with_an_atom, seed, significance) for seed in range(4)]
    assert all(result.verdict == "violation" for result in found)
    assert all(result.epsilon_lower > 1.5 for result in found)


def test_an_atom_in_the_middle_has_odds_of_its_own() -> None:
    """The value 0.25 amid the noise: its score is above all others, and its neighbours' are not."""
    rng = np.random.default_rng(0)
    labels = rng.random(6_000) < 0.5
    values = labels + rng.laplace(0, 1 / 0.3, 6_000)
    values[(rng.random(6_000) < 0.006) & labels] = 0.25
    score = learn_score(values, labels, rng)
    assert isinstance(score, LearnedScore)
    at, beside = score(np.array([0.25, 0.2500001]))
    assert at > 2 > beside


def test_a_rare_event_needs_more_than_luck() -> None:
    """Two runs of one side alone are no event, and leaks that delta explains are none."""
    scores = np.concatenate([np.zeros(2_000), np.full(2, 5.0)])
    labels = np.concatenate([np.arange(2_000) % 2 == 0, np.ones(2, dtype=bool)])
    assert rare_event((scores, labels), (scores, labels), 0.3, 0.0, 0.0) is None
    many = np.concatenate([np.zeros(2_000), np.full(12, 5.0)])
    right = np.concatenate([np.arange(2_000) % 2 == 0, np.ones(12, dtype=bool)])
    assert rare_event((many, right), (many, right), 0.3, 0.0, 0.0) is not None
    assert rare_event((many, right), (many, right), 0.3, 0.01, 0.0) is None


def test_the_largest_float_as_an_edge_is_no_overflow() -> None:
    """Values up to the largest double are learned from without a warning."""
    rng = np.random.default_rng(0)
    labels = rng.random(2_000) < 0.5
    values = np.where(rng.random(2_000) < 0.1, np.finfo(float).max, rng.normal(size=2_000) + labels)
    assert np.isfinite(learn_score(values, labels, rng)(values)).all()
