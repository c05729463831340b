"""Beside each rule a report names what the rule rests on, and what it names exists."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import dpaudit as dp
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Filtered
from dpaudit.model.losses import Loss
from dpaudit.model.node_kinds import NODES
from dpaudit.report import Report, System
from dpaudit.report.theorems import theorems_of
from dpaudit.report.writing import render
from dpaudit.runtime.tables import table_of
from dpaudit.wording.references import REFERENCES, Reference, RuleKind, Variant, reference, reference_words
from mechanisms import Gaussian, Laplace, RandomisedResponse, TreeAggregation

ROOT = Path(__file__).parents[2]


def test_every_node_and_every_loss_has_words_and_no_words_are_left_over() -> None:
    words = table_of("dpaudit.wording", "nodes.toml")
    assert set(words) == {*NODES, "losses"}
    kinds = {kind for member in get_args(Loss) for kind in (get_args(member) or (member,))}
    assert set(words["losses"]) == {kind.__name__ for kind in kinds}


def normal(neighbours: Neighbours = "replace_one") -> dp.Release:
    """Return a Gaussian release."""
    return dp.Release(label="normal", mechanism=Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours=neighbours))


def double(neighbours: Neighbours = "replace_one") -> dp.Release:
    """Return a Laplace release."""
    return dp.Release(label="double", mechanism=Laplace(scale=9.0, l1_sensitivity=1.0, neighbours=neighbours))


def tree(signs: tuple[int, ...] = (1,)) -> dp.Release:
    """Return a tree over a stream."""
    leaf = Gaussian(stddev=9.0, l2_sensitivity=1.0, neighbours="replace_one")
    return dp.Release(label="tree", mechanism=TreeAggregation(horizon=8, leaf=leaf, signs=signs))


TOLD = dp.Stated(epsilon=0.1, delta=1e-7, source="a supplier")
TOLD_PURE = dp.Stated(epsilon=0.05, source="a supplier")
EITHER = dp.Parallel(parts=(normal(), double()), key="the arm shown")
USED: dict[str, tuple[dp.Declaration, Neighbours, tuple[RuleKind, ...]]] = {
    "noise": (normal(), "replace_one", ("release",)),
    "outcomes": (
        dp.Release(label="bit", mechanism=RandomisedResponse(epsilon=0.5, categories=3)),
        "replace_one",
        ("by_definition",),
    ),
    "tree": (tree(), "replace_one", ("release", "tree")),
    "tree with removals": (tree((1, -1)), "replace_one", ("release", "tree_plan")),
    "sequence": (dp.Sequential(parts=(normal(), double())), "replace_one", ("sequential",)),
    "repetition": (dp.Repeat(part=normal(), times=3), "replace_one", ("repeat",)),
    "choice": (dp.Repeat(part=EITHER, times=3), "replace_one", ("repeat", "adaptive_choice")),
    "choice in sequence": (dp.Sequential(parts=(EITHER, normal())), "replace_one", ("sequential", "adaptive_choice")),
    "one part is worst": (
        dp.Repeat(part=dp.Parallel(parts=(normal(), normal()), key="the day"), times=2),
        "replace_one",
        ("repeat",),
    ),
    "parallel": (EITHER, "replace_one", ("parallel",)),
    "secret key": (replace(EITHER, visibility="secret"), "replace_one", ("secret_key",)),
    "cells": (dp.Cells(inside=normal(), touched=normal("add_remove")), "replace_one", ("cells",)),
    "group of shifts": (dp.Group(part=normal(), size=3), "replace_one", ("shifted_group",)),
    "group of boxes": (dp.Group(part=TOLD, size=3), "replace_one", ("group",)),
    "sampled normal noise": (dp.Subsample(part=normal("add_remove"), rate=0.1), "add_remove", ("subsample",)),
    "sampled box": (dp.Subsample(part=double("add_remove"), rate=0.1), "add_remove", ("sample",)),
    "secret steps": (dp.Allocate(part=normal("add_remove"), steps=10), "add_remove", ("allocate",)),
    "fixed sample": (
        dp.Subsample(part=double(), rate=0.1, scheme="without_replacement"),
        "replace_one",
        ("subsample",),
    ),
    "group that no rule covers": (dp.Group(part=EITHER, size=3), "replace_one", ("shifted_group",)),
    "group of several boxes": (
        dp.Group(part=dp.Parallel(parts=(double(), TOLD_PURE), key="the day"), size=3),
        "replace_one",
        ("group",),
    ),
    "sample that no rule covers": (dp.Subsample(part=double(), rate=0.1), "replace_one", ("subsample",)),
    "shuffled reports": (
        dp.Shuffle(part=dp.Release(label="bit", mechanism=RandomisedResponse(epsilon=0.5, categories=3)), users=9),
        "replace_one",
        ("shuffle",),
    ),
    "best of several runs": (dp.BestOf(part=normal(), law="fixed", runs=3), "replace_one", ("best_of",)),
    "budget of rho": (Filtered(parts=(normal(),), rho=0.5), "replace_one", ("filtered",)),
    "processing": (dp.PostProcess(part=normal(), steps=("rounding",)), "replace_one", ("post_process",)),
    "billboard": (dp.Billboard(part=normal()), "replace_one", ("billboard",)),
    "local": (dp.Local(part=normal()), "replace_one", ("local",)),
    "stated": (TOLD, "replace_one", ("stated",)),
}


def absent(entries: Iterable[Reference]) -> list[str]:
    """Return the rules whose file or theorem does not exist, or that have none where their standing asks for one."""
    wrong: list[str] = []
    for entry in entries:
        file = ROOT / entry.place
        if entry.standing == "machine_checked":
            text = file.read_text(encoding="utf-8") if entry.theorem and file.is_file() else ""
            good = re.search(rf"^ *(?:Theorem|Corollary) {entry.theorem}\b", text, flags=re.M) is not None
            others = re.findall("`(.*?)`", entry.scope)
            good &= all(re.search(rf"^ *Theorem {name}\b", text, flags=re.M) for name in others)
        elif entry.standing == "on_paper":
            good = file.is_file() and file.suffix == ".md" and not entry.theorem
        else:
            good = bool(entry.place) and not entry.theorem
        if not good:
            wrong.append(entry.rule)
    return wrong


def test_every_kind_of_node_and_every_variant_has_an_entry() -> None:
    """The table is complete and holds nothing else."""
    assert set(REFERENCES) == {*NODES, *get_args(Variant)}


def test_what_the_table_names_exists() -> None:
    """Each file of a proof holds the named theorem, and each page is there."""
    assert absent(REFERENCES.values()) == []


@pytest.mark.parametrize(
    "twin",
    [
        replace(reference("billboard"), place="docs/proofs/Absent.v"),
        replace(reference("billboard"), theorem="absent"),
        replace(reference("billboard"), theorem=""),
        replace(reference("billboard"), standing="on_paper"),
        replace(reference("billboard"), standing="cited"),
        replace(reference("billboard"), scope="the other order is `absent`"),
    ],
    ids=reference_words,
)
def test_an_entry_that_names_nothing_is_seen(twin: Reference) -> None:
    """The twins: no such file, no such theorem, none named, a theorem in Coq with another standing."""
    assert absent([twin]) == ["billboard"]


@pytest.mark.parametrize(("node", "neighbours", "rules"), USED.values(), ids=USED)
def test_a_node_names_the_rules_that_the_fold_uses(
    node: dp.Declaration, neighbours: Neighbours, rules: tuple[RuleKind, ...]
) -> None:
    """The rule depends on the losses below: a choice needs two alternatives, a box of (epsilon, delta) is no shift."""
    assert tuple(entry.rule for entry in theorems_of(node, neighbours)) == rules


def test_every_entry_is_used_by_some_node() -> None:
    """The cases above reach the whole table."""
    assert {rule for _, _, rules in USED.values() for rule in rules} == set(REFERENCES)


def test_sources_stand_where_nothing_is_proved_here() -> None:
    """A cited rule names the paper of the noise or of the node; a stated part names who said it."""
    assert theorems_of(normal(), "replace_one")[0].place == "Balle and Wang (2018), Theorem 8"
    assert "Zhu, Dong and Wang" in theorems_of(dp.Subsample(part=normal("add_remove"), rate=0.1), "add_remove")[0].place
    assert reference_words(theorems_of(TOLD, "replace_one")[0]) == "no theorem: taken on trust from a supplier"
    for node, neighbours, _ in USED.values():
        for entry in theorems_of(node, neighbours):
            assert entry.place not in {REFERENCES["release"].place, REFERENCES["shifted_group"].place}


def test_every_format_names_the_theorem_of_each_rule() -> None:
    """JSON holds the entry of each row; the page and the annex of the Markdown print it.

    The claim promises so little that no slack is computed, which no row is about.
    """
    node = dp.Billboard(part=dp.Repeat(part=EITHER, times=2))
    certificate = dp.certify(node, dp.Claim(epsilon=1000.0, delta=1e-5, neighbours="replace_one", model="joint"))
    files = render(Report(system=System(name="a board"), certificate=certificate, created="2026-01-31"))
    rows = json.loads(files["report.json"])["derivation"]
    assert [[entry["rule"] for entry in row["theorems"]] for row in rows] == [
        ["billboard"],
        ["repeat", "adaptive_choice"],
        ["parallel"],
        ["release"],
        ["release"],
    ]
    rules: tuple[RuleKind, ...] = ("billboard", "repeat", "adaptive_choice", "parallel")
    for entry in map(reference, rules):
        for text in (files["report.html"], files["annex.md"].replace("\\", "")):
            assert f"machine-checked: {entry.place}, {entry.theorem}" in text
