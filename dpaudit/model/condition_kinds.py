"""The closed set of kinds of side-conditions, and the sentence of each in the words of this schema version.

Programs go by kind; the sentences are for readers, and rewording all of them changes no verdict.
"""

from typing import Literal

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
    "public_refusals",
    "parts_in_order",
    "nothing_outside",
    # What is told apart by `about` alone.
    "other",
]
"""What a side-condition says. Together with what it is about, the kind identifies a condition."""

SENTENCES: dict[ConditionKind, str] = {
    "sensitivity": "No pair of neighbouring data sets moves a query further than its stated sensitivity.",
    "fresh_noise": "Every release draws fresh noise, independent of all else that is published.",
    "floating_point": (
        "Floating-point noise behaves like the real-valued noise of the proof; its scale is the binary number next to "
        "the stated decimal, a relative 2^-53 away or less."
    ),
    "attained": "One pair of neighbouring data sets moves {listed} by the whole stated sensitivities at once.",
    "declared_times": "No part runs more often than it is declared, and none runs that is not declared.",
    "public_length": "A stream has at most {listed} elements, and no unpublished data decides its length.",
    "public_key": "Which part a record touches is decided by {listed}, never by the record's value.",
    "one_part": "Only the part decided by {listed} reads a record, and no more often than this part declares.",
    "one_cell": "A record fills exactly one cell; every other cell receives noise alone.",
    "contribution_bound": "No person contributes more than {listed} records to this part.",
    "secret_sample": "The sample is drawn by the scheme {listed}, whatever the records are, and stays secret.",
    "secret_order": (
        "The reports of {listed} users, each drawn by the same randomiser independently of the others, are shown in a "
        "uniform order that stays secret."
    ),
    "two_values": (
        "The two laws of {listed} are those of the only two values that a user may hold. They are not the worst two of "
        "more: beside others who hold a third value a report may be hidden less."
    ),
    "secret_positions": (
        "The steps of each record are drawn uniformly and by themselves, whatever the records are and wherever others "
        "are, {listed} in every epoch, and stay secret."
    ),
    "secret_count": (
        "The number of runs is drawn from the {listed} law as declared, whatever the records are; it stays secret, and "
        "so do all runs but the best one."
    ),
    "independent_runs": (
        "Each run draws its choices and its noise anew from one law and looks at no other run; its score is computed "
        "from its output alone, and ties are broken by fresh coins."
    ),
    "zeroed_as_absent": (
        "A zeroed record counts as an absent one: no query on {listed} moves when a zeroed record is taken away, a "
        "number of records included."
    ),
    "no_identifier_read": (
        "Queries on {listed} read values alone: another record in the place of one moves them no further than another "
        "value of that record does. A query that reads identifiers, keys or places may move further."
    ),
    "independent_keys": (
        "The secret keys of the other records, {listed}, have one law on both data sets, as where every record draws "
        "its own. Shuffled batches of a fixed size do not satisfy it where a record is removed."
    ),
    "no_data_read": "No data is read again by: {listed}.",
    "own_inputs_only": "Beside the public releases a user's output reads {listed} and nothing of other users.",
    "independent_users": (
        "A user's own output reaches no other user and no later computation for others, and no other user's data "
        "depends on it."
    ),
    "whole_record": "What is declared below a billboard protects everything that a user's record holds.",
    "one_appearance": "A user of a billboard, which is what is published to all users, appears once, with one record.",
    "one_message": "A user sends one message, noised before it leaves the device; nothing else leaves it.",
    "stated": "The privacy stated by {listed} holds, for the neighbours declared there.",
    "clipping": "No contribution exceeds its bound: {listed}.",
    "one_contribution": "A record enters once, and moves one number by its bound at most: {listed}.",
    "public_schedule": "The schedule was fixed before any data was seen: {listed}.",
    "distinct_noise": "No two releases of the run carried the same noise, and noise had a stream of its own.",
    "own_noise_stream": "Noise had a random stream of its own, shared with no published choice.",
    "whole_domain": "The bound runs over the whole domain: {listed}.",
    "independent_design": "The public design is drawn independently of the records: {listed}.",
    "printed_premise": "The published proof needs that this holds: {listed}.",
    "training_loop": "The {listed} of the training loop is as declared.",
    "implementation": "The implementation is used as its accountant assumes: {listed}.",
    "limit_fixed_first": "The limit and the theorem were chosen before the first release.",
    "within_limit": (
        "The rho of all that is released under a filter, at the noise that each step has, adds up to {listed} at most."
    ),
    "public_refusals": "Whether a part is refused depends on declared costs alone, never on the data.",
    "parts_in_order": (
        "Each part is finished before the next one is chosen, from what was released and from nothing else about "
        "the data."
    ),
    "nothing_outside": "Nothing about these records is released outside the filter.",
    "other": "This holds: {listed}.",
}
"""One sentence for each kind; `{listed}` stands for what the condition is about."""

UNNAMED: dict[ConditionKind, str] = {
    "own_inputs_only": "their own record",
    "attained": "all releases",
    "no_data_read": "whatever is computed from the releases",
}
"""What `{listed}` stands for where nothing is named, as in `own_inputs_only` of a billboard without `reads`."""

GENERAL: frozenset[ConditionKind] = frozenset(
    (
        "sensitivity",
        "fresh_noise",
        "floating_point",
        "attained",
        "declared_times",
        "one_cell",
        "no_data_read",
        "own_inputs_only",
        "independent_users",
        "whole_record",
        "one_appearance",
        "one_message",
        "independent_runs",
        "distinct_noise",
        "own_noise_stream",
        "limit_fixed_first",
        "public_refusals",
        "parts_in_order",
        "nothing_outside",
    )
)
"""The kinds that may be about the whole declaration; every other kind must say what it is about."""


def sentence_of(kind: ConditionKind, about: tuple[str, ...]) -> str:
    """Return the sentence of `kind` for what it is `about`.

    >>> sentence_of("public_key", ("the arrival time",))
    "Which part a record touches is decided by the arrival time, never by the record's value."
    """
    return SENTENCES[kind].format(listed=", ".join(about) or UNNAMED.get(kind, ""))
