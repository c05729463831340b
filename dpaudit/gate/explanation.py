"""The explanation of one rule of the gate: its meaning, its remedy and its exit code."""

from rich.console import Group, RenderableType

from dpaudit.gate.catalogue import RULES
from dpaudit.render.layout import columns, headline, section
from dpaudit.wording.markdown import cell

_COLOURS = {"error": "red", "warning": "yellow"}


def gate_rule_text(identifier: str) -> RenderableType:
    """Return a rule of the gate for a terminal."""
    rule = RULES[identifier]
    ends = "4, if nothing graver is found" if identifier == "DPA302" else "0"
    code = {"DPA001": "2"}.get(identifier, "1" if rule.level == "error" else ends)
    rows = [("name", rule.name), ("level", rule.level), ("remedy", rule.remedy), ("exit code", code)]
    return Group(headline(rule.id, _COLOURS[rule.level], rule.short), section("What to do"), columns(rows, "dim", ""))


def gate_rule_markdown(identifier: str) -> str:
    """Return a rule of the gate as Markdown."""
    rule = RULES[identifier]
    return f"## {rule.id}: {rule.name}\n\n{cell(rule.short)} {cell(rule.remedy)}\n"
