"""The foundation of each rule of the tight reading: a machine-checked proof, a proof on paper, a source, or nothing."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dpaudit.model.node_kinds import NodeKind

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

_FINITE = "for finitely many outcomes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a rule rests on: the file of a proof with its `theorem`, a page of the documents, or a source.

    `place` is a path in the project's repository where something is proved, and the source in words elsewhere. `scope`
    says what the standing covers or leaves out. The standing is that of the rule as the tight reading uses it.
    """

    rule: RuleKind
    standing: Standing
    place: str
    theorem: str = ""
    scope: str = ""


REFERENCES: dict[RuleKind, Reference] = {
    entry.rule: entry
    for entry in (
        Reference(rule="release", standing="cited", place="the source of the privacy loss of this noise"),
        Reference(rule="by_definition", standing="no_theorem", place="a sum over the outcomes"),
        Reference(
            rule="tree",
            standing="machine_checked",
            place="docs/proofs/Tree.v",
            theorem="touched_at_most",
            scope="the number of nodes that an element meets",
        ),
        Reference(
            rule="tree_plan",
            standing="on_paper",
            place="docs/theory/trees.md",
            scope="the cost of given leaves is machine-checked, the search for the worst leaves is code",
        ),
        *(
            Reference(
                rule=kind,
                standing="machine_checked",
                place="docs/proofs/DominatingPairs.v",
                theorem="rounds_dominated",
                scope=_FINITE,
            )
            for kind in ("sequential", "repeat")
        ),
        Reference(
            rule="adaptive_choice",
            standing="machine_checked",
            place="docs/proofs/AdaptiveChoice.v",
            theorem="adaptive_choice",
            scope=f"{_FINITE}; which copies are paired is code",
        ),
        Reference(
            rule="parallel",
            standing="machine_checked",
            place="docs/proofs/Parallel.v",
            theorem="parallel_curves",
            scope=_FINITE,
        ),
        Reference(rule="secret_key", standing="on_paper", place="docs/theory/composition.md"),
        Reference(
            rule="cells",
            standing="on_paper",
            place="docs/theory/neighbours.md",
            scope="its (epsilon, delta) form is machine-checked",
        ),
        Reference(
            rule="group",
            standing="machine_checked",
            place="docs/proofs/Composition.v",
            theorem="group_privacy",
            scope=_FINITE,
        ),
        Reference(rule="shifted_group", standing="cited", place="the source of the node"),
        Reference(rule="shuffle", standing="cited", place="the source of the node"),
        Reference(rule="best_of", standing="on_paper", place="docs/theory/selection.md"),
        Reference(rule="subsample", standing="cited", place="the source of the node"),
        Reference(rule="allocate", standing="cited", place="the source of the node"),
        Reference(
            rule="sample",
            standing="machine_checked",
            place="docs/proofs/Subsampling.v",
            theorem="removed",
            scope=f"{_FINITE}, a removed record; the sharper curve of an added one is cited",
        ),
        Reference(
            rule="post_process",
            standing="machine_checked",
            place="docs/proofs/PostProcessing.v",
            theorem="post_processing",
            scope=_FINITE,
        ),
        Reference(
            rule="billboard",
            standing="machine_checked",
            place="docs/proofs/Billboard.v",
            theorem="billboard_lemma",
            scope=_FINITE,
        ),
        Reference(
            rule="local",
            standing="machine_checked",
            place="docs/proofs/Parallel.v",
            theorem="parallel_curves",
            scope=f"{_FINITE}, each user's message being a round",
        ),
        Reference(rule="stated", standing="no_theorem", place="an upper bound taken on trust"),
    )
}
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
