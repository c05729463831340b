"""Conditions: identity by kind, merging, and the sentences, which no verdict depends on."""

import json
from dataclasses import replace
from typing import cast, get_args

import pytest

import dpaudit as dp
from dpaudit.errors import CertificateError
from dpaudit.gate.comparison import compare
from dpaudit.model import condition_kinds
from dpaudit.model.certificate import digest_of
from dpaudit.model.condition import Condition, conditions_of, merge
from dpaudit.model.condition_kinds import KINDS, ConditionKind, ShownBy
from dpaudit.report.compliance.hazards import hazards
from dpaudit.report.document import Report
from dpaudit.report.facts import gather
from dpaudit.report.releases import justified
from dpaudit.runtime.tables import table_of
from dpaudit.verifier import verify
from mechanisms import Gaussian

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint")
ONE = dp.Release(label="one sum", mechanism=Gaussian(stddev=80.0, l2_sensitivity=1.0, neighbours="replace_one"))
ALONE = dp.Release(label="one cell", mechanism=Gaussian(stddev=80.0, l2_sensitivity=1.0, neighbours="add_remove"))
BOARD = dp.Billboard(
    part=dp.PostProcess(
        part=dp.Sequential(
            parts=(
                dp.Parallel(parts=(ONE,), key="the arrival time"),
                dp.Group(part=ONE, size=2),
                dp.Subsample(part=dp.Stated(epsilon=0.01, source="a vendor"), rate=0.5, scheme="without_replacement"),
                dp.Stated(epsilon=0.01, source="a vendor"),
                dp.Stated(epsilon=0.01, source="a vendor", neighbours="replace_one"),
            )
        ),
        steps=("rounding", "sorting"),
    ),
    reads=("their own context",),
)
TREE = dp.Sequential(parts=(BOARD, dp.Cells(inside=ONE, touched=ALONE), dp.Local(part=ONE)))
"""One node of each kind that brings a condition."""


@pytest.fixture
def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence of the table replaced by one that says nothing."""
    for place, kind in enumerate(get_args(ConditionKind)):
        monkeypatch.setitem(KINDS, kind, replace(KINDS[kind], sentence=f"Sentence {place}."))


def test_every_kind_has_one_sentence_that_names_what_it_is_about() -> None:
    assert set(KINDS) == set(get_args(ConditionKind)) == set(table_of("dpaudit.model", "condition_kinds.toml"))
    assert len({words.sentence for words in KINDS.values()}) == len(KINDS)
    for kind, words in KINDS.items():
        assert ("{listed}" in words.sentence) == (not words.general or bool(words.unnamed)), kind
        assert words.shown_by in get_args(ShownBy)


def test_a_kind_outside_the_set_is_refused_and_so_is_one_that_cannot_be_told_apart() -> None:
    with pytest.raises(ValueError, match="kind"):
        Condition(kind="clip")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="about="):
        Condition(kind="clipping", text="Rewards are clipped.")


def test_conditions_merge_by_kind_and_what_they_are_about_whatever_their_words() -> None:
    assumed = Condition(kind="clipping", about=("rewards",))
    checked = Condition(kind="clipping", about=("rewards",), text="No reward exceeded 1.", status="checked")
    violated = Condition(kind="clipping", about=("rewards",), text="A reward exceeded 1.", status="violated")
    other = Condition(kind="clipping", about=("features",))
    assert merge((assumed, other), (checked,)) == (checked, other)
    assert merge((violated,), (checked,)) == merge((checked,), (violated,)) == (violated,)
    assert merge((checked,), (assumed,)) == (checked,)


def _readings(reported: bool, checked: tuple[ConditionKind, ...] = ("sensitivity",)) -> dict[str, object]:
    """What a program derives from conditions, for `TREE` with some checked or violated; in a report also hazards."""
    looked = tuple(Condition(kind=kind, status="checked") for kind in checked)
    broken = Condition(kind="own_noise_stream", status="violated")
    certificate = dp.certify(TREE, CLAIM, conditions=looked)
    refused = dp.certify(TREE, CLAIM, conditions=(*looked, broken))
    report = Report(certificate=certificate, created="2026-01-01")
    shown: dict[str, object] = {}
    if reported:
        shown = {"hazards": tuple(hazards(gather(report))), "justified": justified(report)}
    return shown | {
        "conditions": [(held.identity, held.status) for held in certificate.conditions],
        "verdicts": (certificate.verdict, refused.verdict),
        "read": [dp.Certificate.from_json(held.to_json()) == held for held in (certificate, refused)],
    }


@pytest.mark.parametrize("reported", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_rewording_every_sentence_changes_no_verdict_and_no_hazard(
    request: pytest.FixtureRequest, reported: bool
) -> None:
    """The checker has a table of its own: it refuses other words of the same schema, in one line."""
    before = _readings(reported)
    old = dp.certify(TREE, CLAIM)
    assert verify(old.to_json()).accepted
    request.getfixturevalue("reworded")
    assert condition_kinds.sentence_of("sensitivity", ()) == "Sentence 0."
    assert _readings(reported) == before
    assert before["verdicts"] == ("stated", "not_proved")
    assert verify(old.to_json()).accepted
    new = dp.certify(TREE, CLAIM)
    (complaint,) = verify(new.to_json()).complaints
    assert complaint.startswith(f"the condition {old.conditions[0].text!r} is missing, altered or out of its place")
    assert merge(old.conditions, new.conditions) == old.conditions
    sides = [{"certificate": held.to_dict(), "audits": []} for held in (old, new)]
    assert compare(*sides) == ()


def test_the_checker_accepts_a_checked_condition_that_says_what_was_looked_at_and_no_other() -> None:
    sentence = condition_kinds.sentence_of("sensitivity", ())
    looked = Condition(kind="sensitivity", text=f"{sentence} Looked at: 40 pairs.", status="checked")
    assert verify(dp.certify(TREE, CLAIM, conditions=(looked,)).to_json()).accepted
    for kind, text in (("sensitivity", sentence), ("sensitivity", f"{sentence} Looked at: "), ("floating_point", "")):
        bare = Condition(kind=cast("ConditionKind", kind), text=text, status="checked")
        assert not verify(dp.certify(TREE, CLAIM, conditions=(bare,)).to_json()).accepted


def test_a_certificate_with_a_condition_struck_out_or_about_something_else_is_rejected() -> None:
    data = json.loads(dp.certify(TREE, CLAIM).to_json())
    for place, row in enumerate(data["conditions"]):
        rest = [*data["conditions"][:place], *data["conditions"][place + 1 :]]
        other = {**row, "about": [*row["about"], "another"]}
        for forged in (rest, [*rest, other], [*rest, row | {"kind": "other"}]):
            changed = data | {"conditions": forged}
            assert not verify(json.dumps(changed | {"digest": digest_of(changed)})).accepted


def test_a_certificate_of_the_first_schema_is_refused_in_one_clear_line() -> None:
    data = json.loads(dp.certify(TREE, CLAIM).to_json())
    del data["schema"]
    data["conditions"] = [{"text": row["text"], "status": row["status"]} for row in data["conditions"]]
    text = json.dumps(data | {"digest": digest_of(data)})
    with pytest.raises(CertificateError, match="Certify the configuration again"):
        dp.Certificate.from_json(text)
    (complaint,) = verify(text).complaints
    assert "schema 'none' is not read here" in complaint


def test_every_condition_of_the_tree_is_there_once() -> None:
    kinds = [held.kind for held in conditions_of(TREE)]
    assert sorted(kinds) == sorted(
        (
            *("sensitivity", "fresh_noise", "floating_point", "public_key", "one_cell", "contribution_bound"),
            *("secret_sample", "no_identifier_read", "one_message", "stated", "no_data_read"),
            *("own_inputs_only", "independent_users", "whole_record", "one_appearance"),
            *("declared_times", "one_part"),
        )
    )
