"""Plain data for our frozen objects and back: the one place that knows the JSON form of a declaration.

A node is `{"node": "sequential", ...fields}`, a mechanism `{"name": "gaussian", ...fields}`. Infinity is the
string "inf"; fields equal to None are left out. Reading refuses unknown names, unknown and missing
fields, and names the place of the fault.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from dpaudit.errors import ConfigError
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.declaration import Declaration, Printed
from dpaudit.model.mechanism import Mechanism
from dpaudit.runtime.plugins import find, suggestion

_NODES: dict[str, type[Any]] = {
    "release": nodes.Release,
    "sequential": nodes.Sequential,
    "repeat": nodes.Repeat,
    "parallel": nodes.Parallel,
    "cells": nodes.Cells,
    "group": nodes.Group,
    "subsample": nodes.Subsample,
    "post_process": nodes.PostProcess,
    "billboard": nodes.Billboard,
    "local": nodes.Local,
    "stated": nodes.Stated,
}
_NAMES = {kind: name for name, kind in _NODES.items()}
_DEPTH = 200


def encode(value: Any) -> Any:
    """Return `value` as JSON-ready data: numbers, strings, lists and dicts only."""
    if is_dataclass(value) and not isinstance(value, type):
        tag = _tag(value)
        return tag | {
            entry.name: encode(held) for entry in fields(value) if (held := getattr(value, entry.name)) is not None
        }
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _tag(value: Any) -> dict[str, str]:
    """Return what says which class an encoded object belongs to."""
    if type(value) in _NAMES:
        return {"node": _NAMES[type(value)]}
    return {"name": value.name} if isinstance(value, Mechanism) else {}


def decode_claim(data: Any) -> Claim:
    """Return the claim that `data` spells.

    Raises: ConfigError: not a table, an unknown or missing field, or a value out of range.
    """
    claim: Claim = _build(Claim, _table(data, "claim"), "claim", "replace_one")
    return claim


def decode_declaration(data: Any, neighbours: Neighbours, where: str = "declaration", depth: int = 0) -> Declaration:
    """Return the tree that `data` spells; mechanisms without a relation take `neighbours`.

    Inside `touched` of a cell array the relation is `add_remove`, as that node defines it.
    Raises: ConfigError: naming the place in the tree and the fault.
    """
    if depth > _DEPTH:
        raise ConfigError(f"{where}: the tree is deeper than {_DEPTH} nodes; write it flatter.")
    table = _table(data, where)
    kind = table.pop("node", None)
    if kind not in _NODES:
        known = suggestion(str(kind), tuple(_NODES))
        raise ConfigError(f"{where}: unknown node={kind!r}{known}")
    held: dict[str, Any] = {}
    for key, value in table.items():
        place = f"{where}.{key}"
        if key == "parts" and isinstance(value, list):
            held[key] = tuple(
                decode_declaration(part, neighbours, f"{place}[{i}]", depth + 1) for i, part in enumerate(value)
            )
        elif key in ("part", "inside", "touched"):
            relation: Neighbours = "add_remove" if key == "touched" else neighbours
            held[key] = decode_declaration(value, relation, place, depth + 1)
        else:
            held[key] = value
    node: Declaration = _build(_NODES[kind], held, where, neighbours)
    return node


def decode_mechanism(data: Any, neighbours: Neighbours, where: str) -> Mechanism:
    """Return the mechanism that `data` spells, looked up by the name of its file in `mechanisms`.

    Raises: ConfigError: unknown name, unknown or missing field, or a value out of range.
    """
    table = _table(data, where)
    try:
        kind = find("mechanisms", str(table.pop("name", None)))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    mechanism: Mechanism = _build(kind, table, where, neighbours)
    return mechanism


def _table(data: Any, where: str) -> dict[str, Any]:
    """Return a copy of `data` if it is a table."""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{where}: expected a table, got {data!r:.80}.")
    return dict(data)


def _build(kind: type[Any], table: dict[str, Any], where: str, neighbours: Neighbours) -> Any:
    """Return `kind(**table)` with nested tables decoded by the type of their field."""
    hints = get_type_hints(kind)
    known = tuple(entry.name for entry in fields(kind))
    for key in table:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}{suggestion(key, known)}")
    held = {key: _field(hints[key], value, f"{where}.{key}", neighbours) for key, value in table.items()}
    if "neighbours" in known and kind not in (Claim, nodes.Stated):
        held.setdefault("neighbours", neighbours)
    for entry in fields(kind):
        if entry.default is MISSING and entry.default_factory is MISSING and entry.name not in held:
            raise ConfigError(f"{where}: missing key {entry.name!r}.")
    try:
        return kind(**held)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{where}: {error}") from None


def _field(hint: Any, value: Any, where: str, neighbours: Neighbours) -> Any:
    """Return one field's value as its type wants it."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if value == "inf":
        return math.inf
    if Mechanism in options:
        return decode_mechanism(value, neighbours, where)
    if Printed in options:
        return _build(Printed, _table(value, where), where, neighbours)
    if isinstance(value, Mapping):
        return decode_mechanism(value, neighbours, where)
    if str in options and not isinstance(value, str):
        raise ConfigError(f"{where}: expected text, got {value!r:.80}.")
    return tuple(value) if isinstance(value, list) else value
