"""A group over a choice: records of one person that change one after another may each meet another option."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.derivation.groups import chain
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.losses import ChoiceLoss, Composition
from dpaudit.model.losses.both_orders import larger_of
from dpaudit.semantics import MOVE_OF, Table, geometric
from dpaudit.semantics.data import Move
from dpaudit.semantics.seeds import parallel
from dpaudit.semantics.tables import laws
from tests.semantics.judging import FEW, best, judged

LAWS = laws("0 1", "1/10 9/10", "3/10 7/10")
"""One record shows itself with probability 1/10; a second one makes that three times as likely."""

X = Fraction(10)
LEAK = larger_of(((Fraction(9, 10), Fraction(1)),), Fraction(1, 10), Fraction(0))
RATIO = larger_of(((LAWS[2][0], LAWS[1][0]), (LAWS[2][1], LAWS[1][1])), Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rising:
    """A supplier's mechanism with these laws for the answers 0, 1 and 2."""

    name: ClassVar[str] = "rising"
    neighbours: Neighbours

    def loss(self) -> ChoiceLoss:
        """Return both pairs of neighbouring answers, of which a query picks one."""
        return ChoiceLoss(options=(LEAK, RATIO))

    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return nothing new."""
        return value

    def log_density(self, output: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return nothing new."""
        return np.asarray(output - value)

    def scaled(self, factor: float) -> "Rising":
        """Return the same."""
        return self


def game(relation: Neighbours) -> float:
    """Return the largest delta at x of adversaries who change both records of a person."""
    tables = {"rising": Table(LAWS, {MOVE_OF[relation]: 1, "drop": 0})}
    tree = dp.Group(part=dp.Stated(epsilon=1.0, source="rising"), size=2)
    return best(tree, tables, relation, (X,), np.random.default_rng(1))[0]


@pytest.mark.parametrize("relation", NEIGHBOURS)
def test_a_group_counts_one_option_after_another(relation: Neighbours) -> None:
    """The second record multiplies the delta of the first one: 3/10 is reached. The checker says the same."""
    tree = dp.Group(part=dp.Release(label="a", mechanism=Rising(neighbours=relation)), size=2)
    assert game(relation) == 0.3
    for delta, verdict in ((0.25, "not_proved"), (0.45, "stated")):
        certificate = dp.certify(tree, dp.Claim(epsilon=math.log(X), delta=delta, neighbours=relation))
        assert certificate.verdict == verdict
        assert certificate.tight.delta.upper >= 0.3
        assert dp.verify(certificate.to_json()).accepted


def test_options_that_are_composed_are_exceeded() -> None:
    """The twin: each option for two records, and both options together."""
    composed = chain(Composition.of(LEAK), 2) + chain(Composition.of(RATIO), 2)
    upper = dp.bracket_delta(NormalForm(upper=(composed,), lower=(composed,)), math.log(X)).upper
    assert upper < 0.21 < game("add_remove")


@pytest.mark.parametrize("relation", NEIGHBOURS)
def test_both_records_may_enter_the_dearer_part(relation: Neighbours) -> None:
    """Two records in the part of odds 4 show odds of 16. Twin: two records in the part of odds 2 show 4 at most."""
    gentle, steep = (dp.Stated(epsilon=1.0, source=name) for name in ("gentle", "steep"))
    bounds: dict[Move, int] = {MOVE_OF[relation]: 1, "drop": 0}
    tables = {
        "gentle": Table(geometric(Fraction(1, 2), 3), bounds),
        "steep": Table(geometric(Fraction(1, 4), 3), bounds),
    }
    rng = np.random.default_rng(1)
    for parts in ((gentle, steep), (steep, gentle)):
        held = judged(dp.Group(part=parallel(*parts), size=2), tables, relation, "tables", (Fraction(5),), rng, FEW)
        assert 0 < held.game[0] <= held.upper[0]
    alone = judged(dp.Group(part=gentle, size=2), tables, relation, "tables", (Fraction(5),), rng, FEW)
    assert alone.upper[0] < held.game[0]
