"""The rules of the gate, read from the table beside this file; the meaning of an identifier never changes."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One kind of issue: what it means, and what to do about it."""

    id: str
    name: str
    level: Level = "error"
    short: str
    remedy: str


_TABLE = tomllib.loads(files("dpaudit.gate").joinpath("rules.toml").read_text(encoding="utf-8"))

RULES: dict[str, GateRule] = {identifier: GateRule(id=identifier, **row) for identifier, row in _TABLE.items()}
"""Every rule by its identifier, in order."""


def rule_of(identifier: str) -> GateRule:
    """Return a rule; an identifier that this version does not know becomes a rule of level error."""
    unknown = GateRule(
        id=identifier, name=identifier, short="The run contradicts its declaration.", remedy="Read the message."
    )
    return RULES.get(identifier, unknown)
