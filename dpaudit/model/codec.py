"""Plain data for our frozen objects and back: the one place that knows the JSON form of a declaration.

A node is `{"node": "sequential", ...fields}`, a mechanism `{"name": "gaussian", ...fields}`. Infinity is the
string "inf"; fields equal to None are left out. The losses of a plug-in mechanism stand beside its fields, under
`stated`. Reading refuses unknown names, unknown and missing fields, and names the place of the fault.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dpaudit.checks import field_of
from dpaudit.errors import ConfigError, Fault, KeyPath
from dpaudit.model.claim import Claim, Neighbours, measure_of
from dpaudit.model.declaration import Declaration, Printed, Stated
from dpaudit.model.measures.claims import KINDS, MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.mechanism import Mechanism, is_mechanism, is_plugged_in, stated_losses
from dpaudit.model.moves import relation_read
from dpaudit.model.node_kinds import NODE_KINDS, NODES
from dpaudit.runtime.plugins import find_plugin, suggestion

_DEPTH = 200
_STATED = "stated"
"""The key under which a plug-in mechanism's losses stand."""


def encode(value: Any) -> Any:
    """Return `value` as JSON-ready data: numbers, strings, lists and dicts only."""
    if isinstance(value, Ends):
        return value.plain()
    if isinstance(value, MeasuredClaim):
        return _plain_claim(value)
    if is_dataclass(value) and not isinstance(value, type):
        field_values = {entry.name: getattr(value, entry.name) for entry in fields(value)}
        plain = _tag(value) | {name: encode(item) for name, item in field_values.items() if item is not None}
        return plain | ({_STATED: stated_losses(value)} if is_plugged_in(value) else {})
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _plain_claim(claim: MeasuredClaim) -> dict[str, Any]:
    """Return a claim with its measure and its numbers; points are tables."""
    numbers = {name: encode(getattr(claim, name)) for name in claim.numbers}
    if claim.keys:
        numbers = {claim.measure: [dict(zip(claim.keys, row, strict=True)) for row in numbers[claim.measure]]}
    return {"measure": claim.measure, **numbers, **claim.whose}


def _tag(value: Any) -> dict[str, str]:
    """Return what says which class an encoded object belongs to."""
    if type(value) in NODE_KINDS:
        return {"node": NODE_KINDS[type(value)]}
    return {"name": value.name} if is_mechanism(value) else {}


def decode_claim(data: Any) -> Claim:
    """Return the claim that `data` spells.

    Raises: Fault: not a table, an unknown or missing field, or a value out of range.
    """
    table = _table(data, ("claim",))
    try:
        measure = measure_of(table)
    except ValueError as error:
        raise _fault(("claim",), str(error)) from None
    said = table.pop("measure", measure)
    if said != measure:
        raise _fault(("claim",), f"measure={said!r} is not that of its numbers; write {said!s:.20}=...", "measure")
    return _build(KINDS.get(measure, Claim), table, ("claim",), "replace_one")


def decode_declaration(
    data: Any, neighbours: Neighbours, where: KeyPath = ("declaration",), depth: int = 0
) -> Declaration:
    """Return the tree that `data` spells; mechanisms without a relation take `neighbours`.

    Inside `touched` of a cell array the relation is `add_remove`, as that node defines it; samples and allocations
    define the relation of their part, too.
    Raises: Fault: naming the place in the tree and what is wrong there.
    """
    if depth > _DEPTH:
        raise _fault(where, f"the tree is deeper than {_DEPTH} nodes; write it flatter.")
    table = _table(data, where)
    if "node" not in table:
        raise _fault(where, f"missing key 'node', one of: {', '.join(NODES)}.")
    kind = table.pop("node")
    _refuse_by_name(kind, where, "node")
    if not isinstance(kind, str) or kind not in NODES:
        raise _fault(where, f"unknown node={kind!r}{suggestion(str(kind), tuple(NODES))}", "node")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "parts" and isinstance(value, list):
            values[key] = tuple(
                decode_declaration(part, neighbours, (*where, key, i), depth + 1) for i, part in enumerate(value)
            )
        elif key in ("part", "inside", "touched"):
            name = str(table.get("scheme", "poisson")) if kind == "subsample" else str(kind)
            relation = relation_read(name, int(key == "touched"), neighbours)
            values[key] = decode_declaration(value, relation, (*where, key), depth + 1)
        else:
            values[key] = value
    return _build(NODES[kind], values, where, neighbours)


REFUSED: dict[str, str] = {
    "pate": "its data-dependent bound is itself private; state the (epsilon, delta) of its votes as a 'stated' node.",
    "propose_test_release": "its test and its release share one budget on events of the data; state its (epsilon, "
    "delta) as a 'stated' node.",
    "sparse_vector": "which answers stop it depends on the data; state its epsilon as a 'stated' node.",
    "amplification_by_iteration": "it needs convex losses and hidden iterates, which no run can show; declare the "
    "releases without it.",
    "privacy_blanket": "it needs the whole law of the randomiser, not its epsilon; declare the reports as a 'shuffle' "
    "node, whose bound holds for every randomiser.",
}
"""What people ask for by name, as a mechanism or as a node, and no loss here covers: why, and what to declare."""


def _refuse_by_name(name: Any, where: KeyPath, key: str) -> None:
    """Refuse what is known by name and not covered; a hyphen or a space stands for an underscore."""
    reason = REFUSED.get(re.sub(r"[-\s]", "_", str(name).lower()))
    if reason is not None:
        raise _fault(where, f"{name!r} is not covered: {reason}", key)


def decode_mechanism(data: Any, neighbours: Neighbours, where: KeyPath) -> Mechanism:
    """Return the mechanism that `data` spells, looked up by the name of its file in `mechanisms`.

    Raises: Fault: unknown name, unknown or missing field, a value out of range, or stated losses that the plug-in does
        not have.
    """
    table = _table(data, where)
    if "name" not in table:
        raise _fault(where, "missing key 'name', a mechanism; `dpaudit list mechanisms` shows them.")
    _refuse_by_name(table["name"], where, "name")
    stated = table.pop(_STATED, None)
    try:
        kind = find_plugin("mechanisms", str(table.pop("name")))
    except ConfigError as error:
        raise _fault(where, error.message, "name") from None
    mechanism: Mechanism = _build(kind, table, where, neighbours)
    if stated is not None and not (is_plugged_in(mechanism) and stated == stated_losses(mechanism)):
        raise _fault(where, "the stated losses are not those of the mechanism; leave them out.", _STATED)
    return mechanism


def _fault(where: KeyPath, message: str, *key: str) -> Fault:
    """Return a fault at `key` of the table at `where`; its message names the table."""
    table_name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).removeprefix(".")
    return Fault((*where, *key), f"{table_name}: {message}")


def _table(data: Any, where: KeyPath) -> dict[str, Any]:
    """Return a copy of `data` if it is a table."""
    if not isinstance(data, Mapping):
        raise _fault(where, f"expected a table, got {data!r:.80}; write {{ key = value, ... }}.")
    return dict(data)


def _build(kind: type[Any], table: dict[str, Any], where: KeyPath, neighbours: Neighbours) -> Any:
    """Return `kind(**table)` with nested tables decoded by the type of their field."""
    hints = get_type_hints(kind)
    entries = [entry for entry in fields(kind) if entry.init]
    keys = tuple(entry.name for entry in entries)
    for key in table:
        if key not in keys:
            raise _fault(where, f"unknown key {key!r}{suggestion(key, keys)}", key)
    values = dict(table)
    if not issubclass(kind, MeasuredClaim):  # such a claim takes its points in any form
        values = {key: _field(hints[key], value, (*where, key), neighbours) for key, value in table.items()}
    if "neighbours" in keys and not issubclass(kind, Claim | Stated):
        values.setdefault("neighbours", neighbours)
    for entry in entries:
        if entry.default is MISSING and entry.default_factory is MISSING and entry.name not in values:
            raise _fault(where, f"missing key {entry.name!r}{_choices(kind, entry.name)}.")
    try:
        return kind(**values)
    except (ValueError, TypeError) as error:
        field = field_of(error, keys)
        raise _fault(where, str(error), *([field] if field else [])) from None


def _choices(kind: type[Any], name: str) -> str:
    """Return what a missing key may be, as the end of a complaint; nothing where the name says it."""
    if kind is Claim and name == "epsilon":
        return f"; a claim states epsilon (and delta), or one of: {', '.join(KINDS)}"
    allowed = get_args(get_type_hints(kind)[name]) if get_origin(get_type_hints(kind)[name]) is Literal else ()
    return f", one of: {', '.join(map(str, allowed))}" if allowed else ""


def _field(hint: Any, value: Any, where: KeyPath, neighbours: Neighbours) -> Any:
    """Return one field's value as its type wants it."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if value == "inf" and float in options:
        return math.inf
    if Mechanism in options:
        return decode_mechanism(value, neighbours, where)
    if Printed in options:
        return _build(Printed, _table(value, where), where, neighbours)
    if isinstance(value, Mapping):
        return decode_mechanism(value, neighbours, where)
    if str in options and not isinstance(value, str):
        raise _fault(where, f"expected text, got {value!r:.80}.")
    if get_origin(hint) is tuple and not isinstance(value, list | tuple):
        raise _fault(where, f"expected a list, got {value!r:.80}.")
    if get_origin(hint) is tuple and get_args(hint)[0] is str:
        wrong = [item for item in value if not isinstance(item, str)]
        if wrong:
            raise _fault(where, f"expected a list of texts, got {wrong[0]!r:.80} in it.")
    return tuple(value) if isinstance(value, list) else value
