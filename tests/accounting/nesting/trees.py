"""Nodes of every kind, each as a declaration for a relation and as a protocol that runs on explicit records.

A record has a slot, a public key and a value, whose lowest bit is asked about and whose next bit is a cell. Where a
group is unfolded, the digits of a person's value are the values of the person's records.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import NamedTuple, TypeAlias

import numpy as np

import dpaudit as dp
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Positions, Scheme
from dpaudit.model.moves import relation_below
from mechanisms import Finite, RandomisedResponse, TruncatedDiscreteGaussian
from tests.accounting.nesting.protocol import Ask, Kernel, Law, Move, Pop, Push, View

Declare: TypeAlias = Callable[[Neighbours], dp.Declaration]
Question: TypeAlias = Callable[[View], int]


class Record(NamedTuple):
    """One record, or one person whose records are unfolded later."""

    slot: tuple[int, ...]
    key: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part: what it declares for a relation, what it does, and how many histories it makes."""

    declare: Declare
    moves: tuple[Move, ...]
    size: int


def bit(record: Record) -> int:
    """Return what is asked of a record."""
    return record.value % 2


QUESTIONS: tuple[Question, ...] = (
    lambda view: max((bit(record) for record in view), default=0),
    lambda view: 1 - max((bit(record) for record in view), default=0),
    lambda view: sum(bit(record) for record in view) % 2,
)


def table(label: str, first: tuple[int, ...], second: tuple[int, ...], questions: tuple[Question, ...]) -> Node:
    """Return a release of a table: one of two laws, by a question with two answers."""
    laws = [tuple(count / sum(law) for count in law) for law in (first, second)]

    def asking(question: Question) -> Law:
        return lambda view: laws[question(view)]

    def declare(neighbours: Neighbours) -> dp.Declaration:
        one, two = (tuple(map(float, law)) for law in (first, second))
        return dp.Release(label=label, mechanism=Finite(first=one, second=two, neighbours=neighbours))

    ask = Ask(options=tuple(map(asking, questions)))
    return Node(declare=declare, moves=(ask,), size=len(first) * len(questions))


def stated(epsilon: float, delta: float, questions: tuple[Question, ...]) -> Node:
    """Return a black box at its worst: randomised response that fails with probability `delta`."""
    right = (1 - delta) / (1 + math.exp(-epsilon))
    laws = (right, 1 - delta - right, delta, 0.0), (1 - delta - right, right, 0.0, delta)

    def asking(question: Question) -> Law:
        return lambda view: laws[question(view)]

    ask = Ask(options=tuple(map(asking, questions)))
    told = dp.Stated(epsilon=epsilon, delta=delta, source="a supplier")
    return Node(declare=lambda neighbours: told, moves=(ask,), size=4 * len(questions))


def count(label: str, bound: int, records: int, *, signed: bool) -> Node:
    """Return a sum of bits, or of signs, under integer noise that never exceeds a bound."""
    noise = np.exp(-(np.arange(-bound, bound + 1) ** 2) / 2.0)
    noise = noise / noise.sum()

    def law(view: View) -> tuple[float, ...]:
        answer = sum(2 * bit(record) - 1 if signed else bit(record) for record in view)
        shown = np.zeros(2 * (records + bound) + 1)
        shown[records + answer : records + answer + len(noise)] = noise
        return tuple(shown.tolist())

    def declare(neighbours: Neighbours) -> dp.Declaration:
        moved = 2 if signed and neighbours == "replace_one" else 1
        noisy = TruncatedDiscreteGaussian(stddev=1.0, cut=float(bound), l2_sensitivity=moved, neighbours=neighbours)
        return dp.Release(label=label, mechanism=noisy)

    return Node(declare=declare, moves=(Ask(options=(law,)),), size=2 * (records + bound) + 1)


def sequence(parts: tuple[Node, ...]) -> Node:
    """Return parts one after another."""
    return Node(
        declare=lambda neighbours: dp.Sequential(parts=tuple(part.declare(neighbours) for part in parts)),
        moves=tuple(move for part in parts for move in part.moves),
        size=math.prod(part.size for part in parts),
    )


def repeated(part: Node, times: int) -> Node:
    """Return a part again and again."""
    return Node(
        declare=lambda neighbours: dp.Repeat(part=part.declare(neighbours), times=times),
        moves=part.moves * times,
        size=part.size**times,
    )


def wrapped(part: Node, *, billboard: bool) -> Node:
    """Return a part that is processed, or shown to everybody."""

    def declare(neighbours: Neighbours) -> dp.Declaration:
        inner = part.declare(neighbours)
        return dp.Billboard(part=inner, reads=("their own context",)) if billboard else dp.PostProcess(part=inner)

    return Node(declare=declare, moves=part.moves, size=part.size)


def _sure(view: Iterable[object]) -> list[tuple[View, float]]:
    """Return one view without chance."""
    return [(tuple(view), 1.0)]


def within(parts: list[Node], split: Push) -> tuple[Move, ...]:
    """Return the moves of parts that each see one view of a split."""

    def entering(place: int) -> Kernel:
        return lambda views: _sure(views[place])

    inner = (
        move for place, part in enumerate(parts) for move in (Push(options=(entering(place),)), *part.moves, Pop())
    )
    return (split, *inner, Pop())


def parallel(parts: tuple[Node, Node], digit: int, flips: int) -> Node:
    """Return two parts that a binary digit of the public key picks; the adversary may swap them if `flips` is 2."""

    def splitting(flip: int) -> Kernel:
        return lambda view: _sure(
            tuple(record for record in view if ((record.key >> digit) + flip) % 2 == place) for place in range(2)
        )

    key = f"digit {digit} of the public key" if flips == 1 else f"digit {digit} of the key, as outputs turn it"
    return Node(
        declare=lambda neighbours: dp.Parallel(parts=tuple(part.declare(neighbours) for part in parts), key=key),
        moves=within(list(parts), Push(options=tuple(splitting(flip) for flip in range(flips)))),
        size=flips * math.prod(part.size for part in parts),
    )


def hidden(parts: tuple[Node, ...]) -> Node:
    """Return parts of which every record is in a secret one, drawn for each record by itself."""

    def split(view: View) -> list[tuple[View, float]]:
        ways = product(range(len(parts)), repeat=len(view))
        return [
            (
                tuple(tuple(r for r, at in zip(view, way, strict=True) if at == place) for place in range(len(parts))),
                len(parts) ** -len(view),
            )
            for way in ways
        ]

    return Node(
        declare=lambda neighbours: dp.Parallel(
            parts=tuple(part.declare(neighbours) for part in parts), key="a secret order", visibility="secret"
        ),
        moves=within(list(parts), Push(options=(split,))),
        size=math.prod(part.size for part in parts),
    )


def cells(part: Node, number: int) -> Node:
    """Return an array of cells, of which a record's value picks one."""

    def split(view: View) -> list[tuple[View, float]]:
        return _sure(tuple(r for r in view if r.value // 2 % number == cell) for cell in range(number))

    return Node(
        declare=lambda neighbours: dp.Cells(inside=part.declare(neighbours), touched=part.declare("add_remove")),
        moves=within([part] * number, Push(options=(split,))),
        size=part.size**number,
    )


def group(part: Node, size: int, *, spread: bool) -> Node:
    """Return a part of which each person owns several records, whose bits are the digits of the person's value."""

    def unfold(view: View) -> list[tuple[View, float]]:
        return _sure(
            Record((*person.slot, i), person.key ^ (3 * (i % 2) * spread), person.value >> i & 1)
            for person in view
            for i in range(size)
        )

    return Node(
        declare=lambda neighbours: dp.Group(part=part.declare(neighbours), size=size),
        moves=(Push(options=(unfold,)), *part.moves, Pop()),
        size=part.size,
    )


def local(part: Node, messages: int, *, mixed: bool) -> Node:
    """Return one message of every record; those of a sample are mixed, as their order tells who else is in it."""

    def split(view: View) -> list[tuple[View, float]]:
        orders = list(permutations(view)) if mixed else [view]
        return [(tuple((record,) for record in order), 1 / len(orders)) for order in orders]

    return Node(
        declare=lambda neighbours: dp.Local(part=part.declare(neighbours)),
        moves=within([part] * messages, Push(options=(split,))),
        size=part.size**messages,
    )


SIZES: dict[Scheme, tuple[str, ...]] = {
    "poisson": (),
    "without_replacement": ("population", "batch_size"),
    "truncated_poisson": ("population", "batch_bound"),
    "with_replacement": ("population", "batch_size"),
}


def sampled(part: Node, scheme: Scheme, records: int, size: int, rate: float) -> Node:
    """Return a part on a sample of at most `records` records."""
    known = {"population": records, "batch_bound": size, "batch_size": size}
    sizes = {name: known[name] for name in SIZES[scheme]}

    def node(inner: dp.Declaration) -> dp.Subsample:
        return dp.Subsample(
            part=inner,
            rate=rate,
            scheme=scheme,
            population=sizes.get("population"),
            batch_size=sizes.get("batch_size"),
            batch_bound=sizes.get("batch_bound"),
        )

    def declare(neighbours: Neighbours) -> dp.Declaration:
        return node(part.declare(relation_below(node(dp.Stated(epsilon=1.0, source="a place")), 0, neighbours)))

    draw = Push(options=(lambda view: _samples(view, scheme, size, rate),))
    return Node(declare=declare, moves=(draw, *part.moves, Pop()), size=part.size)


def _samples(view: View, scheme: Scheme, size: int, rate: float) -> list[tuple[View, float]]:
    """Return every sample with its probability."""
    if scheme == "without_replacement":
        return [(chosen, 1 / math.comb(len(view), size)) for chosen in combinations(view, size)]
    if scheme == "with_replacement":
        return [(chosen, float(len(view)) ** -size) for chosen in product(view, repeat=size)]
    found: Counter[View] = Counter()
    for held in product((False, True), repeat=len(view)):
        chosen = tuple(record for record, inside in zip(view, held, strict=True) if inside)
        kept = min(len(chosen), size if scheme == "truncated_poisson" else len(view))
        chance = rate ** len(chosen) * (1 - rate) ** (len(view) - len(chosen)) / math.comb(len(chosen), kept)
        for cut in combinations(chosen, kept):
            found[cut] += chance  # type: ignore[assignment]  # a counter of floats
    return list(found.items())


def allocated(part: Node, steps: int, epochs: int, per_epoch: int, positions: Positions) -> Node:
    """Return a part at secret steps, which every record draws by itself."""
    places = list(combinations(range(steps), per_epoch))

    def split(view: View) -> list[tuple[View, float]]:
        return [
            (
                tuple(tuple(r for r, at in zip(view, way, strict=True) if step in at) for step in range(steps)),
                float(len(places)) ** -len(view),
            )
            for way in product(places, repeat=len(view))
        ]

    def node(inner: dp.Declaration) -> dp.Allocate:
        return dp.Allocate(part=inner, steps=steps, epochs=epochs, per_epoch=per_epoch, positions=positions)

    def declare(neighbours: Neighbours) -> dp.Declaration:
        return node(part.declare(relation_below(node(dp.Stated(epsilon=1.0, source="a place")), 0, neighbours)))

    one = within([part] * steps, Push(options=(split,)))
    again = (one[0], *one[1:-1] * epochs, one[-1])
    moves = one * epochs if positions == "fresh" else again
    return Node(declare=declare, moves=moves, size=part.size ** (steps * epochs))


def shuffled(label: str, epsilon: float, categories: int, users: int, times: int) -> Node:
    """Return the reports of all users in a secret order: what each said, as a multiset."""
    truth = math.exp(epsilon) / (math.exp(epsilon) + categories - 1)
    lie = (1 - truth) / (categories - 1)
    messages = list(product(range(categories), repeat=times))
    shapes = {shape: i for i, shape in enumerate(sorted({tuple(sorted(s)) for s in product(messages, repeat=users)}))}

    def law(view: View) -> tuple[float, ...]:
        shown = [0.0] * len(shapes)
        for said in product(messages, repeat=users):
            chance = math.prod(
                truth if one == record.value % categories else lie
                for record, message in zip(view, said, strict=True)
                for one in message
            )
            shown[shapes[tuple(sorted(said))]] += chance
        return tuple(shown)

    def declare(neighbours: Neighbours) -> dp.Declaration:
        report: dp.Declaration = dp.Release(
            label=label, mechanism=RandomisedResponse(epsilon=epsilon, categories=categories)
        )
        return dp.Shuffle(part=dp.Repeat(part=report, times=times) if times > 1 else report, users=users)

    return Node(declare=declare, moves=(Ask(options=(law,)),), size=len(shapes))
