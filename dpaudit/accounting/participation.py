"""Plans of participation: which losses one pair of neighbours meets, query by query, and where its record enters."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from dpaudit.accounting.allocating import allocated_attained, at_one_secret_step
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
from dpaudit.model.mechanism import Mechanism, attained_loss
from dpaudit.model.sampled_relations import relation_inside
from dpaudit.model.witness import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The losses of one query on one plan of participation.

    `keys` holds the values of those keys that several nodes share: a key's text, its number of parts, the part entered.
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


_MOST = 64  # sets of keys that are told apart
Found: TypeAlias = dict[Query, tuple[Plan, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Which releases one pair moves, and where the walk over the tree is.

    `labels` are moved together (all where it is empty); None asks for each query by itself. `records` is how many
    records of one person move together, which is known of labels only. `shared` are keys that several nodes name: a
    record has one value of each.
    """

    labels: tuple[str, ...] | None
    neighbours: Neighbours
    path: str = "root"
    records: int = 1
    shared: frozenset[str] = frozenset()

    def below(self, part: int = 0, *, records: int | None = None) -> "Walk":
        """Return the walk one node further down."""
        return replace(self, path=f"{self.path}.{part}", records=self.records if records is None else records)

    def query(self, release: Release) -> Query | None:
        """Return what moves as a whole with `release`; None where it is not moved."""
        if self.labels is None:
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
            return _in_sequence(plans_of(part, walk.below(i)) for i, part in enumerate(parts))
        case Repeat(part=part, times=times):
            return _each(plans_of(part, walk.below()), lambda composition: composition * times)
        case Parallel(parts=parts, visibility="secret"):
            return _at_a_secret_part([plans_of(part, walk.below(i, records=1)) for i, part in enumerate(parts)])
        case Parallel(parts=parts, key=key):
            each = (_entered(plans_of(part, walk.below(i)), walk.path, i) for i, part in enumerate(parts))
            return _either(_keyed(held, (key, len(parts), i), walk) for i, held in enumerate(each))
        case Cells(inside=inside, touched=touched):
            return _cells(inside, touched, walk)
        case Group(part=part, size=size):
            return plans_of(part, walk.below(records=1 if walk.labels is None else walk.records * size))
        case Local(part=part):
            found = plans_of(part, walk.below(records=1))
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
    found = plans_of(node.part, replace(below, neighbours=relation_inside(node, walk.neighbours)))
    return _each(found, lambda composition: _at_random(composition, node, walk))


def _at_random(composition: Composition, node: Subsample | Allocate, walk: Walk) -> Composition:
    """Return what one record attains on a sample, or all records of a person on a Poisson sample of Gaussian ones.

    By definition a stated sensitivity is that of one record; that others exist is known, or assumed, of labels only.
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


def _at_a_secret_part(parts: list[Found]) -> Found:
    """Return what a pair attains whose record is in one part, which nobody sees, out of parts that are all alike.

    All other records hold one value, so that nothing but the record's own part depends on where it is.
    """
    found: Found = {}
    for query in parts[0]:
        rows = [part.get(query, ()) for part in parts]
        alike = {row[0].composition for row in rows if len(row) == 1 and not row[0].entries}
        composition = in_either_order(next(iter(alike), Composition()))
        if all(len(row) == 1 for row in rows) and len(alike) == 1 and composition == composition.reversed():
            found[query] = (Plan(composition=at_one_secret_step(composition, len(parts))),)
    return found


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


def _in_sequence(parts: Iterable[Found]) -> Found:
    """Return every sum of one plan from each part that moves the query."""
    gathered: dict[Query, list[tuple[Plan, ...]]] = {}
    for found in parts:
        for query, plans in found.items():
            gathered.setdefault(query, []).append(plans)
    return {query: _sums(several) for query, several in gathered.items()}


def _sums(several: list[tuple[Plan, ...]]) -> tuple[Plan, ...]:
    """Return every sum of one plan from each of `several`, those without a choice added first and at once.

    A plan that no other one agrees with stands by itself: what else is released may be ignored.
    """
    free = [len(plans) == 1 and not plans[0].keys for plans in several]
    alone = [plans[0] for plans, sure in zip(several, free, strict=True) if sure]
    rest = [plans for plans, sure in zip(several, free, strict=True) if not sure]
    total: tuple[Plan, ...] = ()
    if alone:
        entries = tuple(entry for plan in alone for entry in plan.entries)
        total = (Plan(composition=Composition.total(plan.composition for plan in alone), entries=entries),)
    for plans in rest:
        sums = [a + b for a in total for b in plans if a.agrees(b)]
        sums += [a for a in total if not any(a.agrees(b) for b in plans)]
        sums += [b for b in plans if not any(a.agrees(b) for a in total)]
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
    """Return `found` with the value of a key that several nodes share."""
    if value[0] not in walk.shared:
        return found
    here = Plan(composition=Composition(), keys=frozenset([value]))
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


def _cells(inside: Declaration, touched: Declaration, walk: Walk) -> Found:
    """Return the plans of a cell array: the same cell, or one cell emptied and another one filled."""
    below = replace(walk.below(1, records=1), neighbours="add_remove")
    alone = _entered(plans_of(touched, below), walk.path, 1)
    if walk.neighbours == "add_remove":
        return alone
    same = _entered(plans_of(inside, walk.below(0, records=1)), walk.path, 0)
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
