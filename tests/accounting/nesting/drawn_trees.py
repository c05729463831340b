"""Random trees of nested nodes with a few records, and the truth of their claims over all pairs of neighbours."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from dpaudit.accounting.derivation.walker import derived
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.declaration import Declaration, Positions, Scheme, Subsample, walk
from tests.accounting.nesting import trees
from tests.accounting.nesting.protocol import Move, Pop, Push, View, value
from tests.accounting.nesting.trees import Node, Record

LARGEST, HIDDEN, BRANCHES = 40_000, 300, 40
"""The most histories times states times pairs of a system, its hidden states, and its ways to adapt."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a node is drawn: the relation there, and how many records are seen, if that is known, and at most.

    `values` is how many values a record has, `person` how many records a person has in groups, and `inside` the kinds
    of nodes above.
    """

    neighbours: Neighbours
    seen: int | None
    most: int
    values: int
    person: int
    depth: int
    adaptive: bool
    inside: tuple[str, ...] = ()

    def below(self, kind: str, depth: int = 4) -> "Place":
        """Return the place one node further down, or less deep."""
        return replace(self, depth=min(self.depth - 1, depth), inside=(*self.inside, kind))


@dataclass(frozen=True, kw_only=True)
class System:
    """A tree over explicit records: every key of a slot is public, every value is one of a few."""

    node: Node
    kinds: tuple[str, ...]
    neighbours: Neighbours
    keys: tuple[int, ...]
    values: int

    @property
    def declaration(self) -> Declaration:
        """The declaration, written without a look at the records."""
        return self.node.declare(self.neighbours)

    def pairs(self) -> Iterator[tuple[View, View]]:
        """Yield all neighbours, each pair in one order; the record that differs may have any key.

        Where a record is added, there may be no others, unless a sample's size says how many there are.
        """
        keys = range(4 if "parallel" in self.kinds else 1)
        known = any(isinstance(node, Subsample) and node.scheme != "poisson" for _, node in walk(self.declaration))
        for changed, key in product(range(len(self.keys)), keys):
            held = tuple(key if i == changed else old for i, old in enumerate(self.keys))
            for values in product(range(self.values), repeat=len(held)):
                view = tuple(Record((i,), held[i], v) for i, v in enumerate(values))
                if self.neighbours == "add_remove":
                    yield view, (*view[:changed], *view[changed + 1 :])
                    if not known:
                        yield (view[changed],), ()
                    continue
                others = [0] if self.neighbours == "zero_out" else range(values[changed])
                for other in others:
                    if other != values[changed]:
                        record = Record((changed,), key, other)
                        yield view, (*view[:changed], record, *view[changed + 1 :])

    def deltas(self, epsilons: tuple[float, ...]) -> tuple[float, ...]:
        """Return the largest delta at each epsilon, over all pairs in both orders and all adversaries."""
        found = [
            max(value(self.node.moves, order, float(np.exp(e))) for p, q in pairs for order in ((p, q), (q, p)))
            for pairs in [list(dict.fromkeys(self.pairs()))]
            for e in epsilons
        ]
        return tuple(found)


def draw(rng: np.random.Generator) -> System:
    """Return a random system of nests that have a rule."""
    while True:
        kinds: list[str] = []
        neighbours = NEIGHBOURS[int(rng.choice(3, p=[0.5, 0.35, 0.15]))]
        records, adaptive = int(rng.integers(1, 4)), bool(rng.random() < 0.5)
        person = int(rng.choice([1, 1, 2, 3] if records < 3 else [1, 2]))
        values = 2**person if person > 1 else int(rng.choice([2, 4])) if records < 3 else 2
        start = Place(
            neighbours=neighbours, seen=records, most=records, values=values, person=person, depth=4, adaptive=adaptive
        )
        node = drawn(rng, start, kinds)
        if node is None or len(kinds) < 2:
            continue
        if not _has_rules(node, neighbours):
            continue
        pairs = records * values**records * (4 if "parallel" in kinds else 1)
        if node.size * pairs * _states(node.moves, records) > LARGEST:
            continue
        keys = tuple(int(k) for k in rng.integers(0, 4 if "parallel" in kinds else 1, records))
        return System(node=node, kinds=tuple(kinds), neighbours=neighbours, keys=keys, values=values)


def _has_rules(node: Node, neighbours: Neighbours) -> bool:
    """Return whether every nest of a tree has a rule."""
    try:
        derived(node.declare(neighbours), neighbours)
    except UnsupportedError:
        return False
    return True


def _states(moves: tuple[Move, ...], records: int) -> int:
    """Return the most hidden states of all records together, or very many where there are many branches."""
    view: View = tuple(Record((i,), i, 1) for i in range(records))
    stacks: set[tuple[View, ...]] = {(view,)}
    branches = most = 1
    for move in moves:
        if isinstance(move, Pop):
            stacks = {stack[:-1] for stack in stacks}
        elif isinstance(move, Push):
            branches *= len(move.options)
            stacks = {(*s, found) for s in stacks for found, _ in move.options[0](s[-1])}
        else:
            branches *= len(move.options)
        most = max(most, len(stacks))
        if most > HIDDEN or branches > BRANCHES:
            return LARGEST
    return most


def drawn(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    """Return a random node for a place, None where nothing fits."""
    choices = [name for name, fits in _FITS.items() if fits(place)]
    if place.depth <= 0 or not choices or rng.random() < 0.08:
        return _leaf(rng, place)
    kind = str(rng.choice([name for name in choices for _ in range(_OFTEN.get(name, 1))]))
    kinds.append(kind)
    return _DRAW[kind](rng, place, kinds)


def _leaf(rng: np.random.Generator, place: Place) -> Node:
    """Return a release."""
    label = f"release {int(rng.integers(10**6))}"
    chance = rng.random()
    if chance < 0.15 and place.values == 2:
        return trees.count(label, int(rng.integers(1, 3)), place.most, signed=place.neighbours != "zero_out")
    questions = trees.QUESTIONS if place.adaptive and rng.random() < 0.6 else trees.QUESTIONS[:1]
    questions = questions[: int(rng.integers(1, 4))]
    if chance < 0.25:
        delta = float(rng.choice([0.0, 0.05, 0.3]))
        return trees.stated(float(rng.choice([0.3, 1.0, 2.0])), delta, questions)
    outcomes = int(rng.choice([2, 2, 3]))
    least = 1 if rng.random() < 0.8 else 0
    head, *rest = (int(n) for n in rng.integers(least, 9, outcomes))
    first = (head + 1, *rest)
    second = first[::-1] if rng.random() < 0.5 else tuple(int(n) for n in rng.integers(1, 9, outcomes))
    return trees.table(label, first, second, questions)


Drawer = Callable[[np.random.Generator, Place, list[str]], Node | None]


def _sequential(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    one, two = (drawn(rng, place.below("sequential"), kinds) for _ in range(2))
    return trees.sequence((one, two)) if one and two else None


def _repeat(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    part = drawn(rng, place.below("repeat"), kinds)
    return trees.repeated(part, int(rng.integers(2, 4))) if part else None


def _wrapped(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    part = drawn(rng, place.below("wrapped"), kinds)
    return trees.wrapped(part, billboard=bool(rng.random() < 0.3)) if part else None


def _parallel(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    one, two = (drawn(rng, replace(place.below("parallel"), seen=None), kinds) for _ in range(2))
    if not (one and two):
        return None
    flips = 2 if place.adaptive and rng.random() < 0.7 else 1
    return trees.parallel((one, one if rng.random() < 0.3 else two), int(rng.integers(0, 2)), flips)


def _hidden(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    one, two = (drawn(rng, replace(place.below("hidden"), seen=None), kinds) for _ in range(2))
    return trees.hidden((one, one if rng.random() < 0.7 else two)) if one and two else None


def _cells(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    part = drawn(rng, replace(place.below("cells", 2), seen=None), kinds)
    return trees.cells(part, 2) if part else None


def _group(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    size = place.person
    seen = None if place.seen is None else size * place.seen
    below = replace(place.below("group"), seen=seen, most=size * place.most, values=2, person=1)
    part = drawn(rng, below, kinds)
    return trees.group(part, size, spread=bool(rng.random() < 0.6)) if part else None


def _local(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    part = drawn(rng, replace(place.below("local", 1), seen=1, most=1), kinds)
    mixed = any(name in trees.SIZES for name in place.inside)
    return trees.local(part, place.seen, mixed=mixed) if part and place.seen else None


def _sampled(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    scheme: Scheme = "poisson"
    seen = place.seen
    whole = "cells" not in place.inside
    if seen is not None and seen > 1 and whole and rng.random() < 0.7:
        fixed: dict[Neighbours, tuple[Scheme, ...]] = {
            "add_remove": ("without_replacement", "truncated_poisson"),
            "replace_one": ("without_replacement", "with_replacement"),
            "zero_out": ("without_replacement",),
        }
        scheme = fixed[place.neighbours][int(rng.integers(0, len(fixed[place.neighbours])))]
    records = seen or 1
    size = int(rng.integers(1, records)) if records > 1 else 1
    fixed_rate = scheme in ("without_replacement", "with_replacement")
    rate = size / records if fixed_rate else float(np.round(rng.uniform(0.05, 0.95), 2))
    inner: Neighbours = place.neighbours
    if scheme == "poisson" and inner == "replace_one":
        inner = "add_remove"
    if scheme == "without_replacement" and inner == "add_remove":
        inner = "replace_one"
    kinds[-1] = scheme
    held = size if fixed_rate else None
    most = place.most if scheme == "poisson" else size
    part = drawn(rng, replace(place.below(scheme), neighbours=inner, seen=held, most=most), kinds)
    return trees.sampled(part, scheme, records, size, rate) if part else None


def _allocated(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    inner: Neighbours = "add_remove" if place.neighbours == "replace_one" else place.neighbours
    steps = int(rng.integers(1, 4))
    part = drawn(rng, replace(place.below("allocate", 2), neighbours=inner, seen=None), kinds)
    if part is None:
        return None
    positions: Positions = "fresh" if rng.random() < 0.5 else "repeated"
    return trees.allocated(part, steps, int(rng.integers(1, 3)), int(rng.integers(1, steps + 1)), positions)


def _shuffled(rng: np.random.Generator, place: Place, kinds: list[str]) -> Node | None:
    epsilon, categories = (
        float(rng.choice([0.5, 1.0, 2.0])),
        int(rng.integers(2, 4 if place.values == 4 and place.person == 1 else 3)),
    )
    label = f"report {int(rng.integers(10**6))}"
    return trees.shuffled(label, epsilon, categories, place.seen or 1, int(rng.integers(1, 3)))


_DRAW: dict[str, Drawer] = {
    "sequential": _sequential,
    "repeat": _repeat,
    "wrapped": _wrapped,
    "parallel": _parallel,
    "hidden": _hidden,
    "cells": _cells,
    "group": _group,
    "local": _local,
    "sampled": _sampled,
    "allocate": _allocated,
    "shuffle": _shuffled,
}
_FITS: dict[str, Callable[[Place], bool]] = {
    "sequential": lambda place: True,
    "repeat": lambda place: True,
    "wrapped": lambda place: True,
    "parallel": lambda place: True,
    "hidden": lambda place: "with_replacement" not in place.inside,
    "cells": lambda place: (
        place.neighbours != "zero_out" and place.values == 4 and place.person == 1 and "cells" not in place.inside
    ),
    "group": lambda place: place.person > 1,
    "local": lambda place: place.neighbours == "replace_one" and bool(place.seen) and "local" not in place.inside,
    "sampled": lambda place: True,
    "allocate": lambda place: "allocate" not in place.inside,
    "shuffle": lambda place: place.neighbours == "replace_one" and bool(place.seen) and "local" not in place.inside,
}
_OFTEN = {"sampled": 3, "cells": 3, "group": 2, "shuffle": 2}
"""Kinds that are drawn more often than others, where they fit."""
