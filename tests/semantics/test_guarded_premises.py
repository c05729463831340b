"""Premises and sides of rules, left out one at a time: the smallest seed whose game a rule without it is wrong about.

A row plants one change in a rule of the accountant. An upper end then lies below what an adversary reaches, or a lower
end above what any reaches; the ends of the sound rule do not.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.derivation.table import RULES
from dpaudit.errors import InternalError
from dpaudit.model.claim import Neighbours
from dpaudit.model.moves import MOVES
from dpaudit.semantics import Table, geometric
from dpaudit.semantics.seeds import ANY, SHARP, SIDED, SKEW, TABLES, TWO, WAYS, both, parallel
from dpaudit.semantics.tables import laws
from tests.mutation.planting import Source, planted
from tests.semantics.judging import FEW, Judged, judged

LINE = geometric(Fraction(1, 2), 4)
SLOPE = laws("3/10 7/10", "1/10 9/10", "0 1")
"""Each step multiplies odds by two and loses a tenth, so that two steps lose three tenths."""
OWN = TABLES | {
    "step": Table(LINE, ANY),
    "far change": Table(LINE, {"remove": 1, "replace": 2}),
    "removed step": Table(LINE, {"remove": 1}),
    "removed slide": Table(SLOPE, {"remove": 1}),
    "zeroed slide": Table(SLOPE, {"zero": 1}),
    "slide": Table(SLOPE, ANY),
}
STEP, FAR, REMOVED = (dp.Stated(epsilon=0.7, source=name) for name in ("step", "far change", "removed step"))
SLIDE, GONE, ZEROED = (
    dp.Stated(epsilon=0.694, delta=0.1, source=name) for name in ("slide", "removed slide", "zeroed slide")
)
XS = Fraction(1), Fraction(17, 10), Fraction(4), Fraction(10)
DERIVATION = "dpaudit.accounting.derivation."


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A change of a rule, and a tree under a relation that is judged wrongly with it."""

    forgets: str
    tree: dp.Declaration
    relation: Neighbours
    place: str
    old: str
    new: str
    read: str = "tables"

    def judged(self) -> Judged:
        """Return the tree as it is judged."""
        return judged(self.tree, OWN, self.relation, self.read, XS, np.random.default_rng(7), FEW)


def group(part: dp.Declaration) -> dp.Group:
    """Return a part of a person with up to two records."""
    return dp.Group(part=part, size=2)


GUARDS = (
    Guard(
        forgets="the record that stays in its cell",
        tree=WAYS["cells"](FAR),
        relation="replace_one",
        place="composing:two_touched",
        old="worst((*stays, apart))",
        new="worst((apart,))",
    ),
    Guard(
        forgets="that one of two moves multiplies what the other one loses",
        tree=group(SLIDE),
        relation="add_remove",
        place="groups:_longer",
        old="min(grown, math.nextafter(1, 0))",
        new="min(records * delta, 1)",
        read="black boxes",
    ),
    Guard(
        forgets="that a part of a cell is met twice",
        tree=group(WAYS["cells"](dp.Repeat(part=STEP, times=2))),
        relation="add_remove",
        place="groups:chain",
        old="_longer(loss, records)) * times",
        new="_longer(loss, records))",
    ),
    Guard(
        forgets="the rate below",
        tree=WAYS["poisson"](SHARP),
        relation="add_remove",
        place="sampling:poisson_attained",
        old="maps.sampled(composition, node.rate",
        new="maps.sampled(composition, 1",
    ),
    Guard(
        forgets="the rate of a zeroed record below",
        tree=WAYS["fixed 1 of 2"](SHARP),
        relation="zero_out",
        place="sampling:zeroed_in_a_set_attained",
        old="maps.sampled(composition, node.rate",
        new="maps.sampled(composition, 1",
    ),
    Guard(
        forgets="that records which send messages enter a sample one by one",
        tree=group(WAYS["poisson"](dp.Local(part=SHARP))),
        relation="add_remove",
        place="sampling:poisson_attained",
        old=" and not _holds(node, Local)",
        new="",
        read="gaussian",
    ),
    Guard(
        forgets="that a choice is made by each of two records on a sample",
        tree=dp.Subsample(part=GONE, rate=0.9),
        relation="replace_one",
        place="maps:apart",
        old="_amplified(chain(composition, 2)",
        new="_amplified(composition",
    ),
    Guard(
        forgets="that another record moves a choice twice as far as a zero",
        tree=WAYS["fixed 1 of 3"](ZEROED),
        relation="zero_out",
        place="maps:zeroed",
        old="_amplified(chain(composition, 2)",
        new="_amplified(composition",
    ),
    Guard(
        forgets="what a choice on a sample loses",
        tree=WAYS["poisson"](SLIDE),
        relation="add_remove",
        place="maps:_amplified",
        old="box.infinite_mass * rate",
        new="0.0 * rate",
    ),
    Guard(
        forgets="that places in an epoch are several",
        tree=dp.Allocate(part=REMOVED, steps=2, per_epoch=2),
        relation="replace_one",
        place="allocating:_replaced",
        old="node.per_epoch * node.epochs",
        new="node.epochs",
    ),
    Guard(
        forgets="that epochs are several",
        tree=dp.Allocate(part=REMOVED, steps=1, epochs=2),
        relation="replace_one",
        place="allocating:_replaced",
        old="node.per_epoch * node.epochs",
        new="node.per_epoch",
    ),
    Guard(
        forgets="that two records at secret steps are each removed",
        tree=dp.Allocate(part=REMOVED, steps=2),
        relation="replace_one",
        place="allocating:_replaced",
        old="chain(composition, 2)",
        new="composition",
    ),
    Guard(
        forgets="that a choice at secret steps counts at each of them",
        tree=dp.Allocate(part=SLIDE, steps=2, per_epoch=2),
        relation="add_remove",
        place="allocating:_at_some_steps",
        old="composition * (node.per_epoch * node.epochs)",
        new="composition * node.epochs",
    ),
    Guard(
        forgets="that two records may enter unlike parts",
        tree=group(parallel(TWO, STEP)),
        relation="add_remove",
        place="groups:chained",
        old="max(box.supremum for box in boxes)",
        new="min(box.supremum for box in boxes)",
    ),
    Guard(
        forgets="what the dearer of two parts loses",
        tree=group(parallel(TWO, SLIDE)),
        relation="add_remove",
        place="groups:chained",
        old="max(box.infinite_mass for box in boxes)",
        new="min(box.infinite_mass for box in boxes)",
    ),
    Guard(
        forgets="the second record in unlike parts",
        tree=group(parallel(TWO, STEP)),
        relation="add_remove",
        place="groups:chained",
        old="chain(Composition.of(box), records)",
        new="Composition.of(box)",
    ),
    Guard(
        forgets="one of two parts that are left and entered",
        tree=WAYS["fixed 2 of 3"](WAYS["cells"](SHARP)),
        relation="replace_one",
        place="composing:two_touched",
        old="join(removed) + join(removed).reversed()",
        new="join(removed)",
    ),
    Guard(
        forgets="that every release in sequence counts",
        tree=both(TWO, SHARP),
        relation="add_remove",
        place="composing:summed",
        old="for part in judgement.parts]",
        new="for part in judgement.parts[:1]]",
    ),
    Guard(
        forgets="below that each record sends one message",
        tree=group(dp.Local(part=SHARP)),
        relation="add_remove",
        place="composing:sent_attained",
        old="composition * asked",
        new="composition * 2 * asked",
    ),
    Guard(
        forgets="the second record of a stated part",
        tree=group(SLIDE),
        relation="add_remove",
        place="composing:told",
        old="move.records)",
        new="1)",
        read="black boxes",
    ),
    Guard(
        forgets="the second record of a release",
        tree=group(STEP),
        relation="replace_one",
        place="composing:released",
        old="move.relation)), move.records),)",
        new="move.relation)), 1),)",
    ),
    Guard(
        forgets="the parts but the first",
        tree=parallel(TWO, SHARP),
        relation="replace_one",
        place="composing:largest",
        old="worst(options)",
        new="options[:1]",
    ),
    Guard(
        forgets="the second record of a part",
        tree=group(parallel(STEP, STEP)),
        relation="replace_one",
        place="composing:largest",
        old="chained(worst(options), judgement.move.records)",
        new="worst(options)",
    ),
    Guard(
        forgets="the second record in a cell",
        tree=group(WAYS["cells"](STEP)),
        relation="add_remove",
        place="composing:one_after_another",
        old="chained(judgement.part.above, judgement.move.records)",
        new="judgement.part.above",
    ),
    Guard(
        forgets="the second record in two cells",
        tree=group(WAYS["cells"](STEP)),
        relation="replace_one",
        place="composing:two_touched",
        old="chained(worst((*stays, apart)), judgement.move.records)",
        new="worst((*stays, apart))",
    ),
    Guard(
        forgets="that a choice goes on in a run",
        tree=dp.Repeat(part=parallel(SKEW, SIDED), times=2),
        relation="replace_one",
        place="composing:repeated",
        old="judgement.part.of_the_run",
        new="judgement.part.above",
    ),
    Guard(
        forgets="that choices in sequence are made one after another",
        tree=both(parallel(SKEW, SIDED), parallel(SKEW, SIDED)),
        relation="replace_one",
        place="composing:summed",
        old="part.of_the_run for",
        new="part.above[:1] for",
    ),
    Guard(
        forgets="that a record at a secret step is met in every epoch",
        tree=dp.Allocate(part=TWO, steps=1, epochs=2),
        relation="add_remove",
        place="allocating:_placed",
        old=" steps) * node.epochs",
        new=" steps)",
    ),
    Guard(
        forgets="that places which are kept are met in every epoch",
        tree=dp.Allocate(part=TWO, steps=1, epochs=2, positions="repeated"),
        relation="add_remove",
        place="allocating:_placed",
        old="composition * node.epochs",
        new="composition",
    ),
    Guard(
        forgets="that draws with replacement hold two copies",
        tree=WAYS["with replacement 2 of 3"](STEP),
        relation="replace_one",
        place="maps:copied",
        old="chain(composition, copies)",
        new="composition",
    ),
    Guard(
        forgets="that a cut sample replaces a record",
        tree=WAYS["truncated"](REMOVED),
        relation="add_remove",
        place="maps:cut",
        old="chain(composition, 2)",
        new="composition",
    ),
    Guard(
        forgets="the best of many runs",
        tree=dp.BestOf(part=SHARP, law="fixed", runs=2, scores="any"),
        relation="add_remove",
        place="selecting:best",
        old="best_above(judgement.part.of_the_run, count)",
        new="judgement.part.of_the_run[0].parts[0][0]",
    ),
    Guard(
        forgets="the second record whose report is shuffled",
        tree=group(dp.Shuffle(part=SHARP, users=2)),
        relation="replace_one",
        place="shuffles:shuffled",
        old="judgement.move.records)",
        new="1)",
    ),
)


@pytest.mark.parametrize("guard", GUARDS, ids=[guard.forgets for guard in GUARDS])
def test_a_rule_that_forgets_a_premise_is_seen(guard: Guard) -> None:
    """The sound ends are on their sides of the game; with the change planted one of them is not, or they cross."""
    sound = guard.judged()
    assert sound.upper
    assert not sound.wrong
    assert not sound.too_high
    with planted(Source(target=DERIVATION + guard.place, old=guard.old, new=guard.new)), suppress(InternalError):
        broken = guard.judged()
        assert replace(broken, checked=()).wrong or broken.too_high


ROWS: dict[str, tuple[dp.Declaration, Neighbours, str, dict[str, object]]] = {
    "a view that picks a part at each step": (
        dp.Repeat(part=parallel(SKEW, SIDED), times=2),
        "replace_one",
        "parallel",
        {"choice": "order above none"},
    ),
    "the records of a person": (group(STEP), "add_remove", "group", {"counts": ("one",)}),
    "the messages of a person": (group(dp.Local(part=STEP)), "add_remove", "local", {"counts": ("one", "one")}),
}
"""What a row of the table of rules says, and a tree that is judged wrongly where the row says something else."""


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_table_that_says_something_else_is_seen(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When an alternative is met, and for how many records a part is read, stand in the row alone."""
    tree, relation, node, other = ROWS[row]
    key = node, MOVES[relation]
    # The fields that rows change have different types, so that no type fits all of them.
    for rule, wrong in ((RULES[key], False), (replace(RULES[key], **other), True)):  # type: ignore[arg-type]
        monkeypatch.setitem(RULES, key, rule)
        with suppress(InternalError):
            found = judged(tree, OWN, relation, "tables", XS, np.random.default_rng(7), FEW)
            assert found.upper
            assert replace(found, checked=()).wrong == wrong
