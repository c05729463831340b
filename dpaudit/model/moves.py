"""Moves: what happens to the records of one person, and the moves of its parts that the rule of a node reads.

docs/theory/meaning.md defines them. Each move stands for its reverse as well. The move `drop` of a placeholder has no
type: no rule reads it, as `zeroed_as_absent` is the condition that it moves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Filtered, Parallel, Release, Shuffle, Subsample, walk
from dpaudit.model.node_kinds import kind_of


@dataclass(frozen=True, slots=True)
class Move:
    """A move that so many `records` of one person make together.

    >>> Remove(2) == Remove(2), Remove(2) == Zero(2)
    (True, False)
    """

    records: int = 1
    name: ClassVar[str]
    relation: ClassVar[Neighbours]
    """The relation under which a mechanism states the sensitivity that bounds this move."""


class Remove(Move):
    """A record's slot goes."""

    __slots__ = ()
    name, relation = "remove", "add_remove"


class Zero(Move):
    """A record's value becomes the placeholder; its slot and its keys stay."""

    __slots__ = ()
    name, relation = "zero", "zero_out"


class Replace(Move):
    """A record's value becomes another one; its slot and its keys stay."""

    __slots__ = ()
    name, relation = "replace", "replace_one"


class Exchange(Move):
    """A record's slot goes, and another slot with another value comes.

    Queries that read values alone move no further than under `Replace`: the condition `no_identifier_read`.
    """

    __slots__ = ()
    name, relation = "exchange", "replace_one"


MOVES: dict[Neighbours, type[Move]] = {"add_remove": Remove, "replace_one": Replace, "zero_out": Zero}
"""The move of the whole, by the claim's neighbours."""

Reads: TypeAlias = tuple[tuple[int | None, type[Move]], ...]
"""Premises: a part by its place, or every part (None), and the move that it is read under."""


def _each(*moves: type[Move]) -> Reads:
    """Return these moves of every part."""
    return tuple((None, move) for move in moves)


READS: Mapping[str, Mapping[type[Move], Reads]] = {
    "parallel": {Exchange: _each(Exchange, Remove)},
    "local": {Exchange: _each(Remove)},
    "cells": {
        Remove: ((1, Remove),),
        Replace: ((1, Remove), (0, Replace)),
        Exchange: ((1, Remove), (0, Exchange)),
    },
    "poisson": {
        Remove: _each(Remove),
        Zero: _each(Zero),
        Replace: _each(Remove),
        Exchange: _each(Remove, Exchange),
    },
    "without_replacement": {
        Remove: _each(Exchange),
        Zero: _each(Zero, Exchange),
        Replace: _each(Replace, Exchange),
        Exchange: _each(Exchange),
    },
    "truncated_poisson": {Remove: _each(Remove, Exchange)},
    "with_replacement": {Replace: _each(Exchange)},
    "allocate": {Remove: _each(Remove), Zero: _each(Zero), Replace: _each(Remove)},
}
"""Premises by the node, or a sample's scheme, and its move, where they are not the move itself of every part.

The parts are stated for the first move; further ones follow from its bounds by chains, and need a rule all the same.
"""

_AMPLIFYING = ("poisson", "without_replacement", "truncated_poisson", "with_replacement", "allocate")


def name_of(node: Declaration) -> str:
    """Return the name of a node in tables of rules: its kind, the scheme of a sample, or what a premise hangs on.

    >>> from dpaudit.model.declaration import Stated
    >>> name_of(Subsample(part=Stated(epsilon=1.0, source="a supplier"), rate=0.1))
    'poisson'
    """
    if isinstance(node, Subsample):
        return node.scheme
    if isinstance(node, Shuffle) and any(_is_table(part) for _, part in walk(node.part)):
        return "shuffled_table"
    if isinstance(node, Filtered) and node.per == "record":
        return "filtered_per_record"
    secret = isinstance(node, Parallel) and node.visibility == "secret"
    return "secret parallel" if secret else kind_of(node)


def _is_table(node: Declaration) -> bool:
    """Return whether a node is a release of a table, which knows the laws of two values and not whether more exist."""
    return isinstance(node, Release) and node.mechanism.name == "finite"


def reads_of(name: str, move: type[Move]) -> Reads:
    """Return the premises of a node's rule.

    >>> reads_of("poisson", Replace) == ((None, Remove),)
    True
    """
    return READS.get(name, {}).get(move, ((None, move),))


def proved_relations(name: str) -> tuple[Neighbours, ...]:
    """Return the relations of claims that a rule is proved for, of a sample's scheme or of secret steps.

    >>> proved_relations("truncated_poisson")
    ('add_remove',)
    """
    return tuple(relation for relation, move in MOVES.items() if name not in _AMPLIFYING or move in READS[name])


def relation_read(name: str, number: int, neighbours: Neighbours) -> Neighbours:
    """Return the relation that part number `number` of a node is stated for, or the node's own where nothing is proved.

    >>> relation_read("poisson", 0, "replace_one"), relation_read("with_replacement", 0, "zero_out")
    ('add_remove', 'zero_out')
    """
    reads = (move for at, move in reads_of(name, MOVES[neighbours]) if at in (None, number))
    return next(reads, MOVES[neighbours]).relation


def relation_below(node: Declaration, number: int, neighbours: Neighbours) -> Neighbours:
    """Return the same for a node.

    >>> from dpaudit.model.declaration import Stated
    >>> relation_below(Subsample(part=Stated(epsilon=0.5, source="a supplier"), rate=0.1), 0, "replace_one")
    'add_remove'
    """
    return relation_read(name_of(node), number, neighbours)
