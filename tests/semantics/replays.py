"""The views of one algorithm on a pair of tiny data sets: one that is stated, or one whose choices are drawn."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from dpaudit.model.declaration import Declaration
from dpaudit.semantics import DataSet, Pair, Table
from dpaudit.semantics.game import Game, Step, Task, Turn, View, Worlds, dealt, inputs, settled, shown, start, totals
from dpaudit.semantics.nodes import Inner, Leaf, played
from dpaudit.semantics.queries import Query, keeps_bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """A stated algorithm, which looks at no output: its queries and its public keys, in the order of play.

    Parameters: `queries`, for each release the answer on each data set, whose slots are 0 where the release reads none;
    `keys`, for each node at which the adversary has a choice, the label of its deal.
    """

    queries: tuple[Query, ...]
    keys: tuple[Hashable, ...] = ()


def replay(
    tree: Declaration, tables: Mapping[str, Table], pair: Pair, algorithm: Algorithm
) -> dict[View, tuple[Fraction, Fraction]]:
    """Return the probabilities of each view of a stated algorithm under both data sets of a pair.

    Raises:
        UndefinedInstanceError: the tree says nothing about this pair.
        ValueError: a query that breaks the bounds of its table, or a choice that is not stated or not possible.
    """

    def stated(worlds: Worlds, tasks: tuple[Task, ...], view: View, keys: int) -> tuple[Step, int]:
        match tasks[0]:
            case Leaf() as leaf:
                sets = tuple(sorted({visible for data, _ in worlds for visible in inputs(leaf, data)}))
                return shown(leaf, worlds, _stated(algorithm, len(view), leaf.table, sets)), keys
            case Inner() as node:
                possible = [*dealt(node, worlds)]
                return _chosen(algorithm, keys, possible), keys + (len(possible) > 1)
            case Turn():
                raise TypeError("A settled position begins with a node.")

    return _views(tree, tables, pair, stated)


def replay_at_random(
    tree: Declaration, tables: Mapping[str, Table], pair: Pair, rng: np.random.Generator, most_queries: int = 8
) -> dict[View, tuple[Fraction, Fraction]]:
    """Return the probabilities of each view of an adversary whose choices are drawn, in view of all outputs so far.

    Every second choice is among the first three, where the queries are that separate the two data sets most.
    Raises: UndefinedInstanceError: the tree says nothing about this pair, or nothing after a choice that was drawn.
    """
    game = Game(rng=rng)

    def drawn(worlds: Worlds, tasks: tuple[Task, ...], view: View, keys: int) -> tuple[Step, int]:
        steps = [*game.steps(worlds, tasks, most_queries)]
        return steps[int(rng.integers(min(len(steps), 3) if rng.random() < 0.5 else len(steps)))], keys

    return _views(tree, tables, pair, drawn)


Choice: TypeAlias = Callable[[Worlds, tuple[Task, ...], View, int], tuple[Step, int]]
"""What is done at a settled position, by the outputs and the number of keys so far; and the number after it."""


def _views(
    tree: Declaration, tables: Mapping[str, Table], pair: Pair, choice: Choice
) -> dict[View, tuple[Fraction, Fraction]]:
    """Return the probabilities of each view under both data sets, where `choice` picks each step."""
    views: dict[View, tuple[Fraction, Fraction]] = {}
    todo: list[tuple[Worlds, tuple[Task, ...], View, int, int]]
    todo = [(start(pair, 1, 1), (played(tree, tables),), (), 0, 1)]
    while todo:
        worlds, tasks, view, keys, scale = todo.pop()
        worlds, tasks = settled(worlds, tasks)
        if not tasks:
            p, q = totals(worlds)
            views[view] = Fraction(p, scale), Fraction(q, scale)
            continue
        step, keys = choice(worlds, tasks, view, keys)
        for output, after in step.shown.items():
            seen_then = view if output is None else (*view, output)
            todo.append((after, step.tasks + tasks[1:], seen_then, keys, scale * step.scale))
    return views


def _stated(algorithm: Algorithm, number: int, table: Table, sets: tuple[DataSet, ...]) -> Query:
    """Return the stated query of a release on the data sets at hand.

    Raises: ValueError: an answer is missing or is none of the table's, or two break a bound.
    """
    stated = algorithm.queries[number] if number < len(algorithm.queries) else {}
    if any(not 0 <= stated.get(data, -1) <= table.top for data in sets):
        raise ValueError(f"Expected query {number} to have an answer in 0 .. {table.top} for each of {sets}.")
    query = {data: stated[data] for data in sets}
    if not keeps_bounds(table, query):
        raise ValueError(f"Query {number} breaks the bounds {table.bounds}: {query}.")
    return query


def _chosen(algorithm: Algorithm, number: int, possible: list[Step]) -> Step:
    """Return the stated choice at a node, or the only one that there is.

    Raises: ValueError: none of the possible choices is stated.
    """
    stated = algorithm.keys[number] if number < len(algorithm.keys) else None
    candidates = possible if len(possible) == 1 else [step for step in possible if step.choice == stated]
    if len(candidates) != 1:
        raise ValueError(f"Expected key {number}, {stated}, to be one of {[step.choice for step in possible]}.")
    return candidates[0]
