"""Side-conditions of a proof: what must hold beside the arithmetic, and whether a run looked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from dpaudit.arguments import settled
from dpaudit.checks import settle
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.condition_kinds import KINDS, ConditionKind, sentence_of
from dpaudit.model.mechanism import Mechanism, is_plugged_in, with_leaves
from dpaudit.model.moves import name_of

Status = Literal["checked", "assumed", "violated"]


@settled
class Condition:
    """One side-condition; `checked` means that a run or a computation looked at it.

    `kind` and `about` (labels, keys, names of quantities) identify the condition. `text` is for readers: without
    one it is the sentence of the kind, and no program reads it.
    Raises: ValueError: an unknown kind or status, or a kind that must say what it is about and does not.

    >>> Condition(kind="clipping", about=("values",), text="All values lay in [0, 1].", status="checked").status
    'checked'
    >>> Condition(kind="own_noise_stream").text
    'Noise had a random stream of its own, shared with no published choice.'
    """

    kind: ConditionKind
    about: tuple[str, ...] = ()
    text: str = ""
    status: Status = "assumed"

    def __post_init__(self) -> None:
        settle(self)
        if not self.about and not KINDS[self.kind].general:
            raise ValueError(
                f"Expected about=(...) to name what a condition of kind={self.kind!r} is about; it is empty, and two "
                "such conditions could not be told apart."
            )
        if not self.text:
            object.__setattr__(self, "text", sentence_of(self.kind, self.about))

    @property
    def identity(self) -> tuple[ConditionKind, tuple[str, ...]]:
        """Return what tells this condition from every other: its kind and what it is about."""
        return self.kind, self.about

    def seen(self, *, holds: bool) -> "Condition":
        """Return this condition as a run saw it: checked if it held, else violated.

        >>> Condition(kind="sensitivity").seen(holds=False).status
        'violated'
        """
        return replace(self, status="checked" if holds else "violated")


def conditions_of(declaration: nodes.Declaration, neighbours: Neighbours | None = None) -> tuple[Condition, ...]:
    """Return the side-conditions that the nodes of `declaration` bring, each once, all *assumed*.

    `neighbours` is the relation of the claim; without one, what a rule needs for a single relation is left out.
    What a run has checked is merged over them by `merge`.
    """
    tree = [node for _, node in nodes.walk(declaration)]
    return tuple(
        dict.fromkeys(condition for node in tree for condition in (*_brought_by(node), *_of_a_move(node, neighbours)))
    )


def merge(*groups: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Return each condition once, by its kind and what it is about.

    It is violated if any group says so, else checked if any group says so. The words are those of the first group
    that says the resulting status.
    """
    order: tuple[Status, ...] = ("assumed", "checked", "violated")
    merged: dict[tuple[ConditionKind, tuple[str, ...]], Condition] = {}
    for condition in (condition for group in groups for condition in group):
        recorded = merged.setdefault(condition.identity, condition)
        if order.index(condition.status) > order.index(recorded.status):
            merged[condition.identity] = condition
    return tuple(merged.values())


_SAMPLE: tuple[tuple[ConditionKind, str], ...] = (("secret_sample", "scheme"),)
_KEY: tuple[tuple[ConditionKind, str], ...] = (("public_key", "key"), ("one_part", "key"))
_ORDER: tuple[tuple[ConditionKind, str], ...] = (("secret_order", "users"),)

NEEDED: Mapping[str, tuple[tuple[ConditionKind, str], ...]] = {
    "release": (("sensitivity", ""), ("fresh_noise", ""), ("floating_point", "")),
    "stated": (("stated", "source"),),
    "sequential": (("declared_times", ""),),
    "repeat": (("declared_times", ""),),
    "filtered": (("limit_fixed_first", ""), ("within_limit", "said"), ("public_refusals", ""), ("parts_in_order", "")),
    "filtered_per_record": (
        ("limit_fixed_first", ""),
        ("own_limit", "said"),
        ("own_costs", ""),
        ("parts_in_order", ""),
    ),
    "post_process": (("no_data_read", "steps"),),
    "billboard": (
        ("own_inputs_only", "reads"),
        ("independent_users", ""),
        ("whole_record", ""),
        ("one_appearance", ""),
    ),
    "group": (("contribution_bound", "size"),),
    "local": (("one_message", ""),),
    "parallel": _KEY,
    "secret parallel": _KEY,
    "cells": (("one_cell", ""),),
    **dict.fromkeys(("poisson", "without_replacement", "truncated_poisson", "with_replacement"), _SAMPLE),
    "allocate": (("secret_positions", "positions"),),
    "best_of": (("secret_count", "law"), ("independent_runs", "")),
    "shuffle": _ORDER,
    "shuffled_table": _ORDER,
}
"""What the rules of a node take for granted under every move: the kind, and the field that it is about, if any."""

MOVED: Mapping[str, tuple[ConditionKind, str, tuple[Neighbours, ...]]] = {
    "secret parallel": ("independent_keys", "", NEIGHBOURS),
    "without_replacement": ("no_identifier_read", "a sample of fixed size", NEIGHBOURS),
    "with_replacement": ("no_identifier_read", "draws with replacement", NEIGHBOURS),
    "poisson": ("zeroed_as_absent", "a Poisson sample", ("zero_out",)),
    "allocate": ("zeroed_as_absent", "secret steps", ("zero_out",)),
    "shuffled_table": ("two_values", "a shuffled table", NEIGHBOURS),
}
"""What they take for granted about moves of records that a mechanism states no sensitivity for, under some relations.

Those of Poisson samples and secret steps compare a zeroed record with none at all; counts of records and sizes of
samples tell one from the other. Those of samples of fixed size put another record in the place of one; queries that
read identifiers tell that from another value. Those of secret keys take the keys of the other records as they were.
Those of shuffled tables count the data sets of other users who hold one of two values.
"""


def _brought_by(node: nodes.Declaration) -> tuple[Condition, ...]:
    """Return what must hold for the rules of one node under every move, beside their arithmetic."""
    needed = tuple(Condition(kind=kind, about=_about(node, field)) for kind, field in NEEDED[name_of(node)])
    if isinstance(node, nodes.Release):
        return (*needed, *_of_a_stream(node.mechanism), *_of_plug_ins(node.mechanism))
    return needed


def _about(node: nodes.Declaration, field: str) -> tuple[str, ...]:
    """Return what a condition is about, which a field of its node says."""
    value = getattr(node, field) if field else ()
    return value if isinstance(value, tuple) else (str(value),)


def _of_a_move(node: nodes.Declaration, neighbours: Neighbours | None) -> tuple[Condition, ...]:
    """Return what the rule of one node takes for granted about a relation; without one, what it does about all."""
    kind, about, relations = MOVED.get(name_of(node), ("stated", "", ()))
    if relations != NEIGHBOURS and neighbours not in relations:
        return ()
    return (Condition(kind=kind, about=(about,) if about else _about(node, "key")),)


def _of_a_stream(mechanism: Mechanism) -> tuple[Condition, ...]:
    """Return what mechanisms over a stream need, which are those that state its largest length as `horizon`."""
    horizons = (getattr(part, "horizon", None) for part in with_leaves(mechanism))
    return tuple(Condition(kind="public_length", about=(str(most),)) for most in horizons if most is not None)


def _of_plug_ins(mechanism: Mechanism) -> tuple[Condition, ...]:
    """Return that the loss of a plug-in is its supplier's word, for the mechanism and for every leaf inside it."""
    plugged = (part for part in with_leaves(mechanism) if is_plugged_in(part))
    return tuple(Condition(kind="stated", about=(f"the plug-in mechanism {part.name}",)) for part in plugged)
