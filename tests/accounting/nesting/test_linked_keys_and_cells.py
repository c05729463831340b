"""Lower ends that no definition gives: two linked keys, two cells, a secret part, a choice on a sample."""

import json
import math

import pytest

from dpaudit import Cells, Claim, Condition, Local, Parallel, Release, Repeat, Sequential, Subsample, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.verifier.proof.derivation import checked_rows
from dpaudit.verifier.proof.witnesses import both_sides
from dpaudit.verifier.refusals import Rejection
from mechanisms import Exponential, Laplace

LINKED = Condition(kind="attained", text="A replay saw one pair move all of them by as much.", status="checked")


def noisy(label: str, epsilon: float, neighbours: Neighbours = "replace_one") -> Release:
    """A release of a pure epsilon."""
    return Release(label=label, mechanism=Laplace(scale=1 / epsilon, l1_sensitivity=1.0, neighbours=neighbours))


def keyed(second: str, *, named: bool = False) -> Sequential:
    """Two nodes whose first parts ask one query at epsilon ln 3; the other parts ask next to nothing of it."""
    rest = noisy("other" if named else "count", 1e-3)
    parts = noisy("count", math.log(3)), rest
    return Sequential(parts=(Parallel(parts=parts, key="region"), Parallel(parts=parts, key=second)))


CELLS = Cells(inside=noisy("bins", 0.5), touched=noisy("bins", 1.0, "add_remove"))
SECRET = Repeat(part=Parallel(parts=(noisy("a", 2.0), noisy("a", 2.0)), key="an order", visibility="secret"), times=3)
OPEN: dict[str, tuple[Declaration, float, float]] = {
    "linked keys": (keyed("season"), 1.2, math.log(3)),  # whoever is in the first region is in the second season
    "one cell": (CELLS, 1.1, 0.5),  # the cell that is filled moves by a tenth
    "two arrays": (Sequential(parts=(CELLS, CELLS)), 1.2, 0.5),  # in one cell of the first, in two of the second
    "a secret part": (SECRET, 0.1, 0.0),
}
"""What a claim says that some system keeps, and what is attained by definition."""


@pytest.mark.parametrize("name", OPEN)
def test_a_claim_that_some_system_keeps_is_not_refuted_by_definition(name: str) -> None:
    """The lower end is that of one key, of one cell, of nothing; what would refute is said to be assumed."""
    tree, epsilon, attained = OPEN[name]
    certificate = certify(tree, Claim(epsilon=epsilon, neighbours="replace_one"))
    assert certificate.verdict == "not_proved"
    assert certificate.tight.epsilon.lower == pytest.approx(attained, rel=1e-9)
    grounds = [witness.attained for witness in certificate.witnesses]
    assert grounds == ([] if name == "a secret part" else ["by_definition", "assumed"])
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())


@pytest.mark.parametrize("name", ["linked keys", "one cell"])
def test_the_checker_takes_no_assumed_witness_by_definition(name: str) -> None:
    """The forgery: the assumed witness alone, said to hold by definition, in a certificate that says refuted."""
    tree, epsilon, _ = OPEN[name]
    data = certify(tree, Claim(epsilon=epsilon, neighbours="replace_one")).to_dict()
    assumed = data["witnesses"][-1] | {"attained": "by_definition", "labels": ["count" if "keys" in name else "bins"]}
    forged = {key: held for key, held in data.items() if key != "digest"} | {
        "witnesses": [assumed],
        "verdict": "refuted",
    }
    forged["conditions"] = [row for row in data["conditions"] if row["kind"] != "attained"]
    refused = sides_refused(forged)
    assert "not be those of one record" in refused or "no second cell" in refused
    assert not verify(json.dumps(forged | {"digest": digest_of(forged)})).accepted


def sides_refused(data: dict[str, object]) -> str:
    """What the checker says of the witnesses of a certificate."""
    with pytest.raises(Rejection) as caught:
        both_sides(data, checked_rows(data))
    return str(caught.value)


def test_a_checked_pair_names_the_cells_and_the_keys_where_it_can() -> None:
    """Two cells by a named pair; two keys only if each release stands in one part, so that no key is left open."""
    claim = Claim(epsilon=1.2, neighbours="replace_one")
    named = keyed("season", named=True)
    only_count = Condition(kind="attained", about=("count",), text="A replay saw it.", status="checked")
    verdicts = [
        certify(tree, claim, conditions=(held,)).verdict
        for tree, held in ((CELLS, LINKED), (keyed("season"), LINKED), (named, LINKED), (named, only_count))
    ]
    assert verdicts == ["refuted", "not_proved", "not_proved", "refuted"]
    for tree, held in ((CELLS, LINKED), (named, only_count)):
        assert verify(certify(tree, claim, conditions=(held,)).to_json()).accepted


def test_nodes_inside_one_another_and_nodes_of_one_key_are_one_way() -> None:
    """A release that needs two keys has a record with both; so has the same query asked again on the way."""
    inner = Parallel(parts=(noisy("count", 0.5), noisy("count", 0.1)), key="season")
    outer = Parallel(parts=(inner, noisy("count", 0.1)), key="region")
    tree = Sequential(parts=(outer, outer, noisy("count", 0.5)))
    certificate = certify(tree, Claim(epsilon=1.4, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert certificate.tight.epsilon.lower == pytest.approx(1.5)
    assert verify(certificate.to_json()).accepted


def test_a_choice_on_a_sample_is_attained_by_definition_in_a_message_only() -> None:
    """The best candidate may change beside another record alone; in a message there is no other record."""
    choice = Release(label="best", mechanism=Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="add_remove"))
    halved = math.log1p(0.5 * math.expm1(1.0))
    cases = ((choice, 0.0), (Local(part=choice), halved), (noisy("sum", 1.0, "add_remove"), halved))
    for part, lower in cases:
        certificate = certify(Subsample(part=part, rate=0.5), Claim(epsilon=0.1, neighbours="add_remove"))
        assert certificate.tight.epsilon.lower == pytest.approx(lower, rel=1e-9)
        assert certificate.verdict == ("refuted" if lower else "not_proved")
        assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
