"""The closed set of kinds of side-conditions, and the sentence of each in the words of this schema version.

Programs go by kind; the sentences are for readers, and rewording all of them changes no verdict.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from dpaudit.runtime.tables import table_of

_WORDS = table_of("dpaudit.model", "condition_kinds.toml")

ConditionKind = Literal[
    # What the nodes of a declaration bring.
    "sensitivity",
    "fresh_noise",
    "floating_point",
    "attained",
    "declared_times",
    "public_length",
    "public_key",
    "one_part",
    "one_cell",
    "contribution_bound",
    "secret_sample",
    "secret_order",
    "two_values",
    "secret_positions",
    "secret_count",
    "independent_runs",
    "zeroed_as_absent",
    "no_identifier_read",
    "independent_keys",
    "no_data_read",
    "own_inputs_only",
    "independent_users",
    "whole_record",
    "one_appearance",
    "one_message",
    "stated",
    # What a run looks at.
    "clipping",
    "one_contribution",
    "public_schedule",
    "distinct_noise",
    "own_noise_stream",
    "whole_domain",
    "independent_design",
    "printed_premise",
    "training_loop",
    "implementation",
    # What a filter needs.
    "limit_fixed_first",
    "within_limit",
    "own_limit",
    "own_costs",
    "public_refusals",
    "parts_in_order",
    "nothing_outside",
    # What is told apart by `about` alone.
    "other",
]
"""What a side-condition says. Together with what it is about, the kind identifies a condition."""

ShownBy = Literal["run", "computation", "person"]
"""What can show a condition; see the table beside this file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWords:
    """What is said of a kind of conditions; the table beside this file explains the fields."""

    sentence: str
    general: bool = False
    unnamed: str = ""
    shown_by: ShownBy = "run"


KINDS: dict[ConditionKind, KindWords] = {kind: KindWords(**_WORDS[kind]) for kind in get_args(ConditionKind)}
"""Every kind with its words."""


def sentence_of(kind: ConditionKind, about: tuple[str, ...]) -> str:
    """Return the sentence of `kind` for what it is `about`.

    >>> sentence_of("public_key", ("the arrival time",))
    "Which part a record touches is decided by the arrival time, never by the record's value."
    """
    return KINDS[kind].sentence.format(listed=", ".join(about) or KINDS[kind].unnamed)
