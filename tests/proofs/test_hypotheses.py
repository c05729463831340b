"""The map from hypotheses of the proofs to kinds of conditions: its kinds exist, and nodes bring them."""

import re
from pathlib import Path
from typing import get_args

import pytest

from dpaudit import (
    Billboard,
    Cells,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
)
from dpaudit.model.condition import conditions_of
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.model.declaration import children
from mechanisms import Gaussian

README = (Path(__file__).parents[2] / "docs" / "proofs" / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Hypotheses and what a certificate lists")[1].split("\n## ")[0]
LEAF = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
TOLD = Stated(epsilon=0.1, source="a supplier")
NODES: dict[str, Declaration] = {
    "Release": LEAF,
    "Stated": TOLD,
    "Sequential": Sequential(parts=(LEAF,)),
    "Repeat": Repeat(part=LEAF, times=2),
    "Parallel": Parallel(parts=(LEAF,), key="the day"),
    "Cells": Cells(inside=LEAF, touched=LEAF),
    "Group": Group(part=LEAF, size=2),
    "Subsample": Subsample(part=LEAF, rate=0.5),
    "PostProcess": PostProcess(part=LEAF, steps=("rounding",)),
    "Billboard": Billboard(part=LEAF),
    "Local": Local(part=LEAF),
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
        ("`Local`: `one_message`", "gap 1"),
        ("`Local`: `one_message`", "`Local`: `stated`"),
    ],
)
def test_a_kind_that_is_wrong_or_left_out_is_seen(old: str, new: str) -> None:
    """The twins: a kind that does not exist, one that is missing, one that another node brings."""
    assert old in SECTION
    assert named(SECTION.replace(old, new)) != brought()


def test_every_hypothesis_has_a_kind_a_reason_or_a_listed_gap() -> None:
    """No cell is empty, and the gaps of the table are those of the list."""
    cells = last_cells(SECTION)
    assert len(cells) > 20
    assert [cell for cell in cells if not re.search(r"`[A-Z]\w+`.*: `\w+`|none needed|gap \d", cell)] == []
    told = {int(number) for cell in cells for number in re.findall(r"gap (\d+)", cell)}
    listed = [int(number) for number in re.findall(r"^(\d+)\. \*\*", SECTION, flags=re.MULTILINE)]
    assert listed == sorted(told) == list(range(1, len(listed) + 1))
