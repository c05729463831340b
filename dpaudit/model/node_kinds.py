"""The kinds of nodes of a declaration, by the name each has in JSON."""

from typing import Any, Literal, get_args

from dpaudit.model.declaration import Declaration

NodeKind = Literal[
    "release",
    "sequential",
    "repeat",
    "filtered",
    "parallel",
    "cells",
    "group",
    "subsample",
    "shuffle",
    "allocate",
    "best_of",
    "post_process",
    "billboard",
    "local",
    "stated",
]

NODES: dict[NodeKind, type[Any]] = {
    name: node
    for name in get_args(NodeKind)
    for node in get_args(Declaration)
    if node.__name__.lower() == name.replace("_", "")
}
"""Each kind's class; words for readers stand in `dpaudit.wording`, keyed by the kind."""

NODE_KINDS: dict[type[Any], NodeKind] = {node: kind for kind, node in NODES.items()}
"""Each class's kind."""


def kind_of(node: Any) -> NodeKind:
    """Return the kind of a node.

    >>> from dpaudit import Stated
    >>> kind_of(Stated(epsilon=1.0, source="a vendor"))
    'stated'
    """
    return NODE_KINDS[type(node)]
