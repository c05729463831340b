"""The map from hypotheses of the proofs to kinds of conditions: its kinds exist, and nodes bring them."""

import re
from pathlib import Path
from typing import get_args

import pytest

import dpaudit as dp
from dpaudit.model.condition import conditions_of
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.model.declaration import children
from mechanisms import Gaussian, TreeAggregation

README = (Path(__file__).parents[2] / "docs" / "proofs" / "README.md").read_text(encoding="utf-8")
SECTION, _, KINDS = (
    README.split("## Hypotheses and what a certificate lists")[1].split("\n## ")[0].partition("\n### Kinds")
)
NOISE = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
LEAF = dp.Release(label="sums", mechanism=TreeAggregation(horizon=4, leaf=NOISE))
TOLD = dp.Stated(epsilon=0.1, source="a supplier")
NODES: dict[str, dp.Declaration] = {
    "Release": LEAF,
    "Stated": TOLD,
    "Sequential": dp.Sequential(parts=(LEAF,)),
    "Repeat": dp.Repeat(part=LEAF, times=2),
    "Parallel": dp.Parallel(parts=(LEAF,), key="the day"),
    "Cells": dp.Cells(inside=LEAF, touched=LEAF),
    "Group": dp.Group(part=LEAF, size=2),
    "Subsample": dp.Subsample(part=LEAF, rate=0.5),
    "PostProcess": dp.PostProcess(part=LEAF, steps=("rounding",)),
    "Billboard": dp.Billboard(part=LEAF),
    "Local": dp.Local(part=LEAF),
}


def last_cells(section: str) -> list[str]:
    """Return the right column of the map, its head and its rule left out."""
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", section, flags=re.MULTILINE)
    return rows[1:] if rows and rows[0] == "kind of condition" else []


def named(section: str) -> set[tuple[str, str]]:
    """Return the pairs (node, kind) that the map names, and the kind of the sentence about `Stated`."""
    pairs: set[tuple[str, str]] = set()
    for cell in last_cells(section):
        for node, kinds in re.findall(r"`([A-Z]\w+)`[^:]*: ((?:`\w+`(?:, )?)+)", cell):
            pairs |= {(node, kind) for kind in re.findall(r"`(\w+)`", kinds)}
    return pairs | set(re.findall(r"A node of kind `(Stated)` brings `(\w+)`", section))


def brought() -> set[tuple[str, str]]:
    """Return the pairs (node, kind) of conditions that each node itself brings, `attained` left out: a lower bound."""
    pairs: set[tuple[str, str]] = set()
    for name, node in NODES.items():
        below = {condition.kind for part in children(node) for condition in conditions_of(part)}
        own = {condition.kind for condition in conditions_of(node)} - below - {"attained"}
        pairs |= {(name, kind) for kind in own}
    return pairs


def test_every_kind_of_the_map_exists_and_its_node_brings_it() -> None:
    """The map and the conditions of the nodes are equal in both directions."""
    assert {kind for _, kind in named(SECTION)} <= set(get_args(ConditionKind))
    assert named(SECTION) == brought()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("`one_message`", "`one_letter`"),
        ("`Local`: `one_message`", "nothing"),
        ("`Release` of a tree: `public_length`", "none needed"),
        ("`Local`: `one_message`", "`Local`: `stated`"),
    ],
)
def test_a_kind_that_is_wrong_or_left_out_is_seen(old: str, new: str) -> None:
    """The twins: a kind that does not exist, one that is missing, one that another node brings."""
    assert old in SECTION
    assert named(SECTION.replace(old, new)) != brought()


def test_every_hypothesis_has_a_kind_or_a_reason() -> None:
    """No cell is empty, and none is an open gap."""
    cells = last_cells(SECTION)
    assert len(cells) > 20
    assert [cell for cell in cells if not re.search(r"`[A-Z]\w+`.*: `\w+`|none needed: \w+", cell)] == []


def needed_by(section: str) -> dict[str, str]:
    """Return what the second table says of each kind."""
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", section, flags=re.MULTILINE))


def brought_but_without_hypothesis(section: str) -> set[str]:
    """Return the kinds that a node brings and of which the table names no hypothesis."""
    table = needed_by(section)
    return {
        kind
        for _, kind in brought() - {("Stated", "stated")}
        if kind not in table or table[kind].startswith(("none", "part of"))
    }


def test_every_kind_has_a_hypothesis_or_says_why_there_is_none() -> None:
    """The other direction: all kinds, in the order of the code; those that nodes bring name a hypothesis."""
    assert list(needed_by(KINDS)) == list(get_args(ConditionKind))
    assert brought_but_without_hypothesis(KINDS) == set()
    assert all(re.match(r"`|the |round |[nT] is|none\b|part of `", reason) for reason in needed_by(KINDS).values())


def test_a_kind_without_a_hypothesis_is_seen() -> None:
    """The twins: a kind that is left out, and one of a node that says none."""
    left_out, changed = KINDS.replace("| `one_part` |", "| one part |"), KINDS.replace("| `array` |", "| none |")
    assert brought_but_without_hypothesis(left_out) == {"one_part"}
    assert brought_but_without_hypothesis(changed) == {"one_cell"}
