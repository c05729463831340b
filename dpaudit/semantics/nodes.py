"""What each node does to data sets: one function of a few lines for each node and scheme.

A node *deals* the records that reach it into turns, in which its parts are played. The adversary picks one of the deals
that are possible, and never what a deal draws: a deal is a law of turns for each data set.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, product
from typing import Literal, NamedTuple, TypeAlias

from dpaudit.model import declaration as nodes
from dpaudit.semantics.data import MOST_RECORDS, PLACEHOLDER, DataSet, Record
from dpaudit.semantics.draws import (
    Draw,
    allocated,
    fixed_size,
    poisson,
    secret_parts,
    truncated,
    with_replacement,
)
from dpaudit.semantics.tables import Table

Visible: TypeAlias = tuple[frozenset[DataSet], frozenset[DataSet]]
"""The data sets that may reach a node under each side of the pair."""


MORE = Fraction(10**9)
"""More than any budget holds that is played."""
_ROUNDING = Fraction(1, 10**12)  # relative; more than what floats make of a logarithm and of tanh


class UndefinedInstanceError(ValueError):
    """The tree says nothing about these data sets: a number in it is not the number of records that it is given."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A release as it is played, or the reports of so many `users`, which a shuffle shows in a secret order.

    `best` shows the best of several runs, each on a Poisson sample of its own where `rate` is below 1.
    """

    table: Table
    users: int | None = None
    best: nodes.BestOf | None = None
    rate: Fraction = Fraction(1)

    def runs_on(self, data: DataSet) -> Draw:
        """Return what one run may see of a data set."""
        return ({(data,): 1}, 1) if self.rate == 1 else poisson(data, self.rate)

    def reached(self, below: Fraction) -> Fraction:
        """Return the probability that the best of all runs is among outputs that one run shows so often.

        Raises: UndefinedInstanceError: a number of runs whose law is not one of fractions.
        """
        node = self.best
        if node is not None and node.runs is not None:
            return below**node.runs
        if node is not None and node.law == "geometric":
            gamma = Fraction(repr(float(node.gamma or 1)))
            return gamma * below / (1 - (1 - gamma) * below)
        raise UndefinedInstanceError("No law in fractions is known of this number of runs.")


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """A node above the leaves as it is played, and its parts in order."""

    says: nodes.Declaration
    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class OwnBudgets(Inner):
    """A budget of each record: `costs` has the price of each part, and `left` what records have that paid before.

    `known` has one node for each state, so that a game meets it once.
    """

    costs: tuple[Fraction, ...]
    whole: Fraction
    left: Mapping[Record, Fraction]
    known: "dict[Hashable, OwnBudgets]"

    def after(self, number: int, asked: Iterable[Record]) -> "tuple[frozenset[Record], OwnBudgets]":
        """Return who pays for a part out of those who are asked, and what is left then."""
        cost = self.costs[number]
        left = {record: self.left.get(record, self.whole) for record in asked}
        paid = {record: budget - cost for record, budget in left.items() if cost <= budget}
        after = {**self.left, **paid}
        return frozenset(paid), self.known.setdefault(frozenset(after.items()), replace(self, left=after))


Node: TypeAlias = Inner | Leaf


class Deal(NamedTuple):
    """A choice of the adversary: what it says, the law of the turns of each data set, and the part of each turn.

    `label` holds the part of each slot (0 is the first one, 1 the rest), the cell of each value, or the number of
    records of each slot; at a budget, what it pays for, by number, or None where nothing more is released; at budgets
    of records that number and who is asked.
    """

    label: Hashable
    turns: Callable[[DataSet], Draw]
    parts: tuple[Node, ...]


def played(node: nodes.Declaration, tables: Mapping[str, Table]) -> Node:
    """Return a declaration as it is played: repeats are sequences, and parallel parts a choice between two.

    `tables` has a table for the label of each release, and for the source of what is stated.
    Raises: UndefinedInstanceError: a leaf without a table, cells whose two statements are not of one part, or a
        shuffled report of several releases.
    """
    match node:
        case nodes.Release(label=name) | nodes.Stated(source=name) if name in tables:
            return Leaf(tables[name])
        case nodes.Shuffle(part=part, users=users):
            return replace(_report(played(part, tables)), users=users)
        case nodes.BestOf(part=nodes.Subsample(part=part, rate=rate, scheme="poisson")):
            return replace(_report(played(part, tables)), best=node, rate=Fraction(repr(float(rate))))
        case nodes.BestOf(part=part):
            return replace(_report(played(part, tables)), best=node)
        case nodes.PostProcess(part=part) | nodes.Billboard(part=part):
            return played(part, tables)
        case nodes.Repeat(part=part, times=times):
            return Inner(node, (played(part, tables),) * times)
        case nodes.Filtered(parts=parts):
            return _budgets(node, [played(part, tables) for part in parts])
        case nodes.Allocate(epochs=epochs, positions="fresh") if epochs > 1:
            return Inner(nodes.Repeat(part=node, times=epochs), (played(replace(node, epochs=1), tables),) * epochs)
        case nodes.Parallel(parts=(first, *others), visibility="public") if others:
            return Inner(node, (played(first, tables), played(replace(node, parts=tuple(others)), tables)))
        case nodes.Cells(inside=inside, touched=touched) if _same_part(inside, touched):
            return Inner(node, (played(touched, tables),))
        case (
            nodes.Sequential() | nodes.Parallel() | nodes.Group() | nodes.Subsample() | nodes.Allocate() | nodes.Local()
        ):
            return Inner(node, tuple(played(part, tables) for part in nodes.children(node)))
        case _:
            raise UndefinedInstanceError(f"No finite law is known of '{type(node).__name__}'.")


def _budgets(node: nodes.Filtered, parts: list[Node]) -> Inner:
    """Return a budget of the run, or of each record, as it is played; parts that cost nothing show nothing."""
    measure, amount = node.budget
    if measure == "mu":
        raise UndefinedInstanceError("No table has a mu, so that no budget of mu is played.")
    menu, limit = [(part, _cost_of(part, measure)) for part in parts], Fraction(repr(float(amount)))
    if node.per == "run":
        return _within(node, menu, limit)
    priced = [(part, cost) for part, cost in menu if cost]
    costs = tuple(cost for _, cost in priced)
    return OwnBudgets(node, tuple(part for part, _ in priced), costs=costs, whole=limit, left={}, known={})


def _within(node: nodes.Filtered, menu: list[tuple[Node, Fraction]], left: Fraction) -> Inner:
    """Return a budget as a choice of what it pays for now, each followed by the same with what is left."""
    paid = ((part, left - cost) for part, cost in menu if 0 < cost <= left)
    options = (Inner(nodes.Sequential(parts=node.parts), (part, _within(node, menu, spare))) for part, spare in paid)
    return Inner(node, tuple(options))


def _cost_of(node: Node, measure: str) -> Fraction:
    """Return what a part costs a budget, rounded up: for each release its largest loss, in rho times tanh of its half.

    A part without a largest loss costs more than any budget holds.
    """
    if isinstance(node, Inner):
        return sum((_cost_of(part, measure) for part in node.parts), start=Fraction(0))
    columns = [*zip(*node.table.laws, strict=True)]
    if any(max(column) and not min(column) for column in columns):
        return MORE
    epsilon = max((math.log(max(column) / min(column)) for column in columns if max(column)), default=0.0)
    return Fraction(epsilon * (math.tanh(epsilon / 2) if measure == "rho" else 1)) * (1 + _ROUNDING)


def _same_part(inside: nodes.Declaration, touched: nodes.Declaration) -> bool:
    """Return whether the two statements of cells are of the same releases in the same nodes."""
    kinds = [
        [(type(node), getattr(node, "label", ""), getattr(node, "source", "")) for _, node in nodes.walk(part)]
        for part in (inside, touched)
    ]
    return kinds[0] == kinds[1]


def _report(node: Node) -> Leaf:
    """Return the release that is one user's report."""
    match node:
        case Leaf():
            return node
        case Inner(says=nodes.Local(), parts=(part,)):
            return _report(part)
        case _:
            raise UndefinedInstanceError("No finite law is known of a report of several releases.")


def deals(node: Inner, visible: Visible) -> Iterator[Deal]:
    """Yield the deals that the adversary may pick at a node above the leaves.

    Raises: UndefinedInstanceError: a sample whose population is not the number of records that reach it.
    """
    match node.says:
        case nodes.Parallel(visibility="public"):
            yield from _entered(node, _slots(visible))
        case nodes.Parallel(parts=parts):
            yield Deal(None, partial(secret_parts, parts=len(parts)), node.parts)
        case nodes.Cells():
            yield from _cells(node, visible)
        case nodes.Filtered() if isinstance(node, OwnBudgets):
            yield from _asked(node, visible)
            yield Deal(None, partial(_to_all, turns=0), ())
        case nodes.Filtered():
            yield from (Deal(number, partial(_to_all, turns=1), (part,)) for number, part in enumerate(node.parts))
            yield Deal(None, partial(_to_all, turns=0), ())
        case nodes.Local():
            turn = {slot: number for number, slot in enumerate(_slots(visible))}
            yield Deal(None, partial(_sorted, by="slot", turn=turn, turns=len(turn)), node.parts * len(turn))
        case nodes.Group(size=size):
            yield from _group(node, size, visible)
        case nodes.Allocate(steps=steps, per_epoch=places, epochs=epochs):
            turns = partial(allocated, steps=steps, per_epoch=places, epochs=epochs)
            yield Deal(None, turns, node.parts * steps * epochs)
        case nodes.Subsample() as sample:
            yield Deal(None, _sample(sample, visible), node.parts)
        case _:
            raise TypeError(f"A {type(node.says).__name__} deals no records.")


def _to_all(data: DataSet, turns: int) -> Draw:
    """Return the deal of all records to every turn."""
    return {(data,) * turns: 1}, 1


def _asked(node: OwnBudgets, visible: Visible) -> Iterator[Deal]:
    """The adversary picks a part and whom to ask, by their slots and values; who cannot pay is left out unseen.

    Asking is free, so that it never helps to ask somebody who cannot pay.
    """
    records = sorted({record for side in visible for data in side for record in data})
    everybody = chain.from_iterable(combinations(records, size) for size in range(1, len(records) + 1))
    for asked, number in product(everybody, range(len(node.parts))):
        paying, after = node.after(number, asked)
        if len(paying) == len(asked):
            label = tuple((record.value, number) for record in asked)
            yield Deal(label, partial(_paid, paying=paying), (node.parts[number], after))


def _paid(data: DataSet, paying: frozenset[Record]) -> Draw:
    """Return the deal of those who pay to this turn, and of all to the next one."""
    return {(tuple(record for record in data if record in paying), data): 1}, 1


def _entered(node: Inner, slots: list[int]) -> Iterator[Deal]:
    """The adversary picks for each slot the first part, or the rest, which are a node of their own."""
    for places in product(range(len(node.parts)), repeat=len(slots)):
        turn = dict(zip(slots, places, strict=True))
        yield Deal((*turn.items(),), partial(_sorted, by="slot", turn=turn, turns=len(node.parts)), node.parts)


def _cells(node: Inner, visible: Visible) -> Iterator[Deal]:
    """The adversary maps each value to a cell, placeholders to none; the part runs in one cell after another."""
    values = sorted({value for side in visible for data in side for _, value in data if value != PLACEHOLDER})
    for cells in product(range(len(values)), repeat=len(values)):
        if all(cell <= max(cells[:index], default=-1) + 1 for index, cell in enumerate(cells)):
            turn, count = dict(zip(values, cells, strict=True)), max(cells, default=-1) + 1
            yield Deal((*turn.items(),), partial(_sorted, by="value", turn=turn, turns=count), node.parts * count)


def _group(node: Inner, size: int, visible: Visible) -> Iterator[Deal]:
    """Each slot becomes up to `size` slots with values of their own; how many is public and picked by the adversary.

    Slots that only one of the two data sets has own equally many.
    """
    first, second = (_slots((side, frozenset())) for side in visible)
    shared = [slot for slot in first if slot in second]
    for *owned, moved in product(range(1, min(size, MOST_RECORDS) + 1), repeat=len(shared) + 1):
        count = dict.fromkeys({*first, *second}, moved) | dict(zip(shared, owned, strict=True))
        if all(sum(count[slot] for slot, _ in data) <= MOST_RECORDS for side in visible for data in side):
            yield Deal((*count.items(),), partial(_owned, count=count), node.parts)


def _owned(data: DataSet, count: dict[int, int]) -> Draw:
    """Return the records that persons own, each in a slot and with a value of its own."""
    records = (
        Record(slot * MOST_RECORDS + number, value and value * MOST_RECORDS + number)
        for slot, value in data
        for number in range(count[slot])
    )
    return {(tuple(records),): 1}, 1


def _sample(node: nodes.Subsample, visible: Visible) -> Callable[[DataSet], Draw]:
    """Return how a scheme draws from a data set; of two neighbours the larger has `population` records."""
    rate = Fraction(repr(float(node.rate)))
    if node.scheme == "poisson":
        return partial(poisson, rate=rate)
    sizes = [{len(data) for data in side} for side in visible]
    smallest, largest = min(sizes[0] | sizes[1]), max(sizes[0] | sizes[1])
    if any(len(side) > 1 for side in sizes) or node.population != largest:
        raise UndefinedInstanceError(f"A population of {node.population} is read where {sizes} records are.")
    if node.scheme == "truncated_poisson":
        return partial(truncated, rate=rate, bound=node.batch_bound or largest)
    batch = node.batch_size or 0
    if node.scheme == "with_replacement" and smallest:
        return partial(with_replacement, batch=batch)
    if not 1 <= batch <= smallest:
        raise UndefinedInstanceError(f"No batch of {batch} is drawn from {smallest} records.")
    return partial(fixed_size, batch=batch)


def _slots(visible: Iterable[frozenset[DataSet]]) -> list[int]:
    """Return the slots of all records that may reach a node."""
    return sorted({slot for side in visible for data in side for slot, _ in data})


def _sorted(data: DataSet, by: Literal["slot", "value"], turn: dict[int, int], turns: int) -> Draw:
    """Return the deal of records whose turn is known by their slot or value; what has no turn is dealt to none."""
    where = [turn.get(record.slot if by == "slot" else record.value) for record in data]
    return {tuple(tuple(r for r, at in zip(data, where, strict=True) if at == n) for n in range(turns)): 1}, 1
