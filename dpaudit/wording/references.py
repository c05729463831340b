"""The foundation of each rule of the tight reading: a machine-checked proof, a proof on paper, a source, or nothing."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from dpaudit.json_schema import Text
from dpaudit.model.node_kinds import NodeKind
from dpaudit.runtime.tables import table_of

Standing = Literal["machine_checked", "on_paper", "cited", "no_theorem"]

Variant = Literal["adaptive_choice", "tree", "tree_plan", "secret_key", "shifted_group", "sample", "by_definition"]
"""Rules that a node kind uses in some cases only, or in place of its usual one."""

RuleKind: TypeAlias = NodeKind | Variant

STANDING_WORDS: dict[Standing, str] = {
    "machine_checked": "machine-checked",
    "on_paper": "proved on paper",
    "cited": "cited",
    "no_theorem": "no theorem",
}
"""How each standing is printed."""


_ROWS: dict[Any, dict[str, Any]] = table_of("dpaudit.wording", "references.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a rule rests on: the file of a proof with its `theorem`, a page of the documents, or a source.

    `place` is a path in the project's repository where something is proved, and the source in words elsewhere. `scope`
    says what the standing covers or leaves out. The standing is that of the rule as the tight reading uses it.
    """

    rule: RuleKind
    standing: Standing
    place: Text
    theorem: str = ""
    scope: str = ""


REFERENCES: dict[RuleKind, Reference] = {rule: Reference(rule=rule, **row) for rule, row in _ROWS.items()}
"""One entry for each kind of node and each variant; `reference` fills in a source that depends on the node."""


def reference(rule: RuleKind, source: str = "") -> Reference:
    """Return what `rule` rests on, with `source` as the place of an entry that proves nothing itself.

    >>> reference("billboard").place
    'docs/proofs/Billboard.v'
    """
    entry = REFERENCES[rule]
    return replace(entry, place=source) if source and entry.standing in {"cited", "no_theorem"} else entry


def reference_words(entry: Reference) -> str:
    """Return a reference as one phrase.

    >>> reference_words(reference("tree"))
    'machine-checked: docs/proofs/Tree.v, touched_at_most (the number of nodes that an element meets)'
    """
    theorem = f", {entry.theorem}" if entry.theorem else ""
    scope = f" ({entry.scope})" if entry.scope else ""
    return f"{STANDING_WORDS[entry.standing]}: {entry.place}{theorem}{scope}"
