"""The whitelist of nests: which node may lie below which one, for each move that the outer one is read under.

A rule of accounting has premises on its part. Where a nest is not listed, they are not known to hold of it.
docs/theory/nests.md shows the table.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from dpaudit.model.claim import Neighbours

Move: TypeAlias = Literal["remove", "replace", "zero", "exchange"]
"""What differs: a record is there or not; has another value; is a placeholder; or is another record altogether."""

Inner: TypeAlias = Mapping[Move, frozenset[str]]

MOVES: dict[Neighbours, Move] = {"add_remove": "remove", "replace_one": "replace", "zero_out": "zero"}
"""The move of the whole, by the claim's neighbours."""

LEAVES = "release stated"
_SLOTS = f"{LEAVES} parallel cells local group poisson"  # what keeps no number of records


def _row(**inner: str) -> Inner:
    """Return what may lie below a node, by the move; `over leaves` after a name asks for leaves alone below it."""
    names: dict[str, Move] = {"r": "remove", "p": "replace", "z": "zero", "e": "exchange"}
    return {names[letter]: frozenset(held.split()) for letters, held in inner.items() for letter in letters}


ALLOWED: dict[str, Inner] = {
    "billboard": _row(
        p=f"{LEAVES} parallel group poisson/leaves without_replacement/leaves truncated_poisson/leaves "
        "with_replacement/leaves allocate/leaves"
    ),
    "group": _row(
        r=f"{_SLOTS} without_replacement truncated_poisson with_replacement",
        p=f"{_SLOTS} without_replacement shuffle billboard",
        z=f"{_SLOTS} without_replacement",
        e=f"{LEAVES} cells group poisson",
    ),
    "parallel": _row(rpz=_SLOTS, e=f"{LEAVES} local group poisson"),
    "secret parallel": _row(rpz=LEAVES),
    "cells": _row(rp=f"{LEAVES} cells local group poisson", e=f"{LEAVES} cells group poisson"),
    "local": _row(rpze=f"{LEAVES} parallel cells local group"),
    "poisson": _row(r=f"{_SLOTS} allocate", pz=_SLOTS, e=f"{LEAVES} cells local group poisson"),
    "without_replacement": _row(rpze=f"{LEAVES} cells group poisson without_replacement"),
    "truncated_poisson": _row(rpz=_SLOTS),
    "with_replacement": _row(rpz=LEAVES),
    "allocate": _row(r=f"{LEAVES} parallel", pz=LEAVES),
    "shuffle": _row(p=f"{LEAVES} local"),
}
"""By the outer node, or a sample's scheme, and the move: the nodes that may lie below it."""

INSIDE: dict[str, Mapping[Move, tuple[Move, ...]]] = {
    "parallel": {"exchange": ("exchange", "remove")},
    "local": {"exchange": ("remove",)},
    "poisson": {"replace": ("remove",), "exchange": ("remove", "exchange")},
    "without_replacement": {"remove": ("exchange",), "replace": ("replace", "exchange"), "zero": ("zero", "exchange")},
    "truncated_poisson": {"remove": ("remove", "exchange")},
    "with_replacement": {"replace": ("exchange",)},
    "allocate": {"replace": ("remove",)},
}
"""The moves that a part is read under, where they are not that of the whole."""

POPULATIONS = ("without_replacement", "truncated_poisson", "with_replacement")
NUMBERLESS = ("parallel", "secret parallel", "cells", "local", "poisson", "truncated_poisson", "allocate")
UNKNOWN = (
    "A sample with a population is given just so many records, and '{outer}' passes on a number that nobody knows."
)
WHY = {
    "parallel": "The record that takes another one's place may touch another part: put the sample inside each part.",
    "local": "Where one record takes the place of another, two messages change: draw the users by 'poisson'.",
    "billboard": "A billboard stands at the root, or below a sequence or a group: put it on top.",
    "shuffle": "A shuffle holds the reports of all users: put it on top.",
    "allocate": "Secret steps are drawn for all records at once: put '{outer}' inside the steps, or leave it out.",
}
NOT_PROVED = "No premise of it is proved: declare the parts apart, or state the part's (epsilon, delta) as 'stated'."
UNDER = {
    "billboard": "The billboard lemma is about a person's data that are replaced: claim 'replace_one'.",
    "cells": "A zero may fill a cell: claim 'replace_one' or 'add_remove'.",
    "shuffle": "The number of users is public: claim 'replace_one'.",
}
