"""The literal readings of Algorithm 1 are refuted in three ways."""

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.problems import load
from audits import audit
from dpaudit import Streams, certify

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
    shown = audit(case, claim=config.claim(), runs=2_000, rng=np.random.default_rng(1), significance=1e-3)
    assert shown.verdict == "violation"
