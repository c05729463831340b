"""The literal readings of Algorithm 1 are refuted in three ways; other noise than declared shows in one run."""

from dataclasses import replace

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.declaration import counter_label
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.problems import load
from audits import audit_case
from dpaudit import Recorder, Streams, certify
from dpaudit.model.trace import admit

R0 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R0")
R4 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R4")


@pytest.mark.parametrize("config", [R0, R4], ids=lambda config: config.removal)
def test_the_literal_readings_are_refuted_by_both_halves_and_by_the_run(config: DpEbs) -> None:
    """The accountant refutes the declaration, the audit breaks the code, and a run reports the clock."""
    assert certify(config.declaration(), config.claim()).verdict == "refuted"
    transcript = config.run(load("bradley_terry")(arms=3), Streams.spawn(np.random.default_rng(0)), 3)
    assert "violated" in {condition.status for condition in transcript.conditions}
    case = config.cases()[0]
    assert case.view == "counters"
    shown = audit_case(case, config.claim(), runs=2_000, rng=np.random.default_rng(1), significance=1e-3)
    assert shown.verdict == "violation"


def test_half_the_noise_under_the_printed_budget_is_found_by_its_trace() -> None:
    """The claim holds, so that no audit may flag it; but the run samples other noise than declared (DPA212)."""
    config = DpEbs(epsilon=1, horizon=200, arms=3)
    recorder = Recorder(np.random.default_rng(0))
    for arm in range(3):
        recorder.record(counter_label(arm), config.tree().scaled(0.5), np.zeros(0), np.zeros(0))
    assert {finding.rule for finding in admit(config.declaration(), recorder.trace())} == {"DPA212"}


def test_counters_with_one_seed_are_found_by_their_trace() -> None:
    """Two counters that carry the same noise are a finding after one run (DPA227)."""
    config = DpEbs(epsilon=1, horizon=200, arms=2)
    recorder = Recorder(np.random.default_rng(0))
    for arm in range(2):
        path = config.tree().path(np.random.default_rng(5))
        path.ahead(8)
        path.advance(8)
        noise = path.first_noise()
        recorder.record(counter_label(arm), config.tree(), np.zeros(len(noise)), noise)
    assert "DPA227" in {finding.rule for finding in admit(config.declaration(), recorder.trace())}


def test_another_scale_in_a_phase_is_found_by_its_trace() -> None:
    """Lap(1 / (2 eps)) in place of Lap(1 / eps) is a finding after one run."""
    config = GOptimalDueling(epsilon=1, horizon=2000, arms=20, dimension=2)
    louder = replace(config, epsilon=2.0)
    transcript = louder.run(load("sphere")(), Streams.spawn(np.random.default_rng(0)), 1)
    assert "DPA212" in {finding.rule for finding in admit(config.declaration(), transcript.trace)}
