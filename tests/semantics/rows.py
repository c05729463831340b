"""Which rows of the whitelist of nests a tree rests on."""

from collections.abc import Iterator

from dpaudit.accounting.nests.rules import _parts, _seen, name_of
from dpaudit.accounting.nests.table import ALLOWED, INSIDE, LEAVES, MOVES, Move
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Release, Stated

Row = tuple[str, str, Move]
"""The outer node, the inner node and the move that the outer one is read under."""


def rows_of(tree: Declaration, relation: Neighbours) -> Iterator[Row]:
    """Yield the rows that a tree rests on, each leaf being a release and a stated one."""
    todo = [(node, MOVES[relation]) for node in _seen(tree)]
    while todo:
        node, move = todo.pop()
        if isinstance(node, Release | Stated):
            continue
        outer = name_of(node)
        for part, inside in _parts(node, outer, move):
            for inner in _seen(part):
                leaf = isinstance(inner, Release | Stated)
                yield from ((outer, name, move) for name in (("release", "stated") if leaf else (name_of(inner),)))
                todo.append((inner, inside))


def whitelist() -> set[Row]:
    """Return all rows of the whitelist whose inner node has a rule under each move that it is read under."""
    found = (
        (outer, inner.removesuffix("/leaves"), move)
        for outer, moves in ALLOWED.items()
        for move, row in moves.items()
        for inner in row
    )
    return {row for row in found if row[1] in LEAVES.split() or {*_inside(row[0], row[2])} <= {*ALLOWED[row[1]]}}


def _inside(outer: str, move: Move) -> tuple[Move, ...]:
    """Return the moves that a part is read under."""
    return ("remove", move) if outer == "cells" else INSIDE.get(outer, {}).get(move, (move,))
