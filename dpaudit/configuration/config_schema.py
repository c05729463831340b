"""The JSON Schema (2020-12) of a configuration, for editors: written from the code that reads configurations.

It offers keys, defaults, values, ranges and meanings, and refuses unknown keys, wrong types, names that do not exist
and numbers out of a key's range. Rules between keys are left to `dpaudit certify`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import MISSING, is_dataclass
from pathlib import Path
from typing import Any

from dpaudit.configuration.configuration import (
    AccountingSettings,
    AuditSettings,
    EvidenceSettings,
    LibrarySettings,
    ReportSettings,
)
from dpaudit.configuration.fields import Field, fields_of
from dpaudit.errors import DPAuditError
from dpaudit.json_schema import JsonSchema, present, summary, type_schema
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Printed
from dpaudit.model.deployment import Deployment, System
from dpaudit.model.measures.claims import KINDS, MeasuredClaim
from dpaudit.model.mechanism import AdditiveMechanism, Mechanism
from dpaudit.model.node_kinds import NODES
from dpaudit.runtime.plugins import Kind, descriptions, find_plugin, names

_HEAD: JsonSchema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:dpaudit:schema:config:1",
    "title": "A configuration of dpaudit",
    "description": "An algorithm, a release of another library, or a claim with its declaration.",
    "type": "object",
}
_SECTIONS = {
    "system": System,
    "audit": AuditSettings,
    "evidence": EvidenceSettings,
    "claim": Claim,
    "library": LibrarySettings,
    "report": ReportSettings,
    "accounting": AccountingSettings,
    "deployment": Deployment,
}
_ALONE = {
    "algorithm": ("library", "claim", "declaration"),
    "library": ("algorithm", "problem", "claim", "declaration"),
    "declaration": ("algorithm", "library", "problem", "audit"),
}
"""Each kind of file by the section that makes it one, with the sections that may not stand beside it."""


def config_schema() -> JsonSchema:
    """Return the schema of a configuration, with the algorithms, problems and mechanisms of this installation.

    Plug-ins are among them; the keys of a plug-in that cannot be imported are left open.
    """
    sections = {name: table_schema(fields_of(kind), summary(kind)) for name, kind in _SECTIONS.items()}
    sections["claim"] = {"anyOf": [sections["claim"], *map(_measured_schema, KINDS.values())]}
    sections |= {"algorithm": _choice("algorithms"), "problem": _choice("problems")}
    sections |= {"declaration": {"$ref": "#/$defs/node"}}
    forms = [
        {"required": [own, *(["claim"] if own == "declaration" else [])], "not": {"anyOf": _any_of(others)}}
        for own, others in _ALONE.items()
    ]
    return _HEAD | {
        "properties": sections,
        "additionalProperties": False,
        "oneOf": forms,
        "$defs": dict(_definitions()),
    }


def _measured_schema(kind: type[MeasuredClaim]) -> JsonSchema:
    """Return the schema of a claim in another measure than epsilon and delta; points are a table or a list of them."""
    numbers = [kind.measure, *(["xi"] if kind.measure == "rho" else [])]
    who = tuple(field for field in fields_of(Claim) if field.name not in ("epsilon", "delta"))
    number: JsonSchema = {"type": "number", "minimum": 0}
    row: JsonSchema = {
        "type": "object",
        "properties": dict.fromkeys(kind.keys, number),
        "required": list(kind.keys),
        "additionalProperties": False,
    }
    value = {"anyOf": [row, {"type": "array", "minItems": 1, "items": row}]} if kind.keys else number
    schema = table_schema(who, summary(kind))
    schema["properties"] = dict.fromkeys(numbers, value) | schema["properties"]
    return schema | {"required": [kind.measure, *schema["required"]]}


def table_schema(fields: tuple[Field, ...], description: str, **fixed: str) -> JsonSchema:
    """Return the schema of one table: its keys, and the keys of `fixed` with the one value that each has."""
    constants: JsonSchema = {key: {"const": value} for key, value in fixed.items()}
    return {
        "type": "object",
        "description": description,
        "properties": constants | {field.name: _field_schema(field) for field in fields},
        "required": [*fixed, *(field.name for field in fields if field.required)],
        "additionalProperties": False,
    }


def _named(hint: Any) -> JsonSchema | None:
    """Return the schema of a type that configurations write in their own way."""
    if is_dataclass(hint) and isinstance(hint, type) and hint not in (*NODES.values(), Printed):
        return table_schema(fields_of(hint), summary(hint))
    return _NAMED.get(hint)


_NAMED: dict[Any, JsonSchema] = {
    Path: {"type": "string"},
    Mechanism: {"$ref": "#/$defs/mechanism"},
    AdditiveMechanism: {"$ref": "#/$defs/mechanism"},
    Printed: {"$ref": "#/$defs/printed"},
}


def _field_schema(field: Field) -> JsonSchema:
    """Return the schema of one key."""
    schema = type_schema(present(field.annotated), _named)
    if field.default is not MISSING and _writable(field.default):
        schema["default"] = list(field.default) if isinstance(field.default, tuple) else field.default
    return schema | ({"description": field.meaning} if field.meaning else {})


def _writable(value: Any) -> bool:
    """Return whether TOML and JSON can write a default."""
    return isinstance(value, str | int | tuple) or (isinstance(value, float) and math.isfinite(value))


def _any_of(names: tuple[str, ...]) -> list[JsonSchema]:
    """Return schemas of which one holds where one of the sections is there."""
    return [{"required": [name]} for name in names]


def _choice(kind: Kind) -> JsonSchema:
    """Return the schema of a section whose `name` decides which keys it has."""
    choices = names(kind)
    return {
        "type": "object",
        "properties": {"name": {"enum": list(choices), "description": f"One of `dpaudit list {kind}`."}},
        "required": ["name"],
        "oneOf": [{"$ref": f"#/$defs/{kind}.{name}"} for name in choices],
    }


def _definitions() -> Iterator[tuple[str, JsonSchema]]:
    """Yield each definition that sections refer to, by its name."""
    kinds: tuple[Kind, ...] = ("algorithms", "problems", "mechanisms")
    for kind in kinds:
        for name, line in descriptions(kind).items():
            yield f"{kind}.{name}", _table_of(kind, name, line)
    yield "mechanism", {"oneOf": [{"$ref": f"#/$defs/mechanisms.{name}"} for name in names("mechanisms")]}
    yield "printed", table_schema(fields_of(Printed), summary(Printed))
    yield "node", {"oneOf": [{"$ref": f"#/$defs/nodes.{kind}"} for kind in NODES]}
    for node, target in NODES.items():
        yield f"nodes.{node}", _node(node, target)


def _table_of(kind: Kind, name: str, line: str) -> JsonSchema:
    """Return the schema of the table that one algorithm, problem or mechanism is configured by."""
    try:
        fields = fields_of(find_plugin(kind, name))
    except (DPAuditError, ImportError, AttributeError, TypeError, ValueError, NameError):
        return {"type": "object", "description": line, "properties": {"name": {"const": name}}, "required": ["name"]}
    schema = table_schema(fields, line, name=name)
    if kind == "mechanisms":  # a declaration gives its mechanisms the claim's relation
        schema["required"] = [key for key in schema["required"] if key != "neighbours"]
    return schema


def _node(kind: str, target: Callable[..., Any]) -> JsonSchema:
    """Return the schema of one kind of node; its parts are nodes again."""
    schema = table_schema(fields_of(target), summary(target), node=kind)
    part = {"$ref": "#/$defs/node"}
    inner: JsonSchema = {"part": part, "inside": part, "touched": part, "parts": {"type": "array", "items": part}}
    for key in schema["properties"].keys() & inner.keys():
        described = schema["properties"][key].get("description")
        schema["properties"][key] = inner[key] | ({"description": described} if described else {})
    return schema
