"""The report of a training run: one page, its verdict, and its JSON that is verified again."""

import json
from dataclasses import dataclass, replace
from typing import Any

import jsonschema
import pytest

from dpaudit import Claim, Release, Repeat, Subsample, certify
from dpaudit.model.certificate import digest_of
from dpaudit.model.condition import Condition
from dpaudit.model.trace import Finding
from dpaudit.report import TrainingReport
from dpaudit.report.training.report import ModelEvidence, is_training_report, verify_training_report
from dpaudit.schemas import load
from dpaudit.training import Training
from dpaudit.training.evidence import LoopAudit, LoopCheck, TrainingVerdict
from mechanisms import Gaussian

TRAINING = Training(noise_multiplier=4, max_grad_norm=1.0, sample_rate=0.1, steps=20, records=200)
CLAIM = Claim(epsilon=1.0, delta=1e-6, neighbours="add_remove")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """An audit of a loop."""

    verdict: TrainingVerdict = "consistent"
    findings: tuple[Finding, ...] = ()
    unseen: tuple[str, ...] = ()
    watched: tuple[str, ...] = ("weights",)
    untrained: tuple[str, ...] = ()
    significance: float = 1e-3
    checks: tuple[LoopCheck, ...] = (
        LoopCheck(
            name="conformance",
            verdict="consistent",
            epsilon_lower=0.0,
            noise_caught=0.9,
            sentence="Noise below 0.9 is seen.",
        ),
    )

    def evidence(self) -> LoopAudit:
        """Return what the audit shows."""
        return LoopAudit(
            verdict=self.verdict,
            significance=self.significance,
            watched=self.watched,
            not_observed=self.unseen,
            not_trained=self.untrained,
            findings=self.findings,
            checks=self.checks,
            conditions=self.conditions(),
        )

    def conditions(self) -> tuple[Condition, ...]:
        """Return one condition, seen unless it is among what was not."""
        noise = Condition(kind="training_loop", about=("noise",))
        return (noise if "noise" in self.unseen else noise.seen(holds=not self.findings),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What an attack on a model shows."""

    verdict: TrainingVerdict
    epsilon_lower: float = 0.25
    significance: float = 0.01


LEAK = Finding(rule="DPA224", where="weights", message="weights follow the records.")


def report(loop: Loop, attacks: tuple[tuple[str, ModelEvidence], ...] = (), **training: Any) -> TrainingReport:
    """Return the report of a small run."""
    noise = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="add_remove")
    step = Subsample(part=Release(label="sums", mechanism=noise), rate=0.1)
    certificate = certify(Repeat(part=step, times=20), CLAIM, conditions=loop.conditions(), findings=loop.findings)
    declared = replace(TRAINING, **training)
    return TrainingReport(name="a model", certificate=certificate, training=declared, audit=loop, attacks=attacks)


@pytest.mark.parametrize(
    ("loop", "attacks", "word"),
    [
        (Loop(), (), "CERTIFIED WITH CAVEATS"),
        (Loop(), (("loss", Attack(verdict="not_refuted")),), "CERTIFIED WITH CAVEATS"),
        (Loop(), (("loss", Attack(verdict="violation")),), "VIOLATION"),
        (Loop(verdict="violation", findings=(LEAK,)), (), "VIOLATION"),
        (Loop(verdict="more_noise"), (), "CERTIFIED WITH CAVEATS"),
    ],
)
def test_the_verdict_is_never_stronger_than_an_audit(loop: Loop, attacks: Any, word: str) -> None:
    assert report(loop, attacks).verdict == word


def test_the_json_is_verified_again() -> None:
    text = report(Loop()).to_json()
    assert is_training_report(text)
    assert verify_training_report(text).accepted


def test_the_json_has_the_published_form() -> None:
    attacked = report(Loop(verdict="violation", findings=(LEAK,)), (("loss", Attack(verdict="not_refuted")),))
    validator = jsonschema.Draft202012Validator(load("training"))
    assert not list(validator.iter_errors(attacked.to_dict()))
    assert list(validator.iter_errors(attacked.to_dict() | {"more": 1}))


def test_an_inconclusive_loop_leaves_the_report_unconfirmed() -> None:
    found = verify_training_report(report(Loop(verdict="inconclusive", unseen=("noise",))).to_json())
    assert not found.complaints
    assert found.unconfirmed


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "CERTIFIED"), ("name", "another model"), ("not_covered", ["nothing"]), ("attacks", []), ("loop", 1)],
)
def test_one_altered_entry_is_a_complaint(key: str, value: Any) -> None:
    attacked = report(Loop(), (("loss", Attack(verdict="not_refuted")),)).to_dict()
    assert verify_training_report(json.dumps(attacked | {key: value})).complaints


def test_a_loop_with_findings_cannot_be_called_consistent() -> None:
    data = report(Loop(verdict="violation", findings=(LEAK,))).to_dict()
    data["loop"]["verdict"] = "consistent"
    assert any("calls it no violation" in line for line in verify_training_report(json.dumps(data)).complaints)


@pytest.mark.parametrize("altered", ["check", "more"])
def test_a_report_with_a_new_digest_must_agree_with_itself(altered: str) -> None:
    data = report(Loop()).to_dict()
    if altered == "check":
        data["loop"]["checks"][0]["verdict"] = "violation"
    else:
        data["note"] = "all is well"
    text = json.dumps(data | {"digest": digest_of(data)})
    said = " ".join(verify_training_report(text).complaints)
    assert "calls it no violation" in said or "unknown key 'note'" in said


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(training=""),
        lambda data: data["training"].update(noise_multiplier=0.5),
        lambda data: data["loop"].update(verdict="excellent"),
        lambda data: data["loop"].update(findings=0),
        lambda data: data["loop"].update(significance="small"),
        lambda data: data["loop"]["checks"][0].pop("sentence"),
        lambda data: data["attacks"][0].update(verdict="not_a_violation"),
        lambda data: data["attacks"][0].update(epsilon_lower="nan"),
        lambda data: data.update(not_covered=[3]),
    ],
)
def test_a_report_with_a_new_digest_has_every_entry_of_its_type(change: Any) -> None:
    """The noise is that of another run: its certificate claims less than this one costs."""
    data = report(Loop(), (("loss", Attack(verdict="not_refuted")),)).to_dict()
    change(data)
    (complaint,) = verify_training_report(json.dumps(data | {"digest": digest_of(data)})).complaints
    assert "malformed" in complaint


def test_a_report_with_a_key_twice_is_no_report() -> None:
    text = report(Loop()).to_json()
    assert not is_training_report(text.replace('"name": "a model"', '"name": "a model", "name": "another"'))


def test_a_violation_is_a_complaint_of_verify() -> None:
    assert verify_training_report(report(Loop(), (("loss", Attack(verdict="violation")),)).to_json()).complaints


def test_a_certificate_of_another_run_is_refused() -> None:
    with pytest.raises(ValueError, match="another run"):
        report(Loop(), noise_multiplier=1.0)


def test_a_certificate_without_the_audit_is_refused() -> None:
    made = report(Loop())
    with pytest.raises(ValueError, match="what the audit looked at"):
        replace(made, audit=Loop(verdict="violation", findings=(LEAK,)))


def test_the_page_names_claim_proof_loop_and_what_is_not_covered() -> None:
    page = report(Loop(untrained=("adapter",))).markdown()
    said = "epsilon = 1", "20 steps", "Noise below 0.9 is seen.", "noise alone): adapter", "Data of pre-training"
    assert [words for words in said if words not in page] == []
    assert "flags a right loop with probability at most 0.001" in page
    assert "This rests on the open conditions below." in page
    named = replace(report(Loop()), not_covered=("The vocabulary.",)).markdown()
    assert [words for words in ("The vocabulary.", "Data of pre-training") if words not in named] == []
    assert len(page.split()) < 500
