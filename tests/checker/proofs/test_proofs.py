"""The derivation of a certificate is a proof: the checker demands each row of it, and no other."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.derivation.table import RULES
from dpaudit.accounting.derivation.walker import derived
from dpaudit.accounting.derivation.whitelist import ALLOWED
from dpaudit.certification import derivation as emission
from dpaudit.certification.derivation import derivation_of
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import encode
from dpaudit.model.moves import reads_of
from dpaudit.verifier import verify
from dpaudit.verifier.proof.derivation import checked_rows
from dpaudit.verifier.refusals import Rejection
from dpaudit.verifier.shape import TABLES
from mechanisms import Gaussian, Laplace
from tests.checker.drawn_certificates import drawn_tree
from tests.checker.proofs.editing import EDITS, edited
from tests.checker.proofs.folds import derivation

Data = dict[str, Any]


def noisy(stddev: float = 3.0, neighbours: Neighbours = "replace_one", label: str = "sum") -> dp.Release:
    """A release of Gaussian noise."""
    return dp.Release(label=label, mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours))


ADDED = noisy(2.0, "add_remove")
COUNT = dp.Release(label="count", mechanism=Laplace(scale=4.0, l1_sensitivity=1.0, neighbours="replace_one"))
TREES: dict[str, tuple[dp.Declaration, Neighbours]] = {
    "training": (dp.Repeat(part=dp.Subsample(part=ADDED, rate=0.02), times=100), "add_remove"),
    "two samples": (
        dp.Sequential(
            parts=tuple(dp.Repeat(part=dp.Subsample(part=ADDED, rate=rate), times=9) for rate in (0.02, 0.3))
        ),
        "add_remove",
    ),
    "a set": (
        dp.Subsample(part=noisy(), rate=0.2, scheme="without_replacement", population=10, batch_size=2),
        "add_remove",
    ),
    "a group": (dp.Group(part=dp.Parallel(parts=(noisy(), noisy(4.0)), key="the day"), size=2), "replace_one"),
    "cells": (dp.Cells(inside=noisy(), touched=noisy(3.0, "add_remove")), "replace_one"),
    "messages": (dp.Group(part=dp.Local(part=dp.Sequential(parts=(COUNT, noisy()))), size=3), "replace_one"),
    "a supplier": (dp.Sequential(parts=(dp.Stated(epsilon=0.2, delta=1e-9, source="a vendor"), COUNT)), "replace_one"),
}


def certificate(name: str) -> Data:
    """An honest certificate as data."""
    tree, relation = TREES[name]
    return dp.certify(tree, dp.Claim(epsilon=4.0, delta=1e-4, neighbours=relation), effort="quick").to_dict()


@pytest.mark.parametrize("name", TREES)
def test_every_edited_derivation_is_refused_with_a_sentence_that_names_the_row(name: str) -> None:
    """The honest one is accepted; a derivation that is left out is not confirmed."""
    honest = certificate(name)
    assert verify(json.dumps(honest)).accepted, verify(json.dumps(honest))
    unnamed = []
    for edit, data in edited(honest):
        found = verify(json.dumps(data | {"digest": digest_of(data)}))
        assert not found.accepted, (edit, data["derivation"])
        if edit == "nothing":
            assert found.unconfirmed == ("the certificate leaves its derivation out, as it is too long",)
        elif not any("row" in said or "derivation" in said or "none of remove|" in said for said in found.complaints):
            unnamed.append((edit, found.complaints))
    assert unnamed == []


def test_there_are_hundreds_of_edits_of_every_kind() -> None:
    counts = Counter(edit for name in TREES for edit, _ in edited(certificate(name)))
    assert counts.total() >= 300
    assert counts.keys() == EDITS.keys()


def test_the_derivation_is_written_as_the_checker_demands_it_of_random_trees() -> None:
    """Two tables of rules, each in its own form: rule, place, move, records, numbers and premises are equal."""
    compared = 0
    for seed in range(200):
        rng = np.random.default_rng([33, seed])
        try:
            tree, relation = drawn_tree(rng)
            rows = derivation_of(derived(tree, relation))
        except (dp.DPAuditError, ValueError):
            continue
        plain = [row.plain() for row in rows]
        said = [{key: value for key, value in row.items() if key != "conclusion"} for row in plain]
        assert said == derivation(encode(tree), relation), (seed, tree)
        assert checked_rows({"declaration": encode(tree), "claim": {"neighbours": relation}, "derivation": plain})
        compared += 1
    assert compared >= 100


def test_both_tables_have_the_same_rules_premises_and_nests() -> None:
    """Names, moves that are read, records that they are read for, and what may lie inside what."""
    named = {
        (node, move): row["rule"]
        for node, rows in TABLES["proof"].items()
        for moves, row in rows.items()
        for move in moves.split()
    }
    assert named == {(node, move.name): rule.name for (node, move), rule in RULES.items()}
    for node, move in RULES:
        row = next(row for moves, row in TABLES["proof"][node].items() if move.name in moves.split())
        parts = row.get("parts", [["all", move.name]]) + [["all", proved] for proved in row.get("proved", [])]
        reads = [["all" if at is None else at, read.name] for at, read in reads_of(node, move)]
        assert parts == (reads if node not in ("release", "stated") else []), (node, move)
    listed = {(node, move.name): set(inner) for node, rows in ALLOWED.items() for move, inner in rows.items()}
    below = TABLES["nests"]["below"]
    assert listed == {(node, move): set(inner) for node, rows in below.items() for move, inner in rows.items()}


def test_a_derivation_comes_back_as_it_was_written() -> None:
    for tree, relation in TREES.values():
        held = dp.certify(tree, dp.Claim(epsilon=4.0, delta=1e-4, neighbours=relation), effort="quick")
        assert held.derivation[-1].path == "root"
        assert dp.Certificate.from_json(held.to_json()) == held


def test_a_derivation_that_is_too_long_is_left_out_and_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emission, "MOST_ROWS", 2)
    data = certificate("training")
    assert data["derivation"] == []
    found = verify(json.dumps(data))
    assert (found.complaints, found.accepted) == ((), False)


def test_a_checker_whose_table_reads_another_move_refuses_an_honest_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: a table whose repeat reads another move than the whole's."""
    honest = certificate("training")
    row = TABLES["proof"]["repeat"]["remove zero replace exchange"]
    monkeypatch.setitem(row, "parts", [["all", "zero"]])
    with pytest.raises(Rejection, match="row 2 of the derivation, 'repeat' at root under remove: its premise"):
        checked_rows(honest)


def test_a_certificate_of_the_version_without_derivation_is_refused_in_one_line() -> None:
    data = certificate("training")
    del data["derivation"]
    data["schema"] = "urn:dpaudit:schema:certificate:6"
    found = verify(json.dumps(data | {"digest": digest_of(data)}))
    assert len(found.complaints) == 1
    assert "certify again" in found.complaints[0]
