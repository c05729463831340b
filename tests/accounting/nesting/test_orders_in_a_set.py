"""A law of one order in a set of fixed size, where each set of other records may have its own order."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.derivation import maps
from dpaudit.accounting.derivation.walker import derived
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import Composition
from dpaudit.semantics import Table
from dpaudit.semantics.seeds import sample
from dpaudit.semantics.tables import laws
from tests.noise.test_one_order import Coded
from tests.semantics.judging import best

ONE = laws("3/5 1/5 1/5", "1/5 3/10 1/2")
TWO = tuple(tuple(p * q for p in law for q in law) for law in ONE)
TABLES = {name: Table(held, {"replace": 1, "exchange": 1}) for name, held in (("once", ONE), ("twice", TWO))}
"""The laws of `Coded`, and those of two releases that have one order: queries pick the order in each set by itself."""

CODE = dp.Release(label="code", mechanism=Coded(one_order=True))
X = Fraction(5, 4)


def twice(part: Declaration) -> dp.Repeat:
    """Return a part that is met twice."""
    return dp.Repeat(part=part, times=2)


def played(tree: Declaration, relation: Neighbours, x: Fraction) -> float:
    """Return the largest delta of adversaries on three records, each of whose sets has an order of its own."""
    return best(tree, TABLES, relation, (x,), np.random.default_rng(1))[0]


def told(name: str) -> dp.Stated:
    """Return a leaf of the game."""
    return dp.Stated(epsilon=3.0, source=name)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_sets_in_a_set_are_counted_by_the_larger_curve_of_both_orders(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At epsilon 0 the upper end is reached within 1e-4. Twin: both orders apart, which count as a black box."""
    tree = sample(twice(sample(CODE, 2, 1)), 3, 2)
    upper = dp.bracket_delta(dp.fold(tree, relation), 0.0).upper
    game = played(sample(twice(sample(told("once"), 2, 1)), 3, 2), relation, Fraction(1))
    assert game <= upper <= game * (1 + 1e-4)
    monkeypatch.setattr(maps, "in_any_order", lambda part: part)
    assert dp.bracket_delta(dp.fold(tree, relation), 0.0).upper > 2 * game


def test_each_round_of_a_set_may_have_its_own_order() -> None:
    """Two rounds, two releases on each set: what was seen picks the next order. Twin: one order in both rounds."""
    inside = sample(twice(CODE), 3, 2)
    game = played(twice(sample(told("twice"), 3, 2)), "add_remove", X)
    assert game <= dp.bracket_delta(dp.fold(twice(inside), "add_remove"), math.log(X)).upper
    kept = NormalForm(upper=tuple(order * 2 for order in derived(inside, "add_remove").above), lower=(Composition(),))
    assert dp.bracket_delta(kept, math.log(X)).upper < game * (1 - 1e-3)
