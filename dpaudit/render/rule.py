"""The explanation of one theorem: its formula, its source, its premises, and an example with numbers."""

from dataclasses import replace
from typing import Any

from dpaudit.documents.document import Code, Document, Paragraph, document, items, under
from dpaudit.model.codec import decode_declaration
from dpaudit.model.declaration import Cells, Printed, Release, Sequential
from dpaudit.model.losses import GaussianLoss
from dpaudit.render.substitution import substituted
from dpaudit.rules import RULES, Budget, Rule, Step

_PART = Budget(epsilon=0.1, delta=0.0)
_TIMES = 50
_COUNTED = {1: "one part", 2: "two parts"}


def rule_document(name: str) -> Document:
    """Return a rule."""
    rule = RULES[name]
    return document(
        under(f"{rule.title} ({rule.name})", Paragraph(rule.source)),
        under("Formula", Code(rule.formula)),
        under("Needs", items(rule.side_conditions or ("nothing beside its arithmetic",))),
        under("Example", items(_example(rule))),
    )


def rule_data(name: str) -> dict[str, Any]:
    """Return a rule as plain data."""
    rule = RULES[name]
    return {
        "name": rule.name,
        "title": rule.title,
        "formula": rule.formula,
        "source": rule.source,
        "side_conditions": list(rule.side_conditions),
        "example": list(_example(rule)),
    }


def _example(rule: Rule) -> tuple[str, ...]:
    """Return an example of the rule with computed numbers, and the citation in a declaration."""
    node = decode_declaration(rule.example, "replace_one")
    pure = isinstance(node, Release) and not isinstance(node.mechanism.loss(), GaussianLoss)
    printed = Printed(rule=rule.name, epsilon=0.9, delta=0.0 if pure else 1e-5)
    count = {Release: 0, Sequential: _TIMES, Cells: 2}.get(type(node), 1)
    parts = ((_PART, 1),) * count if isinstance(node, Cells) else ((_PART, count),) if count else ()
    step = Step(node=replace(node, printed=printed), printed=printed, parts=parts)
    what = f"{_COUNTED.get(count, count)} of epsilon {_PART.epsilon:g}"
    if isinstance(node, Release):
        what = f"one release of {node.mechanism.name.replace('_', ' ')} noise"
    elif isinstance(node, Sequential):
        what = f"{_TIMES} parts of epsilon {_PART.epsilon:g} each, delta 10⁻⁵ for the whole"
    return (
        f"{what}: {substituted(rule, step, rule.conclude(step))}",
        *(f"✗ {problem}" for problem in (rule.premises(step) if isinstance(node, Release) else ())),
        f'a declaration cites it by printed = {{ rule = "{rule.name}", epsilon = ..., delta = ... }}',
    )
