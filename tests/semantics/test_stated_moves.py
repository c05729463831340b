"""Leaves that state one move, and laws of one order: what follows for other moves and in the other direction."""

import math
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.derivation import allocating, maps, sampling
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.declaration import Allocate, Declaration, Repeat, Stated, Subsample, children
from dpaudit.model.moves import relation_below
from dpaudit.semantics import MOVE_OF, REVERSE, Table, geometric
from dpaudit.semantics.data import Move
from dpaudit.semantics.seeds import WAYS
from dpaudit.semantics.tables import laws
from tests.noise.test_one_order import Coded
from tests.semantics.certified import stated_for
from tests.semantics.judging import FEW, THREE, Judged, best, judged

STEP = Stated(epsilon=1.0, source="step")
LINE = geometric(Fraction(1, 2), 4)
XS, BELOW = (Fraction(1), Fraction(5, 4)), math.log(1.25)
CODE = laws("3/5 1/5 1/5", "1/5 3/10 1/2")


def of_step(ways: str) -> Declaration:
    """Return ways one inside the other, the outer one first."""
    tree: Declaration = STEP
    for way in reversed(ways.split(" over ")):
        tree = WAYS[way](tree)
    return tree


def read_below(tree: Declaration, relation: Neighbours) -> Neighbours:
    """Return the relation that the leaf of a nest is stated for."""
    while not isinstance(tree, Stated):
        if isinstance(tree, Subsample | Allocate):
            relation = relation_below(tree, 0, relation)
        (tree, *_) = children(tree)
    return relation


def of_one_move(ways: str, relation: Neighbours) -> Judged:
    """Return a nest as it is judged whose leaf bounds the move that it is stated for by one step, and no other move."""
    tree = of_step(ways)
    move = MOVE_OF[read_below(tree, relation)]
    tables = {"step": Table(LINE, {move: 1})}
    return judged(tree, tables, relation, "tables", THREE[:2], np.random.default_rng(1), FEW)


NESTS = [*WAYS, *(f"repeat 2 over {way}" for way in WAYS if way != "allocate 1 of 2"), "poisson over cells"]


@pytest.mark.parametrize("ways", NESTS)
def test_no_end_is_wrong_where_a_leaf_states_one_move(ways: str) -> None:
    """Two records in each other's place, one zeroed among others: bounded by what follows from the stated move."""
    seen = {relation: of_one_move(ways, relation) for relation in NEIGHBOURS}
    assert [relation for relation, held in seen.items() if held.wrong or held.too_high] == []
    assert any(held.upper for held in seen.values())


@pytest.mark.parametrize(
    ("ways", "relation", "name", "broken"),
    [
        ("fixed 1 of 2", "zero_out", "zeroed", maps.exchanged),
        ("repeat 2 over fixed 1 of 2", "zero_out", "zeroed", maps.exchanged),
        ("truncated", "add_remove", "chain", lambda part, records: part),
        ("poisson over cells", "replace_one", "chain", lambda part, records: part),
    ],
)
def test_a_move_that_does_not_follow_is_seen(
    ways: str, relation: Neighbours, name: str, broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twins: another record moves no further than the stated move does."""
    monkeypatch.setattr(maps, name, broken)
    assert of_one_move(ways, relation).wrong


GROUPED = ("fixed 1 of 2", "fixed 2 of 3", "poisson", "truncated", "with replacement 1 of 2")


@pytest.mark.parametrize("way", GROUPED)
def test_a_group_over_a_sample_is_refused_or_true(way: str) -> None:
    """Two records of a person on a sample move the answer by two steps."""
    seen = [of_one_move(f"group 2 over {way}", relation) for relation in NEIGHBOURS]
    assert not any(held.wrong or held.too_high for held in seen)


@pytest.mark.parametrize(
    ("way", "relation"),
    [
        ("fixed 1 of 2", "replace_one"),
        ("fixed 2 of 3", "replace_one"),
        ("fixed 1 of 2", "zero_out"),
        ("poisson", "add_remove"),
        ("poisson", "replace_one"),
    ],
)
def test_a_group_that_counts_one_record_of_a_sample_is_seen(
    way: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: the other record is forgotten."""
    monkeypatch.setattr(sampling, "chained", lambda alone, records: alone)
    assert of_one_move(f"group 2 over {way}", relation).wrong


def twice(part: Declaration) -> Repeat:
    """Return a part that is met twice."""
    return Repeat(part=part, times=2)


def exceeded(way: str, relation: Neighbours) -> list[tuple[str, float, float]]:
    """Return where two releases of one order, inside a way or beyond it, show more than the upper end says.

    The record's answer is never below the other one, or never above it: either law may be the record's.
    """
    found, move = [], MOVE_OF[relation]
    for name, tree in (("inside", WAYS[way](twice(STEP))), ("beyond", twice(WAYS[way](STEP)))):
        tables = {"step": Table(CODE, {})}
        declared = stated_for(tree, tables, relation, lambda _, read: Coded(neighbours=read, one_order=True))
        uppers = [dp.bracket_delta(dp.fold(declared, relation), epsilon).upper for epsilon in (0.0, BELOW)]
        for there in (0, 1):
            bounds: dict[Move, int] = {move: there, REVERSE[move]: 1 - there}
            tables = {"step": Table(CODE, bounds | ({"drop": 0} if move == "zero" else {}))}
            game = best(tree, tables, relation, XS, np.random.default_rng(1), FEW)
            found += [(name, upper, value) for upper, value in zip(uppers, game, strict=True) if upper < value - 1e-12]
    return found


WAYS_OF_ONE_ORDER: list[tuple[str, Neighbours]] = [
    *((way, "add_remove") for way in ("poisson", "allocate 1 of 2", "truncated", "parallel", "cells", "group 2")),
    *((way, "zero_out") for way in ("poisson", "allocate 1 of 2", "parallel", "group 2")),
]


@pytest.mark.parametrize(("way", "relation"), WAYS_OF_ONE_ORDER)
def test_a_law_of_one_order_counts_as_the_records_and_as_the_others(way: str, relation: Neighbours) -> None:
    """On samples, at secret steps, in parts and in cells no direction exceeds the upper end."""
    assert exceeded(way, relation) == []


@pytest.mark.parametrize(("way", "where"), [("poisson", sampling), ("allocate 1 of 2", allocating)])
@pytest.mark.parametrize("relation", ["add_remove", "zero_out"])
def test_a_law_that_is_read_in_one_order_alone_is_seen(
    way: str, where: ModuleType, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: the stated law is taken as that of the record."""
    monkeypatch.setattr(where, "open_orders", tuple)
    assert exceeded(way, relation)
