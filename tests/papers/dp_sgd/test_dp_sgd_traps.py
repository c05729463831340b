"""The traps between a run and its epsilon: each is named by its rule, and a run without it is not."""

from dataclasses import replace
from typing import Any

import pytest

from algorithms.dp_sgd.checks import breaking, findings_of
from algorithms.dp_sgd.reading import TrainingRecord
from dpaudit import Claim, certify
from dpaudit.gate.catalogue import RULES as CATALOGUE

CLAIM = Claim(epsilon=8.0, delta=1e-5, neighbours="add_remove")
CLEAN = TrainingRecord(
    history=((1.1, 0.1, 20),),
    accountant="prv",
    opacus="1.6.0",
    poisson=True,
    weighted=False,
    secure_mode=True,
    grad_sample_mode="hooks",
    max_grad_norm=0.1,
    loader_rate=0.1,
    intended_rate=0.1,
    stated_steps=20,
    tuning_runs=1,
)

TRAPPED = [
    ("DPA326", "sampling", {"poisson": False}, CLAIM),
    ("DPA326", "sampling rate", {"loader_rate": 0.2}, CLAIM),
    ("DPA326", "sampling rate", {"intended_rate": 0.107}, CLAIM),
    ("DPA313", "accountant", {"accountant": "gdp"}, CLAIM),
    ("DPA314", "secure mode", {"secure_mode": False}, CLAIM),
    ("DPA313", "neighbours", {}, replace(CLAIM, neighbours="replace_one")),
    ("DPA213", "steps", {"stated_steps": 1}, CLAIM),
    ("DPA326", "weighted sampler", {"weighted": True}, CLAIM),
    ("DPA220", "ghost clipping", {"grad_sample_mode": "ghost", "opacus": "1.5.2"}, CLAIM),
    ("DPA319", "tuning", {"tuning_runs": 10}, CLAIM),
    ("DPA319", "tuning", {"tuning_runs": None}, CLAIM),
    ("DPA221", "divisor", {"divisor": 255, "records": 59_925, "batches": 235}, CLAIM),
    ("DPA221", "adaptive clipping", {"adaptive": True}, CLAIM),
    ("DPA220", "layers", {"mixing": ("1 (BatchNorm1d)",)}, CLAIM),
]


def test_a_clean_run_is_in_no_trap() -> None:
    """Nothing is said of a run whose every fact is known and right."""
    assert findings_of(CLEAN, CLAIM) == ()
    assert findings_of(replace(CLEAN, grad_sample_mode="ghost", opacus="1.5.3"), CLAIM) == ()


@pytest.mark.parametrize(("rule", "where", "changed", "claim"), TRAPPED)
def test_each_trap_has_its_rule(rule: str, where: str, changed: dict[str, Any], claim: Claim) -> None:
    """One fact changed, one rule and one place named, and a text for it in the catalogue."""
    found = findings_of(replace(CLEAN, **changed), claim)
    assert [(finding.rule, finding.where) for finding in found] == [(rule, where)]
    assert CATALOGUE[rule].remedy


def test_only_traps_that_void_the_epsilon_stand_against_the_certificate() -> None:
    """Floating point and the accountant's name do not; the sampler and admitted tuning do."""
    cautious = replace(CLEAN, secure_mode=False, accountant="gdp", tuning_runs=None)
    assert breaking(cautious, findings_of(cautious, CLAIM)) == ()
    tuned = replace(CLEAN, tuning_runs=2)
    assert [finding.rule for finding in breaking(tuned, findings_of(tuned, CLAIM))] == ["DPA319"]
    shuffled = replace(CLEAN, poisson=False)
    against = breaking(shuffled, findings_of(shuffled, CLAIM))
    assert certify(shuffled.declaration(), CLAIM, findings=against).verdict == "not_proved"


def test_segments_are_named_where_they_are_taken_for_steps() -> None:
    """len(accountant) of a history of two segments is 2, whatever the steps."""
    two = replace(CLEAN, history=((1.1, 0.1, 20), (1.2, 0.1, 20)), stated_steps=2)
    assert "segments" in findings_of(two, CLAIM)[0].message
    assert two.steps == 40
