"""The kinds of nodes of a declaration, by the name each has in JSON."""

from typing import Any, Literal

from dpaudit.model.declaration import (
    Allocate,
    BestOf,
    Billboard,
    Cells,
    Filtered,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Shuffle,
    Stated,
    Subsample,
)

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
    "release": Release,
    "sequential": Sequential,
    "repeat": Repeat,
    "filtered": Filtered,
    "parallel": Parallel,
    "cells": Cells,
    "group": Group,
    "subsample": Subsample,
    "shuffle": Shuffle,
    "allocate": Allocate,
    "best_of": BestOf,
    "post_process": PostProcess,
    "billboard": Billboard,
    "local": Local,
    "stated": Stated,
}
"""Each kind's class; words for readers stand in `dpaudit.wording`, keyed by the kind."""

NODE_KINDS: dict[type[Any], NodeKind] = {node: kind for kind, node in NODES.items()}
"""Each class's kind."""


def kind_of(node: Any) -> NodeKind:
    """Return the kind of a node.

    >>> kind_of(Stated(epsilon=1.0, source="a vendor"))
    'stated'
    """
    return NODE_KINDS[type(node)]
