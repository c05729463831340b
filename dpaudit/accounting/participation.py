"""Plans of participation: which losses one pair of neighbours meets, query by query, and where its record enters."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from dpaudit.accounting.allocating import allocated_attained
from dpaudit.accounting.heaviest import heaviest
from dpaudit.accounting.queries import Query, query_of
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.accounting.samples.several_records import attained_by_a_person
from dpaudit.accounting.shuffling import shuffled_attained
from dpaudit.accounting.subsampling import sampled_attained
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import (
    Allocate,
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
    Shuffle,
    Stated,
    Subsample,
)
from dpaudit.model.declaration import walk as walk_tree
from dpaudit.model.losses import Composition, DiscreteLoss, GaussianLoss, LaplaceLoss
from dpaudit.model.mechanism import Mechanism, attained_loss, moves_alone
from dpaudit.model.sampled_relations import relation_inside
from dpaudit.model.witness import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The losses of one query on one plan of participation.

    `keys` holds the keys of the nodes on the way: a key's text, its number of parts, and the part entered where several
    nodes share the key. An array of cells has a key of its own, which is the record's value.
    """

    composition: Composition
    entries: tuple[Entry, ...] = ()
    keys: frozenset[tuple[str, int, int]] = frozenset()

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(
            composition=self.composition + other.composition,
            entries=self.entries + other.entries,
            keys=self.keys | other.keys,
        )

    def agrees(self, other: "Plan") -> bool:
        """Return whether no key has two values."""
        both = self.keys | other.keys
        return len({name for name, _, _ in both}) == len(both)

    def on_one_way(self, other: "Plan") -> bool:
        """Return whether the records of one of both plans have the keys of the other: no key has two values or is new.

        Keys of different texts may be linked, so that no record has both values.
        """
        return self.agrees(other) and (self.keys <= other.keys or other.keys <= self.keys)


_MOST = 64  # sets of keys that are told apart
Found: TypeAlias = dict[Query, tuple[Plan, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Which releases one pair moves, and where the walk over the tree is.

    `labels` are moved together (all where it is empty); None asks for each query by itself, by definition. `records` is
    how many records of one person move together, which is known of labels only. `shared` are keys that several nodes
    name: a record has one value of each. `named` says that the values of keys of different texts are named or assumed
    to be those of one record. `sampled` says that the walk is below a sample, which may hold the record alone.
    """

    labels: tuple[str, ...] | None
    neighbours: Neighbours
    path: str = "root"
    records: int = 1
    shared: frozenset[str] = frozenset()
    named: bool = False
    sampled: bool = False

    def below(self, part: int = 0, *, records: int | None = None) -> "Walk":
        """Return the walk one node further down."""
        return replace(self, path=f"{self.path}.{part}", records=self.records if records is None else records)

    def query(self, release: Release) -> Query | None:
        """Return what moves as a whole with `release`; None where it is not moved, or not known to be."""
        if self.labels is None:
            if self.sampled and not moves_alone(release.mechanism):
                return None
            return (release.label, *query_of(release.mechanism))
        return (self.labels,) if not self.labels or release.label in self.labels else None


def plans_of(node: Declaration, walk: Walk) -> Found:
    """Return the plans on which one pair moves each query, by the query."""
    match node:
        case Release(mechanism=mechanism):
            query = walk.query(node)
            return {} if query is None else {query: (Plan(composition=_moved(mechanism, walk)),)}
        case Stated():
            return {}
        case Sequential(parts=parts):
            return _in_sequence((plans_of(part, walk.below(i)) for i, part in enumerate(parts)), named=walk.named)
        case Repeat(part=part, times=times):
            return _each(plans_of(part, walk.below()), lambda composition: composition * times)
        case Parallel(visibility="secret"):
            return {}
        case Parallel(parts=parts, key=key):
            each = (_entered(plans_of(part, walk.below(i)), walk.path, i) for i, part in enumerate(parts))
            return _either(_keyed(held, (key, len(parts), i), walk) for i, held in enumerate(each))
        case Cells(inside=inside, touched=touched):
            return _cells(inside, touched, walk)
        case Group(part=part, size=size):
            return plans_of(part, walk.below(records=1 if walk.labels is None else walk.records * size))
        case Local(part=part):
            found = plans_of(part, replace(walk.below(records=1), sampled=False))
            return _each(found, lambda composition: composition * walk.records)
        case Subsample() | Allocate() | Shuffle():
            return _amplified(node, walk)
        case PostProcess(part=part) | Billboard(part=part):
            return plans_of(part, walk.below())
        case _:
            assert_never(node)


def _amplified(node: Subsample | Allocate | Shuffle, walk: Walk) -> Found:
    """Return the plans on which one pair moves the queries of a part whose records, places or order stay secret."""
    below = walk.below(records=1)
    if isinstance(node, Shuffle):
        return _each(plans_of(node.part, below), lambda composition: shuffled_attained(node, composition))
    inside = replace(below, neighbours=relation_inside(node, walk.neighbours), sampled=True)
    found = plans_of(node.part, inside)
    return _each(found, lambda composition: _at_random(composition, node, walk))


def _at_random(composition: Composition, node: Subsample | Allocate, walk: Walk) -> Composition:
    """Return what one record attains on a sample, or all records of a person on a Poisson sample of Gaussian ones.

    That others exist which a scheme's pair needs is known, or assumed, of labels only.
    Which of a sample's messages is the record's depends on who else is in a sample of bounded size, so that nothing is
    known of them.
    """
    beside = walk.labels is not None
    if isinstance(node, Allocate):
        return allocated_attained(composition, node, walk.neighbours, beside=beside)
    if node.scheme != "poisson" and any(isinstance(below, Local) for _, below in walk_tree(node.part)):
        return Composition()
    alone = sampled_attained(composition, node, walk.neighbours, beside=beside, labels=walk.labels)
    chance = node.scheme == "poisson" and walk.neighbours == "zero_out"
    several = walk.records > 1 and (chance or walk.neighbours == "add_remove")
    return attained_by_a_person(composition, node, alone, walk.records) if several else alone


def _moved(mechanism: Mechanism, walk: Walk) -> Composition:
    """Return what one release attains; a single shift adds up over records, any other loss counts one record.

    The records of a person may enter different nodes of a tree, so that a composed loss does not grow as a whole. Of
    several queries that a pair moves together nobody said which law of a table each of them has.
    """
    loss = attained_loss(mechanism)
    if isinstance(loss, GaussianLoss | LaplaceLoss):
        return Composition.of(loss if walk.records == 1 else loss.group(walk.records))
    known = walk.labels is None or not isinstance(loss, DiscreteLoss) or loss.one_order
    return Composition.of(loss) if known else in_either_order(Composition.of(loss))


def _each(found: Found, change: Callable[[Composition], Composition]) -> Found:
    """Return `found` with every composition changed."""
    return {
        query: tuple(replace(plan, composition=change(plan.composition)) for plan in plans)
        for query, plans in found.items()
    }


def _in_sequence(parts: Iterable[Found], *, named: bool) -> Found:
    """Return every sum of one plan from each part that moves the query."""
    gathered: dict[Query, list[tuple[Plan, ...]]] = {}
    for found in parts:
        for query, plans in found.items():
            gathered.setdefault(query, []).append(plans)
    return {query: _sums(several, Plan.agrees if named else Plan.on_one_way) for query, several in gathered.items()}


def _sums(several: list[tuple[Plan, ...]], together: Callable[[Plan, Plan], bool]) -> tuple[Plan, ...]:
    """Return every sum of one plan from each of `several`, those without a choice added first and at once.

    A plan that goes together with no other one stands by itself: what else is released may be ignored.
    """
    free = [len(plans) == 1 and not plans[0].keys for plans in several]
    alone = [plans[0] for plans, sure in zip(several, free, strict=True) if sure]
    rest = [plans for plans, sure in zip(several, free, strict=True) if not sure]
    total: tuple[Plan, ...] = ()
    if alone:
        entries = tuple(entry for plan in alone for entry in plan.entries)
        total = (Plan(composition=Composition.total(plan.composition for plan in alone), entries=entries),)
    for plans in rest:
        sums = [a + b for a in total for b in plans if together(a, b)]
        sums += [a for a in total if not any(together(a, b) for b in plans)]
        sums += [b for b in plans if not any(together(a, b) for a in total)]
        total = _pruned(sums)
    return total


def _either(parts: Iterable[Found]) -> Found:
    """Return the plans of all parts, of which the record enters one."""
    gathered: dict[Query, list[Plan]] = {}
    for found in parts:
        for query, plans in found.items():
            gathered.setdefault(query, []).extend(plans)
    return {query: _pruned(plans) for query, plans in gathered.items()}


def _entered(found: Found, path: str, part: int) -> Found:
    """Return `found` with the entry that leads to it."""
    entry = Entry(path=path, part=part)
    return {query: tuple(replace(p, entries=(entry, *p.entries)) for p in plans) for query, plans in found.items()}


def _keyed(found: Found, value: tuple[str, int, int], walk: Walk) -> Found:
    """Return `found` with a node's key, and with its value where several nodes share it."""
    name, size, part = value
    here = Plan(composition=Composition(), keys=frozenset([(name, size, part if name in walk.shared else 0)]))
    return {
        query: tuple(replace(plan, keys=plan.keys | here.keys) for plan in plans if plan.agrees(here))
        for query, plans in found.items()
    }


def shared_keys(node: Declaration) -> frozenset[str]:
    """Return the keys that several nodes name.

    >>> shared_keys(Stated(epsilon=1.0, source="a supplier"))
    frozenset()
    """
    named = [below.key for _, below in walk_tree(node) if isinstance(below, Parallel)]
    return frozenset(key for key, times in Counter(named).items() if times > 1)


def named_once(node: Declaration, labels: tuple[str, ...]) -> bool:
    """Return whether the releases of `labels` (all, if empty) name every key: they stand in one part of each node.

    >>> named_once(Stated(epsilon=1.0, source="a supplier"), ())
    True
    """
    arrays = [below.parts for _, below in walk_tree(node) if isinstance(below, Parallel)]
    return all(sum(_holds(part, labels) for part in parts) <= 1 for parts in arrays)


def _holds(node: Declaration, labels: tuple[str, ...]) -> bool:
    """Return whether a node holds a release of `labels`, or any where it is empty."""
    releases = (below for _, below in walk_tree(node) if isinstance(below, Release))
    return any(not labels or release.label in labels for release in releases)


def _cells(inside: Declaration, touched: Declaration, walk: Walk) -> Found:
    """Return the plans of a cell array: the same cell, or one cell emptied and another one filled.

    That a second cell exists, and that two cells reach the bound at once, is known, or assumed, of labels only.
    """
    below = replace(walk.below(1, records=1), neighbours="add_remove")
    value = (f"the cells at {walk.path}", 1, 0)
    alone = _keyed(_entered(plans_of(touched, below), walk.path, 1), value, walk)
    if walk.neighbours == "add_remove":
        return alone
    same = _keyed(_entered(plans_of(inside, walk.below(0, records=1)), walk.path, 0), value, walk)
    if walk.labels is None:
        return same
    return _either((same, _each(alone, lambda composition: composition + composition.reversed())))


def _pruned(plans: list[Plan]) -> tuple[Plan, ...]:
    """Return plans that none with the same keys dominates, the first of equal ones; of many, none of all plans."""
    by_keys: dict[frozenset[tuple[str, int, int]], list[Plan]] = {}
    for plan in plans:
        by_keys.setdefault(plan.keys, []).append(plan)
    groups = list(by_keys.values()) if len(by_keys) <= _MOST else [plans]
    found: list[Plan] = []
    for group in groups:
        first = {plan.composition: plan for plan in reversed(group)}
        found += [first[composition] for composition in heaviest(first)]
    return tuple(found)
