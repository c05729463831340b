"""Which rows of the whitelist of nests a tree rests on."""

from collections.abc import Iterator

from dpaudit.accounting.derivation.table import rule_of
from dpaudit.accounting.derivation.whitelist import ALLOWED, LEAVES, TRANSPARENT
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Shuffle, children, walk
from dpaudit.model.moves import MOVES, Move, name_of, reads_of
from dpaudit.semantics.seeds import TABLES
from tests.semantics.certified import as_table, stated_for

Row = tuple[str, str, str]
"""The outer node, the inner node and the move that the outer one is read under."""


def rows_of(tree: Declaration, relation: Neighbours) -> Iterator[Row]:
    """Yield the rows that a tree rests on, each leaf being a release and a stated one.

    Shuffled leaves are read as tables, too.
    """
    trees = [tree]
    if relation == "replace_one" and any(isinstance(node, Shuffle) for _, node in walk(tree)):
        trees.append(stated_for(tree, TABLES, relation, as_table))
    todo = [(node, MOVES[relation]) for read in trees for node in _seen(read)]
    while todo:
        node, move = todo.pop()
        outer = name_of(node)
        for part, inside in parts_of(node, move) if outer not in LEAVES else ():
            for inner in _seen(part):
                name = name_of(inner)
                yield from ((outer, one, move.name) for one in (LEAVES if name in LEAVES else (name,)))
                todo.append((inner, inside))


def rules_of(tree: Declaration, relation: Neighbours) -> Iterator[str]:
    """Yield the names of the rules that a tree rests on."""
    todo = [(tree, MOVES[relation])]
    while todo:
        node, move = todo.pop()
        yield rule_of(name_of(node), move).name
        todo += parts_of(node, move)


def whitelist() -> set[Row]:
    """Return all rows of the whitelist whose inner node has a rule under each move that it is read under."""
    found = (
        (outer, inner.removesuffix("/leaves"), move)
        for outer, moves in ALLOWED.items()
        for move, row in moves.items()
        for inner in row
    )
    return {
        (outer, inner, move.name)
        for outer, inner, move in found
        if inner in LEAVES or {read for _, read in reads_of(outer, move)} <= {*ALLOWED[inner]}
    }


def parts_of(node: Declaration, move: type[Move]) -> Iterator[tuple[Declaration, type[Move]]]:
    """Yield each part and each move that it is read under."""
    for at, read in reads_of(name_of(node), move):
        yield from ((part, read) for i, part in enumerate(children(node)) if at in (None, i))


def _seen(node: Declaration) -> Iterator[Declaration]:
    """Yield the nodes at the top of a tree that are not transparent."""
    if name_of(node) in TRANSPARENT:
        for part in children(node):
            yield from _seen(part)
    else:
        yield node
