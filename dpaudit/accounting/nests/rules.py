"""Refuses, by name, a tree that holds a nest for which no rule is proved.

Nodes in sequence, repeats and post-processing are transparent: what counts below a node is the next one that is none of
these.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.accounting.nests.table import (
    ALLOWED,
    INSIDE,
    LEAVES,
    MOVES,
    NOT_PROVED,
    NUMBERLESS,
    POPULATIONS,
    UNDER,
    UNKNOWN,
    WHY,
    Move,
)
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import (
    Billboard,
    Cells,
    Declaration,
    Group,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
    children,
)
from dpaudit.model.node_kinds import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A node under a move: whether only leaves may lie below it, and how many records of a person move."""

    node: Declaration
    move: Move
    leaves: bool = False
    records: int = 1


def name_of(node: Declaration) -> str:
    """Return the name of a node in the table: its kind, or the scheme of a sample.

    >>> name_of(Subsample(part=Stated(epsilon=1.0, source="a supplier"), rate=0.1))
    'poisson'
    """
    if isinstance(node, Subsample):
        return node.scheme
    secret = isinstance(node, Parallel) and node.visibility == "secret"
    return "secret parallel" if secret else kind_of(node)


def require_rules(node: Declaration, neighbours: Neighbours) -> None:
    """Refuse a tree that holds a nest for which no rule is proved, before anything of it is folded.

    Raises: UnsupportedError: the first such nest, with both nodes, the move, and what would be needed.

    >>> from dpaudit.model.declaration import Allocate
    >>> steps = Allocate(part=Stated(epsilon=0.5, source="a supplier"), steps=10)
    >>> require_rules(steps, "add_remove")
    >>> require_rules(Group(part=steps, size=2), "add_remove")
    Traceback (most recent call last):
    dpaudit.errors.UnsupportedError: 'group' over 'allocate' under remove: no rule. ...
    """
    for held in _seen(node):
        _require(_Place(node=held, move=MOVES[neighbours]))


def _seen(node: Declaration) -> Iterator[Declaration]:
    """Yield the nodes at the top of a tree that are not transparent."""
    if isinstance(node, Sequential | Repeat | PostProcess):
        for part in children(node):
            yield from _seen(part)
    else:
        yield node


def _require(place: _Place) -> None:
    """Refuse what lies below one node, and its own numbers, under one move."""
    outer, node = name_of(place.node), place.node
    if isinstance(node, Subsample):
        _require_sizes(node, place)
    if isinstance(node, Release | Stated):
        return
    rows = ALLOWED[outer]
    if place.move not in rows:
        raise UnsupportedError(f"'{outer}' under {place.move}: no rule. {UNDER.get(outer, NOT_PROVED)}")
    records = place.records * node.size if isinstance(node, Group) else place.records
    records = records if isinstance(node, Group | Billboard) else 1
    for part, move in _parts(node, outer, place.move):
        for inner in _seen(part):
            leaves = _listed(outer, inner, place, rows[place.move])
            if isinstance(node, Billboard) and records > 1:  # transparent to the records of a person
                _listed("group", inner, place, ALLOWED["group"][place.move])
            _require_population(node, inner, place.move)
            _require(_Place(node=inner, move=move, leaves=leaves, records=records))


def _parts(node: Declaration, outer: str, move: Move) -> Iterator[tuple[Declaration, Move]]:
    """Yield each part and each move that it is read under."""
    if isinstance(node, Cells):
        yield node.touched, "remove"
        if move != "remove":
            yield node.inside, move
        return
    for part in children(node):
        for inside in INSIDE.get(outer, {}).get(move, (move,)):
            yield part, inside


def _listed(outer: str, inner: Declaration, place: _Place, row: frozenset[str]) -> bool:
    """Return whether `inner` is listed with leaves alone below it; refuse it where it is not listed at all."""
    name = name_of(inner)
    if f"{name}/leaves" in row:
        return True
    if name in row and (not place.leaves or name in LEAVES.split()):
        return False
    why = UNKNOWN if name in POPULATIONS and outer in NUMBERLESS else WHY.get(name, NOT_PROVED)
    raise _refused(outer, name, place.move, why.format(outer=outer))


def _refused(outer: str, inner: str, move: Move, why: str) -> UnsupportedError:
    """Return the refusal of a nest."""
    return UnsupportedError(f"'{outer}' over '{inner}' under {move}: no rule. {why}")


def _require_population(outer: Declaration, inner: Declaration, move: Move) -> None:
    """Refuse a sample of a sample whose population is not the number of records that the outer one passes on."""
    if isinstance(outer, Subsample) and isinstance(inner, Subsample) and inner.scheme in POPULATIONS:
        passed, said = outer.batch_size, inner.population
        if passed is None or passed != said:
            why = f"The outer one has batch_size={passed}, the inner one population={said}: give both the same number."
            raise _refused(outer.scheme, inner.scheme, move, why)


def _require_sizes(node: Subsample, place: _Place) -> None:
    """Refuse a removal of more records than a set of fixed size leaves over, or from one of unknown size."""
    if node.scheme != "without_replacement" or place.move != "remove":
        return
    if node.population is None or node.batch_size is None:
        raise UnsupportedError(
            "'without_replacement' under remove: no rule for a rate alone. Another record takes the removed one's "
            "place if there is one: give population and batch_size."
        )
    if node.batch_size > node.population - place.records:
        raise UnsupportedError(
            f"'without_replacement' under remove: no rule for batch_size={node.batch_size} of "
            f"population={node.population} where {place.records} of its records are removed, so that no set of this "
            "size is left. Take smaller batches, or claim 'replace_one'."
        )


def removals_change_sizes(node: Declaration, neighbours: Neighbours) -> bool:
    """Return whether records that are removed one after another meet samples of other sizes, as the population falls.

    >>> removals_change_sizes(Subsample(part=Stated(epsilon=1.0, source="a supplier"), rate=0.1), "add_remove")
    False
    """
    sampled = (held for held in _seen(node) if neighbours == "add_remove")
    return any(_sized(held) for held in sampled)


def _sized(node: Declaration) -> bool:
    """Return whether a node is a sample with a population, or passes its records to one."""
    if isinstance(node, Group | Billboard):
        return any(map(_sized, _seen(node.part)))
    return isinstance(node, Subsample) and node.scheme in POPULATIONS
