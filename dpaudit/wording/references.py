"""The foundation of each rule of the tight reading: a machine-checked proof, a proof on paper, a source, or nothing."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dpaudit.json_schema import Text
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
    place: Text
    theorem: str = ""
    scope: str = ""


def _checked(proof: str, theorem: str, scope: str = _FINITE) -> tuple[Standing, str, str, str]:
    """Return what is known of a rule with a machine-checked proof in `docs/proofs`."""
    return "machine_checked", f"docs/proofs/{proof}.v", theorem, scope


_OF_THE_NODE: tuple[Standing, str, str, str] = ("cited", "the source of the node", "", "")
_ROWS: dict[RuleKind, tuple[Standing, str, str, str]] = {
    "release": ("cited", "the source of the privacy loss of this noise", "", ""),
    "by_definition": ("no_theorem", "a sum over the outcomes", "", ""),
    "tree": _checked("Tree", "touched_at_most", "the number of nodes that an element meets"),
    "tree_plan": (
        "on_paper",
        "docs/theory/trees.md",
        "",
        "the cost of given leaves is machine-checked, the search for the worst leaves is code",
    ),
    "sequential": _checked("DominatingPairs", "rounds_dominated"),
    "repeat": _checked("DominatingPairs", "rounds_dominated"),
    "adaptive_choice": _checked("AdaptiveChoice", "adaptive_choice", f"{_FINITE}; which copies are paired is code"),
    "parallel": _checked("Parallel", "parallel_curves"),
    "secret_key": ("on_paper", "docs/theory/composition.md", "", ""),
    "cells": ("on_paper", "docs/theory/neighbours.md", "", "its (epsilon, delta) form is machine-checked"),
    "group": _checked("Composition", "group_privacy"),
    "shifted_group": _OF_THE_NODE,
    "shuffle": _OF_THE_NODE,
    "best_of": ("on_paper", "docs/theory/selection.md", "", ""),
    "subsample": _OF_THE_NODE,
    "allocate": _OF_THE_NODE,
    "sample": _checked(
        "Subsampling", "removed", f"{_FINITE}, a removed record; the sharper curve of an added one is cited"
    ),
    "post_process": _checked("PostProcessing", "post_processing"),
    "billboard": _checked("Billboard", "billboard_lemma"),
    "local": _checked("Parallel", "parallel_curves", f"{_FINITE}, each user's message being a round"),
    "stated": ("no_theorem", "an upper bound taken on trust", "", ""),
}
"""Standing, place, theorem and scope of each kind of node and of each variant."""

REFERENCES: dict[RuleKind, Reference] = {
    rule: Reference(rule=rule, standing=standing, place=place, theorem=theorem, scope=scope)
    for rule, (standing, place, theorem, scope) in _ROWS.items()
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
