"""The game of a declaration: the executable definition of what it says about two tiny data sets.

An adversary picks each query and each public key in view of all outputs so far, and never a hidden draw. `value` is the
largest P(S) - x Q(S) over adversaries and events S, in exact fractions. `replay` gives both laws of one stated
algorithm.

A *world* is what may be true and hidden from the adversary: the records that are visible to the part at work, and a
stack of the deals around it, each with the records to return to and the turns still to come. A world has two whole
numbers: its weights under the first data set of the pair and, times x, under the second one. All weights share one
denominator, which grows at every step by a `scale`.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import gcd, isqrt, lcm, prod
from typing import NamedTuple, TypeAlias

import numpy as np

from dpaudit.model.declaration import Declaration, Repeat, Sequential
from dpaudit.semantics.data import DataSet, Pair
from dpaudit.semantics.draws import Turns
from dpaudit.semantics.nodes import Inner, Leaf, Node, UndefinedInstanceError, deals, played
from dpaudit.semantics.queries import Query, any_answers, lowered, queries, seen
from dpaudit.semantics.tables import Table

World: TypeAlias = tuple[DataSet, tuple[tuple[DataSet, Turns], ...]]
Worlds: TypeAlias = dict[World, tuple[int, int]]


class Turn(Enum):
    """The next turn of the innermost deal becomes visible, or that deal ends."""

    NEXT = "next"
    END = "end"


Task: TypeAlias = Node | Turn
"""What is done next: a node is played, or the visible records change."""

View: TypeAlias = tuple[Hashable, ...]
"""What is shown, in order: the output of a release, or the sorted reports of a shuffle."""

MOST_QUERIES = 1000


class Step(NamedTuple):
    """What follows a choice: the worlds by what is shown, over `scale`, and the tasks that are put first.

    `budget` is how many queries the game tries after it.
    """

    choice: object
    shown: dict[Hashable, Worlds]
    scale: int = 1
    tasks: tuple[Task, ...] = ()
    budget: int = 0


def value(
    tree: Declaration,
    tables: Mapping[str, Table],
    pair: Pair,
    x: Fraction | int = 1,
    *,
    most_queries: int = MOST_QUERIES,
    rng: np.random.Generator | None = None,
) -> Fraction:
    """Return the largest P(S) - x Q(S) that an adversary reaches on a pair, over its queries, keys and events S.

    Parameters: `tree`, and `tables` by the labels of its releases; `pair` of data sets; `most_queries` that are tried
    along one run of the game; `rng` for queries at random, where there are more.
    Guarantee: exact where so many queries are all that there are, otherwise a lower bound of it.
    Raises: UndefinedInstanceError: the tree says nothing about this pair.

    >>> from dpaudit.model.declaration import Stated
    >>> from dpaudit.semantics import laws, pairs
    >>> answers = Table(laws("3/4 1/4", "1/4 3/4"), {"remove": 1})
    >>> value(Stated(epsilon=1.1, source="a count"), {"a count": answers}, next(pairs("remove")))
    Fraction(1, 2)
    """
    x = Fraction(x)
    worlds = start(pair, x.denominator, x.numerator)
    return Game(rng=rng).value(worlds, (played(tree, tables),), most_queries) / x.denominator


@dataclass(slots=True, kw_only=True)
class Game:
    """One game with what it has found out so far: the value of each position, and the step that reaches it."""

    rng: np.random.Generator | None = None
    solved: dict[Hashable, tuple[Fraction, Step]] = field(default_factory=dict)

    def value(self, worlds: Worlds, tasks: tuple[Task, ...], budget: int) -> Fraction:
        """Return the largest total of (p - q)_+ over the ends of the game, where `budget` queries are tried."""
        worlds, tasks = settled(worlds, tasks)
        p, q = totals(worlds)
        if p == 0 or q == 0 or not tasks:
            return Fraction(max(p - q, 0))
        common = gcd(*(weight for both in worlds.values() for weight in both))
        least = {world: (p // common, q // common) for world, (p, q) in worlds.items()}
        return common * self.best(least, tasks, budget)[0]

    def best(self, worlds: Worlds, tasks: tuple[Task, ...], budget: int) -> tuple[Fraction, Step]:
        """Return the value of a settled position in which there is a task, and the step that reaches it.

        Raises: UndefinedInstanceError: every choice leads to a sample or a shuffle of another number of records.
        """
        position = frozenset(worlds.items()), tasks, budget
        if position not in self.solved:
            reachable: list[tuple[Fraction, Step]] = []
            undefined: UndefinedInstanceError | None = None
            for step in self.steps(worlds, tasks, budget):
                try:
                    ends = (self.value(after, step.tasks + tasks[1:], step.budget) for after in step.shown.values())
                    reachable.append((sum(ends, start=Fraction(0)) / step.scale, step))
                except UndefinedInstanceError as error:
                    undefined = error
            if undefined and not reachable:
                raise undefined
            self.solved[position] = max(reachable, key=lambda reached: reached[0])
        return self.solved[position]

    def steps(self, worlds: Worlds, tasks: tuple[Task, ...], budget: int) -> Iterator[Step]:
        """Yield what the adversary may do next; queries share what may be tried after them."""
        task = tasks[0]
        if isinstance(task, Leaf):
            asked = self._queries(task, worlds, budget, last=all(later is Turn.END for later in tasks[1:]))
            orders = [*permutations(range(len(task.table.laws[0])))] if task.best else [()]
            for query, order in product(asked, orders):
                yield shown(task, worlds, query, order)._replace(budget=budget // len(asked))
        elif isinstance(task, Inner):
            yield from (step._replace(budget=budget) for step in dealt(task, worlds))

    def _queries(self, leaf: Leaf, worlds: Worlds, budget: int, *, last: bool) -> list[Query]:
        """Return the queries that are tried: first those with one answer where the first side is likelier.

        At a last release these suffice where every data set may have any answer: the probability of an event is largest
        under one answer and smallest under another one. Of one data set all queries say the same: nothing.
        """
        table, likelier = leaf.table, Counter[DataSet]()
        for (data, _), (p, q) in worlds.items():
            for visible in inputs(leaf, data):
                likelier[visible] += p - q
        if len(likelier) == 1:
            return [dict.fromkeys(likelier, 0)]
        sets = tuple(sorted(likelier))
        rows = sorted(permutations(range(table.top + 1), 2), key=lambda row: -abs(row[0] - row[1]))
        first = [lowered(table, sets, [a if likelier[data] > 0 else b for data in sets]) for a, b in rows]
        linear = leaf.users is None and leaf.rate == 1
        if first and last and linear and any_answers(table, sets):
            return first
        most = max(1, budget if last else isqrt(budget))
        others = queries(table, sets, most, self.rng)
        return [*first, *(query for query in others if query not in first)][: max(most, len(others))]


def settled(worlds: Worlds, tasks: tuple[Task, ...]) -> tuple[Worlds, tuple[Task, ...]]:
    """Return the position after all that nobody decides: sequences begin, turns are shown, deals end."""
    while tasks:
        match tasks[0]:
            case Turn.NEXT:
                turned = (((turns[0], (*stack, (d, turns[1:]))), w) for (_, (*stack, (d, turns))), w in worlds.items())
                worlds, tasks = _merged(turned), tasks[1:]
            case Turn.END:
                worlds = _merged(((data, tuple(stack)), w) for (_, (*stack, (data, _))), w in worlds.items())
                tasks = tasks[1:]
            case Inner(says=Sequential() | Repeat(), parts=parts):
                tasks = parts + tasks[1:]
            case _:
                break
    return worlds, tasks


def dealt(node: Inner, worlds: Worlds) -> Iterator[Step]:
    """Yield the worlds after each deal that the adversary may pick, with their turns on the stack."""
    first, second = (frozenset(data for (data, _), both in worlds.items() if both[side]) for side in (0, 1))
    for deal in deals(node, (first, second)):
        drawn = {data: deal.turns(data) for data, _ in worlds}
        scale = lcm(*(total for _, total in drawn.values()))
        after = (
            ((data, (*stack, (data, turns))), (p * weight * scale // total, q * weight * scale // total))
            for (data, stack), (p, q) in worlds.items()
            for weights, total in (drawn[data],)
            for turns, weight in weights.items()
            if weight
        )
        turns_of_parts = (task for part in deal.parts for task in (Turn.NEXT, part))
        yield Step(deal.label, {None: _merged(after)}, scale, (*turns_of_parts, Turn.END))


def inputs(leaf: Leaf, data: DataSet) -> list[DataSet]:
    """Return what queries can tell of what they are asked: all that is visible, or for a shuffle each record alone."""
    if leaf.best:
        return [seen(leaf.table, turn) for (turn,) in leaf.runs_on(data)[0]]
    return [seen(leaf.table, records) for records in ([data] if leaf.users is None else [(record,) for record in data])]


def shown(leaf: Leaf, worlds: Worlds, query: Query, order: tuple[int, ...] = ()) -> Step:
    """Return the worlds after each output of a query; a shuffle shows its reports sorted, which says as much as counts.

    `order` has the outputs of a run from the worst to the best, by their numbers where it is empty.
    Raises: UndefinedInstanceError: a shuffle of another number of users than there are records.
    """
    after: dict[Hashable, Worlds] = {}
    if leaf.best:
        return _best_shown(leaf, worlds, query, order)
    for world, (p, q) in worlds.items():
        answers = tuple(query[data] for data in inputs(leaf, world[0]))
        if len(answers) != (leaf.users or 1):
            raise UndefinedInstanceError(f"A shuffle of {leaf.users} users is given {len(answers)} records.")
        for output, weight in _reports(leaf.table, answers).items():
            after.setdefault(output, {})[world] = (p * weight, q * weight)
    return Step(query, after, leaf.table.total ** (leaf.users or 1))


def _best_shown(leaf: Leaf, worlds: Worlds, query: Query, order: tuple[int, ...]) -> Step:
    """Return the worlds after each output of the best run."""
    best = {data: _best_run(leaf, data, query, order) for data, _ in worlds}
    scale = lcm(*(chance.denominator for law in best.values() for chance in law))
    after: dict[Hashable, Worlds] = {}
    for world, (p, q) in worlds.items():
        for output, chance in enumerate(best[world[0]]):
            after.setdefault((output,), {})[world] = (int(p * chance * scale), int(q * chance * scale))
    return Step(query, after, scale)


def _best_run(leaf: Leaf, data: DataSet, query: Query, order: tuple[int, ...]) -> list[Fraction]:
    """Return the law of the output of the best run, each run being independent of the others."""
    turns, total = leaf.runs_on(data)
    once = [Fraction(0)] * len(leaf.table.laws[0])
    for (turn,), weight in turns.items():
        for output, chance in enumerate(leaf.table.laws[query[seen(leaf.table, turn)]]):
            once[output] += chance * weight / total
    law, below = list(once), Fraction(0)
    for output in order or range(len(once)):
        law[output] = leaf.reached(below + once[output]) - leaf.reached(below)
        below += once[output]
    return law


@lru_cache(maxsize=1024)
def _reports(table: Table, answers: tuple[int, ...]) -> Mapping[View, int]:
    """Return the weights of the sorted outputs of independent reports."""
    weights = Counter[View]()
    for outputs in product(*(table.weights[answer].items() for answer in answers)):
        weights[tuple(sorted(output for output, _ in outputs))] += prod(weight for _, weight in outputs)
    return weights


def start(pair: Pair, p: int, q: int) -> Worlds:
    """Return the worlds of a pair, of which nothing is hidden yet."""
    first, second = pair
    return _merged([((first, ()), (p, 0)), ((second, ()), (0, q))])


def _merged(weighted: Iterable[tuple[World, tuple[int, int]]]) -> Worlds:
    """Return worlds with the sums of their weights."""
    worlds: Worlds = {}
    for world, (p, q) in weighted:
        before = worlds.get(world, (0, 0))
        worlds[world] = (before[0] + p, before[1] + q)
    return worlds


def totals(worlds: Worlds) -> tuple[int, int]:
    """Return the total weights of both sides."""
    return sum(p for p, _ in worlds.values()), sum(q for _, q in worlds.values())
