"""Side-conditions of a proof: what must hold beside the arithmetic, and whether a run looked."""

from dataclasses import replace
from typing import Literal, assert_never

from dpaudit.arguments import settled
from dpaudit.checks import settle
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Neighbours
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


def _general(*kinds: ConditionKind) -> tuple[Condition, ...]:
    """Return conditions that need not say what they are about."""
    return tuple(Condition(kind=kind) for kind in kinds)


_OF_A_RELEASE = _general("sensitivity", "fresh_noise", "floating_point")


_OF_A_NODE: dict[type, ConditionKind] = {
    nodes.Sequential: "declared_times",
    nodes.Repeat: "declared_times",
    nodes.Cells: "one_cell",
    nodes.Local: "one_message",
}
"""What a node brings whatever its fields are."""


def _brought_by(node: nodes.Declaration) -> tuple[Condition, ...]:
    """Return what must hold for the rule of one node, beside its arithmetic."""
    match node:
        case nodes.Release(mechanism=mechanism):
            return (*_OF_A_RELEASE, *_of_a_stream(mechanism), *_of_plug_ins(mechanism))
        case nodes.Sequential() | nodes.Repeat() | nodes.Cells() | nodes.Local():
            return (Condition(kind=_OF_A_NODE[type(node)]),)
        case nodes.Filtered(budget=(measure, limit), per=per):
            of_records = per == "record"
            within = Condition(
                kind="own_limit" if of_records else "within_limit",
                about=(f"{'the square of ' * (measure == 'mu')}{measure} {limit}",),
            )
            settled = _general("own_costs" if of_records else "public_refusals", "parts_in_order")
            return (*_general("limit_fixed_first"), within, *settled)
        case nodes.Parallel(key=key):
            return (Condition(kind="public_key", about=(key,)), Condition(kind="one_part", about=(key,)))
        case nodes.Group(size=size):
            return (Condition(kind="contribution_bound", about=(str(size),)),)
        case nodes.Subsample() | nodes.Allocate() | nodes.Shuffle():
            return (_secret(node),)
        case nodes.BestOf(law=law):
            return (Condition(kind="secret_count", about=(law,)), Condition(kind="independent_runs"))
        case nodes.PostProcess(steps=steps):
            return (Condition(kind="no_data_read", about=steps),)
        case nodes.Billboard(reads=reads):
            own = Condition(kind="own_inputs_only", about=reads)
            return (own, *_general("independent_users", "whole_record", "one_appearance"))
        case nodes.Stated(source=source):
            return (Condition(kind="stated", about=(source,)),)
        case _:
            assert_never(node)


def _secret(node: nodes.Subsample | nodes.Allocate | nodes.Shuffle) -> Condition:
    """Return what must stay secret for an amplification."""
    match node:
        case nodes.Subsample(scheme=scheme):
            return Condition(kind="secret_sample", about=(scheme,))
        case nodes.Allocate(positions=positions):
            return Condition(kind="secret_positions", about=(positions,))
        case nodes.Shuffle(users=users):
            return Condition(kind="secret_order", about=(str(users),))
        case _:
            assert_never(node)


def _of_a_move(node: nodes.Declaration, neighbours: Neighbours | None) -> tuple[Condition, ...]:
    """Return what rules take for granted about moves of records that a mechanism states no sensitivity for.

    Those of Poisson samples and secret steps compare a zeroed record with none at all; counts of records and sizes of
    samples tell one from the other. Those of samples of fixed size put another record in the place of one; queries that
    read identifiers tell that from another value. Those of secret keys take the keys of the other records as they were.
    Those of shuffled tables count the data sets of other users who hold one of two values.
    """
    match node:
        case nodes.Subsample(scheme="without_replacement"):
            return (Condition(kind="no_identifier_read", about=("a sample of fixed size",)),)
        case nodes.Subsample(scheme="with_replacement"):
            return (Condition(kind="no_identifier_read", about=("draws with replacement",)),)
        case nodes.Parallel(visibility="secret", key=key):
            return (Condition(kind="independent_keys", about=(key,)),)
        case nodes.Shuffle() if name_of(node) == "shuffled_table":
            return (Condition(kind="two_values", about=("a shuffled table",)),)
        case nodes.Subsample(scheme="poisson") if neighbours == "zero_out":
            return (Condition(kind="zeroed_as_absent", about=("a Poisson sample",)),)
        case nodes.Allocate() if neighbours == "zero_out":
            return (Condition(kind="zeroed_as_absent", about=("secret steps",)),)
        case _:
            return ()


def _of_a_stream(mechanism: Mechanism) -> tuple[Condition, ...]:
    """Return what mechanisms over a stream need, which are those that state its largest length as `horizon`."""
    horizons = (getattr(part, "horizon", None) for part in with_leaves(mechanism))
    return tuple(Condition(kind="public_length", about=(str(most),)) for most in horizons if most is not None)


def _of_plug_ins(mechanism: Mechanism) -> tuple[Condition, ...]:
    """Return that the loss of a plug-in is its supplier's word, for the mechanism and for every leaf inside it."""
    plugged = (part for part in with_leaves(mechanism) if is_plugged_in(part))
    return tuple(Condition(kind="stated", about=(f"the plug-in mechanism {part.name}",)) for part in plugged)
