"""One kind of finding: what it means, and what to do about it."""

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType

from dpaudit.gate.catalogue import GateRule
from dpaudit.render.layout import inset, section


def issue_text(rule: GateRule) -> RenderableType:
    """Return the rule for a terminal."""
    return Group(
        section(f"{rule.id} ({rule.name}, {rule.level})"), inset(rule.short), section("Remedy"), inset(rule.remedy)
    )


def issue_markdown(rule: GateRule) -> str:
    """Return the rule as Markdown."""
    return f"## {rule.id} `{rule.name}` ({rule.level})\n\n{rule.short}\n\nRemedy: {rule.remedy}\n"


def issue_data(rule: GateRule) -> dict[str, Any]:
    """Return the rule as plain data."""
    return asdict(rule)
