"""The whitelist of nests: which node may lie below which one, for each move that the outer one is read under.

A rule of accounting has premises on its part. Where a nest is not listed, they are not known to hold of it.
docs/theory/nests.md shows the table.
"""

from collections.abc import Mapping
from typing import TypeAlias

from dpaudit.model.moves import Exchange, Move, Remove, Replace, Zero

Inner: TypeAlias = Mapping[type[Move], frozenset[str]]

LEAVES = ("release", "stated")
TRANSPARENT = ("sequential", "repeat", "post_process")
"""What is transparent: what counts below it is the next node that is none of these."""

_LEAVES = " ".join(LEAVES)
_SLOTS = f"{_LEAVES} parallel cells local group poisson"  # what keeps no number of records


def _row(**inner: str) -> Inner:
    """Return what may lie below a node, by the move; `over leaves` after a name asks for leaves alone below it."""
    names: dict[str, type[Move]] = {"r": Remove, "p": Replace, "z": Zero, "e": Exchange}
    return {names[letter]: frozenset(inside.split()) for letters, inside in inner.items() for letter in letters}


ALLOWED: dict[str, Inner] = {
    "billboard": _row(
        p=f"{_LEAVES} filtered parallel group poisson/leaves without_replacement/leaves truncated_poisson/leaves "
        "with_replacement/leaves allocate/leaves"
    ),
    "group": _row(
        r=f"{_SLOTS} filtered filtered_per_record without_replacement truncated_poisson with_replacement",
        p=f"{_SLOTS} filtered without_replacement shuffle shuffled_table billboard",
        z=f"{_SLOTS} filtered without_replacement",
        e=f"{_LEAVES} cells group poisson",
    ),
    "filtered": _row(rpz=_LEAVES),
    "filtered_per_record": _row(r=_LEAVES),
    "parallel": _row(rpz=_SLOTS, e=f"{_LEAVES} local group poisson"),
    "secret parallel": _row(rpz=_LEAVES),
    "cells": _row(rp=f"{_LEAVES} cells local group poisson", e=f"{_LEAVES} cells group poisson"),
    "local": _row(rpze=f"{_LEAVES} parallel cells local group"),
    "poisson": _row(r=f"{_SLOTS} allocate", pz=_SLOTS, e=f"{_LEAVES} cells local group poisson"),
    "without_replacement": _row(rpze=f"{_LEAVES} cells group poisson without_replacement"),
    "truncated_poisson": _row(rpz=_SLOTS),
    "with_replacement": _row(rpz=_LEAVES),
    "allocate": _row(r=f"{_LEAVES} parallel", pz=_LEAVES),
    **dict.fromkeys(("shuffle", "shuffled_table"), _row(p=f"{_LEAVES} local")),
    "best_of": _row(rpz=f"{_LEAVES} poisson"),
}
"""By the outer node, or a sample's scheme, and the move: the nodes that may lie below it."""

POPULATIONS = ("without_replacement", "truncated_poisson", "with_replacement")
NUMBERLESS = ("parallel", "secret parallel", "cells", "local", "poisson", "truncated_poisson", "allocate")
UNKNOWN = (
    "A sample with a population is given just so many records, and '{outer}' passes on a number that nobody knows."
)
WHY = {
    "parallel": "The record that takes another one's place may touch another part: put the sample inside each part.",
    "local": "Where one record takes the place of another, two messages change: draw the users by 'poisson'.",
    "billboard": "A billboard stands at the root, or below a sequence or a group: put it on top.",
    **dict.fromkeys(("shuffle", "shuffled_table"), "A shuffle holds the reports of all users: put it on top."),
    "best_of": "The best of many runs stands at the root, or below a sequence: put '{outer}' inside each run.",
    "allocate": "Secret steps are drawn for all records at once: put '{outer}' inside the steps, or leave it out.",
}
NOT_PROVED = "No premise of it is proved: declare the parts apart, or state the part's (epsilon, delta) as 'stated'."
UNDER = {
    "billboard": "The billboard lemma is about a person's data that are replaced: claim 'replace_one'.",
    "filtered_per_record": "The record that takes another one's place pays from a budget of its own, so that both are "
    "spent: claim 'add_remove'.",
    "cells": "A zero may fill a cell: claim 'replace_one' or 'add_remove'.",
    **dict.fromkeys(("shuffle", "shuffled_table"), "The number of users is public: claim 'replace_one'."),
}
