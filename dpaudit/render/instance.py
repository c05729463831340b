"""The game of a tiny instance of a node, in plain words: data sets, choices, what is hidden and seen, and the value."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from dpaudit.documents.document import Document, Paragraph, document, items, under
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Cells, Declaration, Filtered, Group, Parallel
from dpaudit.runtime.tables import table_of
from dpaudit.semantics import MOVE_OF, PLACEHOLDER, REVERSE, DataSet, Move, Pair, UndefinedInstanceError, pairs
from dpaudit.semantics.game import Game, Step, Task, Worlds, settled, start, totals
from dpaudit.semantics.nodes import Inner, Leaf, played
from dpaudit.semantics.seeds import TABLES, seeds

INSTANCES: dict[str, str] = table_of("dpaudit.render", "instances.toml")
"""The seed that is the instance of each node, or of each scheme of a sample."""

_PICKS: dict[type[Declaration], str] = {
    Filtered: "whom it asks, by the value, and for which part, by its number",
    Parallel: "who enters the first part (0) or a later one (1), by slots",
    Cells: "the cell of each value",
    Group: "the number of records of each slot",
}
_QUERIES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    """The game of one pair: the relation and the direction, the value at an epsilon, and what happens, line by line."""

    relation: Neighbours
    move: Move
    value: float
    lines: tuple[str, ...]


def instance_document(name: str, epsilon: float) -> Document:
    """Return the games of a node's instance."""
    games = _games(name, epsilon)
    return document(
        under(f"A tiny instance of {name}: {INSTANCES[name]}", Paragraph(_tables(name))),
        *(under(f"{game.relation} ({game.move})", items(game.lines)) for game in games),
    )


def instance_data(name: str, epsilon: float) -> dict[str, Any]:
    """Return the games of a node's instance as plain data: of each relation the direction with the largest value.

    Raises: KeyError: a name that has no instance.
    """
    games = [asdict(game) for game in _games(name, epsilon)]
    return {"node": name, "instance": INSTANCES[name], "epsilon": epsilon, "games": games}


def _tables(name: str) -> str:
    """Return in words what the releases of an instance show."""
    table = TABLES["geometric" if "geometric" in INSTANCES[name] else "two" if name == "shuffle" else "sharp"]
    shows = (
        f"answer {answer} shows " + ", ".join(f"{output} with probability {p}" for output, p in enumerate(law) if p)
        for answer, law in enumerate(table.laws)
    )
    return f"Each release answers a query with noise: {'; '.join(shows)}. One record changes an answer by at most 1."


def _games(name: str, epsilon: float) -> list[_Played]:
    """Return the game of each relation of which the instance says something."""
    tree, x = seeds()[INSTANCES[name]], Fraction(math.exp(epsilon))
    return [game for relation in MOVE_OF if (game := _largest(tree, relation, x))]


def _largest(tree: Declaration, relation: Neighbours, x: Fraction) -> _Played | None:
    """Return the game of the direction and the pair with the largest value, the smallest one of equal pairs."""
    games: list[tuple[Fraction, Move, Pair]] = []
    for move in dict.fromkeys((MOVE_OF[relation], REVERSE[MOVE_OF[relation]])):
        for pair in pairs(move):
            try:
                games.append((Game().value(*_position(tree, pair, x)) / x.denominator, move, pair))
            except UndefinedInstanceError:
                continue
    if not games:
        return None
    reached, move, pair = max(games, key=lambda game: game[0])
    lines = [
        f"P: the data set is {_set(pair[0])}. Q: the data set is {_set(pair[1])}.",
        *_told(Game(), *_position(tree, pair, x), x=x, scale=Fraction(1), view=()),
        f"Value at epsilon {math.log(x):.6g}: P(S) - e^epsilon Q(S) = {float(reached):.6g} for the marked S.",
    ]
    return _Played(relation=relation, move=move, value=float(reached), lines=tuple(lines))


def _position(tree: Declaration, pair: Pair, x: Fraction) -> tuple[Worlds, tuple[Task, ...], int]:
    """Return the first position of the game."""
    return start(pair, x.denominator, x.numerator), (played(tree, TABLES),), _QUERIES


def _told(
    game: Game,
    worlds: Worlds,
    tasks: tuple[Task, ...],
    budget: int,
    *,
    x: Fraction,
    scale: Fraction,
    view: tuple[Any, ...],
) -> Iterator[str]:
    """Yield what happens from a position on where the adversary plays as well as it can.

    The weights of worlds are probabilities times `scale`, those under Q also times x, and times the denominator of x.
    """
    worlds, tasks = settled(worlds, tasks)
    p, q = totals(worlds)
    if not tasks or not p or not q:
        chances = float(p / scale / x.denominator), float(q / scale / x.numerator)
        yield f"View {view}: probability {chances[0]:.6g} under P, {chances[1]:.6g} under Q{', in S' if p > q else ''}."
        return
    step = game.best(worlds, tasks, budget)[1]
    yield from _choice(tasks[0], step, worlds, view)
    for output, after in step.shown.items():
        then = (*view, *output) if isinstance(output, tuple) else view
        tasks_left = step.tasks + tasks[1:]
        yield from _told(game, after, tasks_left, step.budget, x=x, scale=scale * step.scale, view=then)


def _choice(task: Task, step: Step, worlds: Worlds, view: tuple[Any, ...]) -> Iterator[str]:
    """Yield what is hidden and what the adversary picks at a task."""
    seen = f"After {view}: " if view else ""
    if isinstance(task, Inner) and isinstance(step.choice, tuple):
        listed = ", ".join(f"{what}: {choice}" for what, choice in step.choice)
        yield f"{seen}the adversary picks, in public, {_PICKS[type(task.says)]}: {listed}."
    if isinstance(task, Leaf) and isinstance(step.choice, dict):
        total = totals(worlds)
        given = ", ".join(
            f"{_set(data)} ({p / total[0]:.3g} under P, {q / total[1]:.3g} under Q)" for data, p, q in _visible(worlds)
        )
        query = ", ".join(f"{answer} on {_set(data)}" for data, answer in step.choice.items())
        yield f"{seen}hidden: the release is given {given}."
        yield f"{seen}the adversary asks the query {query}."


def _visible(worlds: Worlds) -> Iterator[tuple[DataSet, int, int]]:
    """Yield each data set that a release may be given, with its weights."""
    for data in sorted({data for data, _ in worlds}):
        both = [weights for (world_data, _), weights in worlds.items() if world_data == data]
        yield data, sum(p for p, _ in both), sum(q for _, q in both)


def _set(data: DataSet) -> str:
    """Return a data set in words: its values in order of their slots, a dash for the placeholder."""
    return "{" + ", ".join("-" if value == PLACEHOLDER else str(value) for _, value in data) + "}"
