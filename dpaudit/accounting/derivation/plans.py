"""Plans of participation: which losses one pair of neighbours meets, query by query, and where its record enters."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeAlias

from dpaudit.accounting.dominance import heaviest
from dpaudit.model.declaration import Declaration, Parallel, Release, walk
from dpaudit.model.losses import Composition
from dpaudit.model.mechanism import is_mechanism
from dpaudit.model.moves import Move
from dpaudit.model.witness import Entry

Query: TypeAlias = tuple[object, ...]
"""What one pair moves as a whole: a label with the query's own parameters, or all labels of a set."""


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
class Asked:
    """Which releases one pair moves.

    `labels` are moved together (all where it is empty); None asks for each query by itself, by definition. That all
    records of a person move a query, and that others exist which a scheme's pair needs, is known, or assumed, of labels
    only. `shared` are keys that several nodes name: a record has one value of each. `named` says that the values of
    keys of different texts are named or assumed to be those of one record.
    """

    labels: tuple[str, ...] | None = None
    shared: frozenset[str] = frozenset()
    named: bool = False

    @property
    def together(self) -> bool:
        """Whether all of some labels are asked for at once."""
        return self.labels is not None

    def records(self, move: Move) -> int:
        """Return how many records are known to move together."""
        return move.records if self.together else 1

    def query(self, release: Release) -> Query | None:
        """Return what moves as a whole with `release`; None where it is not asked for."""
        if self.labels is None:
            return (release.label, *query_of(release.mechanism))
        return (self.labels,) if not self.labels or release.label in self.labels else None


def each(by_query: Found, change: Callable[[Composition], Composition]) -> Found:
    """Return plans `by_query` with every composition changed."""
    return {
        query: tuple(replace(plan, composition=change(plan.composition)) for plan in plans)
        for query, plans in by_query.items()
    }


def in_sequence(parts: Iterable[Found], *, named: bool) -> Found:
    """Return every sum of one plan from each part that moves the query."""
    gathered: dict[Query, list[tuple[Plan, ...]]] = {}
    for by_query in parts:
        for query, plans in by_query.items():
            gathered.setdefault(query, []).append(plans)
    return {query: _sums(several, Plan.agrees if named else Plan.on_one_way) for query, several in gathered.items()}


def _sums(several: list[tuple[Plan, ...]], together: Callable[[Plan, Plan], bool]) -> tuple[Plan, ...]:
    """Return every sum of one plan from each of `several`, those without a choice added first and at once.

    A plan that goes together with no other one stands by itself: what else is released may be ignored.
    """
    free = [len(plans) == 1 and not plans[0].keys for plans in several]
    alone = [plans[0] for plans, sure in zip(several, free, strict=True) if sure]
    choices = [plans for plans, sure in zip(several, free, strict=True) if not sure]
    total: tuple[Plan, ...] = ()
    if alone:
        entries = tuple(entry for plan in alone for entry in plan.entries)
        total = (Plan(composition=Composition.total(plan.composition for plan in alone), entries=entries),)
    for plans in choices:
        sums = [a + b for a in total for b in plans if together(a, b)]
        sums += [a for a in total if not any(together(a, b) for b in plans)]
        sums += [b for b in plans if not any(together(a, b) for a in total)]
        total = _pruned(sums)
    return total


def either(parts: Iterable[Found]) -> Found:
    """Return the plans of all parts, of which the record enters one."""
    gathered: dict[Query, list[Plan]] = {}
    for by_query in parts:
        for query, plans in by_query.items():
            gathered.setdefault(query, []).extend(plans)
    return {query: _pruned(plans) for query, plans in gathered.items()}


def entered(by_query: Found, path: str, part: int) -> Found:
    """Return plans `by_query` with the entry that leads to it."""
    entry = Entry(path=path, part=part)
    return {query: tuple(replace(p, entries=(entry, *p.entries)) for p in plans) for query, plans in by_query.items()}


def keyed(by_query: Found, value: tuple[str, int, int], asked: Asked) -> Found:
    """Return plans `by_query` with a node's key, and with its value where several nodes share it."""
    name, size, part = value
    here = Plan(composition=Composition(), keys=frozenset([(name, size, part if name in asked.shared else 0)]))
    return {
        query: tuple(replace(plan, keys=plan.keys | here.keys) for plan in plans if plan.agrees(here))
        for query, plans in by_query.items()
    }


def shared_keys(node: Declaration) -> frozenset[str]:
    """Return the keys that several nodes name.

    >>> from dpaudit.model.declaration import Stated
    >>> shared_keys(Stated(epsilon=1.0, source="a supplier"))
    frozenset()
    """
    named = [below.key for _, below in walk(node) if isinstance(below, Parallel)]
    return frozenset(key for key, times in Counter(named).items() if times > 1)


def named_once(node: Declaration, labels: tuple[str, ...]) -> bool:
    """Return whether the releases of `labels` (all, if empty) name every key: they stand in one part of each node.

    >>> from dpaudit.model.declaration import Stated
    >>> named_once(Stated(epsilon=1.0, source="a supplier"), ())
    True
    """
    arrays = [below.parts for _, below in walk(node) if isinstance(below, Parallel)]
    return all(sum(_holds(part, labels) for part in parts) <= 1 for parts in arrays)


def _holds(node: Declaration, labels: tuple[str, ...]) -> bool:
    """Return whether a node holds a release of `labels`, or any where it is empty."""
    releases = (below for _, below in walk(node) if isinstance(below, Release))
    return any(not labels or release.label in labels for release in releases)


def _pruned(plans: list[Plan]) -> tuple[Plan, ...]:
    """Return plans that none with the same keys dominates, the first of equal ones; of many, none of all plans."""
    by_keys: dict[frozenset[tuple[str, int, int]], list[Plan]] = {}
    for plan in plans:
        by_keys.setdefault(plan.keys, []).append(plan)
    groups = list(by_keys.values()) if len(by_keys) <= _MOST else [plans]
    undominated: list[Plan] = []
    for group in groups:
        first = {plan.composition: plan for plan in reversed(group)}
        undominated += [first[composition] for composition in heaviest(first)]
    return tuple(undominated)


def query_of(mechanism: object) -> Query:
    """Return what a mechanism adds its noise to: its kind, and the parameters that scaling the noise leaves alone.

    >>> from mechanisms import Laplace
    >>> less, more = (Laplace(scale=b, l1_sensitivity=1.0, neighbours="replace_one") for b in (1.0, 3.0))
    >>> query_of(less) == query_of(more)
    True
    """
    if not is_mechanism(mechanism):
        return (mechanism,)
    for factor in (2.0, 0.5):  # noise near the end of the range can be scaled one way only
        try:
            return _common(mechanism, mechanism.scaled(factor))
        except (ValueError, OverflowError):
            continue
    return (mechanism,)


def _common(first: object, second: object) -> Query:
    """Return the name of a mechanism and those of its parameters that another of its kind shares."""
    if not is_dataclass(first):
        return (first,)
    pairs = [(entry.name, getattr(first, entry.name), getattr(second, entry.name)) for entry in fields(first)]
    shared = ((name, _common(a, b) if is_mechanism(a) else a) for name, a, b in pairs if _alike(a, b))
    return (type(first).__name__, *shared)


def _alike(first: object, second: object) -> bool:
    """Return whether two parameters are equal, or mechanisms inside a mechanism."""
    return first == second or is_mechanism(first)
