"""The explanation of one theorem: its formula, its source, its premises, and an example with numbers."""

from typing import Any

from dpaudit.documents.document import Code, Document, Paragraph, document, items, under
from dpaudit.model.declaration import Billboard, Declaration, Group, Local, Printed, Release, Sequential, Stated
from dpaudit.render.substitution import substituted
from dpaudit.rules import RELEASE_NAMES, RULES, Budget, Rule, Step
from dpaudit.runtime.plugins import find_plugin

_PART = Budget(epsilon=0.1, delta=0.0)
_TIMES = 50


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
    printed = Printed(rule=rule.name, epsilon=0.9, delta=0.0 if rule.name in _PURE else 1e-5)
    node = _node(rule, printed)
    if isinstance(node, Release):
        step, what = Step(node=node, printed=printed, parts=()), f"one release of {_words(node)}"
    elif isinstance(node, Sequential):
        step = Step(node=node, printed=printed, parts=((_PART, _TIMES),))
        what = f"{_TIMES} parts of epsilon {_PART.epsilon:g} each, delta 10⁻⁵ for the whole"
    else:
        step = Step(node=node, printed=printed, parts=((_PART, 1),))
        what = f"one part of epsilon {_PART.epsilon:g}"
    concluded = rule.conclude(step)
    return (
        f"{what}: {substituted(rule, step, concluded)}",
        *(f"✗ {problem}" for problem in (rule.premises(step) if isinstance(node, Release) else ())),
        f'a declaration cites it by printed = {{ rule = "{rule.name}", epsilon = ..., delta = ... }}',
    )


_PURE = ("laplace", "randomised_response", "wishart", "tree")


def _node(rule: Rule, printed: Printed) -> Declaration:
    """Return a node that the rule applies to."""
    part = Stated(epsilon=_PART.epsilon, source="an example")
    match rule.name:
        case "billboard":
            return Billboard(part=part, printed=printed)
        case "local":
            return Local(part=part, printed=printed)
        case "group":
            return Group(part=part, size=3, printed=printed)
        case "parallel" | "post_processing":
            return Group(part=part, size=1, printed=printed)
        case name if name in RELEASE_NAMES:
            return Release(label="example", mechanism=_mechanism(name), printed=printed)
        case _:
            return Sequential(parts=(part,), printed=printed)


def _mechanism(name: str) -> Any:
    """Return a mechanism that a rule about releases applies to."""
    relation = {"neighbours": "replace_one"}
    if name in ("classic_gaussian", "classic_gaussian_2", "analytic_gaussian"):
        return find_plugin("mechanisms", "gaussian")(stddev=10.0, l2_sensitivity=1.0, **relation)
    if name == "randomised_response":
        return find_plugin("mechanisms", name)(epsilon=0.5, **relation)
    leaf = find_plugin("mechanisms", "laplace")(scale=10.0, l1_sensitivity=1.0, **relation)
    if name == "tree":
        return find_plugin("mechanisms", "tree_aggregation")(horizon=8, leaf=leaf)
    if name == "wishart":
        return find_plugin("mechanisms", "one_sided_wishart")(
            dimension=2, scale=10.0, trace_sensitivity=1.0, **relation
        )
    return leaf


def _words(node: Release) -> str:
    """Return a mechanism in words."""
    return f"{node.mechanism.name.replace('_', ' ')} noise"
