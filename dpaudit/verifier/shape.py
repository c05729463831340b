"""The form of a certificate: its keys and values, which nodes may lie below which ones, and this checker's own texts.

`tables.json` holds both. A form names a table's keys (a ? after one that may be missing) with the form of what
stands there: a kind of value below, `[form]` for a list, `+[form]` for one that is not empty, words parted by | for a
choice of them, or another table. A nest is a row of outer node, move and inner nodes; one without a row is refused.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpaudit.verifier.refusals import Table, require

TABLES: Table = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))
_KINDS: dict[str, tuple[Callable[[Any], object], str]] = {
    "number": (lambda value: type(value) in (int, float), "a number"),
    "extended": (lambda value: value == "inf" or type(value) in (int, float), 'a number or "inf"'),
    "amount": (lambda value: type(value) in (int, float) and value >= 0, "a number of at least 0"),
    "level": (lambda value: value == "inf" or _KINDS["amount"][0](value), 'a number of at least 0, or "inf"'),
    "share": (lambda value: type(value) in (int, float) and 0 <= value < 1, "a number in [0, 1)"),
    "count": (lambda value: type(value) is int and 1 <= value < 2**63, "a count"),
    "index": (lambda value: type(value) is int and 0 <= value < 2**63, "an index"),
    "sign": (lambda value: type(value) is int and abs(value) == 1, "1 or -1"),
    "truth": (lambda value: type(value) is bool, "true or false"),
    "text": (lambda value: isinstance(value, str) and value.strip(), "text"),
    "rule": (lambda value: isinstance(value, str) and value.startswith("DPA"), "the name of a rule"),
    "digest": (lambda value: isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value)), "a SHA-256"),
    "field": (lambda value: not isinstance(value, dict), "a number, a text or a list"),
    "versions": (lambda value: {"python", "dpaudit"} <= {*value} and {*map(type, value.values())} == {str}, "versions"),
}
_NESTS: Table = TABLES["nests"]
_TAGS = {"node": "node", "mechanism": "name", "loss": "loss"}  # forms whose tables name their own kind


def derives(name: str) -> bool:
    """Return whether this checker derives the losses of a mechanism by its name."""
    return f"name {name}" in TABLES["forms"]


def check_shape(data: Any) -> None:
    """Refuse a certificate that has not its form."""
    require(isinstance(data, dict), "the certificate is no table")
    stated, schema = data.get("schema", "none"), TABLES["schema"]
    trusted = data.get("verdict") == "certified" and '"node": "stated"' in json.dumps(data.get("declaration"))
    why = "; it says certified of what somebody else states, which is now the verdict stated" if trusted else ""
    require(stated == schema, f"schema {stated!r:.80} is not read here, but {schema!r}{why}: certify again")
    claim = data.get("claim")
    measure = claim.get("measure", "") if isinstance(claim, dict) else ""
    form = f"certificate {measure!s:.20}".strip()
    require(form in TABLES["forms"], f"a claim in {measure!s:.40} is not read here")
    _check(data, form, "the certificate")


def _check(value: Any, form: str, name: str) -> None:
    """Refuse a value that has not its form."""
    if form in _KINDS:
        require(_KINDS[form][0](value), f"{name}={value!r:.80} is not {_KINDS[form][1]}")
    elif "[" in form:
        require(isinstance(value, list) and (value or form[0] != "+"), f"{name} is no list, or an empty one")
        for i, item in enumerate(value):
            _check(item, form.strip("+[]"), f"{name}[{i}]")
    elif "|" in form:
        require(isinstance(value, str) and value in form.split("|"), f"{name}={value!r:.80} is none of {form}")
    else:
        _check_table(value, form, name)


def _check_table(value: Any, form: str, name: str) -> None:
    """Refuse a table with other keys than its form; nodes and mechanisms name theirs."""
    require(isinstance(value, dict), f"{name} is no table")
    plugged = form == "mechanism" and "stated" in value and f"name {value.get('name')!s:.80}" not in TABLES["forms"]
    if form in _TAGS and not plugged:
        remedy = "; `dpaudit certify --as-stated` states what it proves" if form == "mechanism" else ""
        form = f"{_TAGS[form]} {value.get(_TAGS[form])!s:.80}"
        require(form in TABLES["forms"], f"{name}: {form!r} cannot be derived again by this checker{remedy}")
    fields = TABLES["forms"]["plug-in" if plugged else form]
    if plugged:  # its own fields may have any name
        fields = dict.fromkeys(value.keys() - {"neighbours"}, "field") | fields
    known = {key.rstrip("?"): held for key, held in fields.items()}
    unknown, missing = value.keys() - known.keys(), fields.keys() - {f"{key}?" for key in known} - value.keys()
    require(not unknown, f"{name} has the unknown keys {', '.join(sorted(unknown))}")
    require(not missing, f"{name} lacks {', '.join(sorted(missing))}")
    for key, held in value.items():
        _check(held, known[key], f"{name}.{key}")


def nest_complaint(tree: Table, relation: str) -> str:
    """Return the first nest without a rule in a tree that is read for a relation; empty where there is none."""
    agenda = [(node, str(_NESTS["moves"][relation]), 1, False) for node in _reached(tree)]
    while agenda:
        node, move, records, bare = agenda.pop()
        name = name_of(node)
        if name in _NESTS["leaves"]:
            continue
        row = _NESTS["below"][name].get(move)
        if said := _sizes_complaint(node, move, records) or ("" if row else f"{name} under {move}: no rule"):
            return said
        moved = records * node.get("size", 1) if name in _NESTS["grouping"] else 1
        if name == "billboard" and moved > 1:  # a person's records reach through it
            group = {kind.removesuffix("/leaves") for kind in _NESTS["below"]["group"].get(move, [])}
            row = [kind for kind in row if kind.removesuffix("/leaves") in group]
        for inner, inside in _inner(node, name, move):
            kind = name_of(inner)
            over_leaves = kind not in row and f"{kind}/leaves" in row
            if not (kind in row or over_leaves) or (bare and kind not in _NESTS["leaves"]):
                return f"{name} over {kind} under {move}: no rule"
            sampled = name in TABLES["sizes"] and kind in _NESTS["sized"]
            if sampled and (inner.get("population") or 0) != node.get("batch_size"):
                return f"{name} over {kind} under {move}: no rule for a population that is not the outer batch"
            agenda.append((inner, inside, moved, over_leaves))
    return ""


def require_rules(tree: Table, relation: str) -> None:
    """Reject a tree with a nest that has no rule."""
    said = nest_complaint(tree, relation)
    require(not said, said)


def name_of(node: Table) -> str:
    """Return the name of a node in the table: its kind, or the scheme of its sample."""
    if node["node"] == "subsample":
        return str(node.get("scheme", "poisson"))
    secret = node["node"] == "parallel" and node.get("visibility") == "secret"
    return "secret parallel" if secret else str(node["node"])


def _reached(node: Table) -> list[Table]:
    """Return the next nodes that do not count as not there, from one on."""
    if node["node"] not in _NESTS["through"]:
        return [node]
    return [held for part in node.get("parts", [node.get("part")]) for held in _reached(part)]


def _inner(node: Table, name: str, move: str) -> list[tuple[Table, str]]:
    """Return the next nodes below a node, each with each move that it is read under."""
    moves: list[str] = _NESTS["inside"].get(name, {}).get(move, [move])
    parts = [(part, inside) for part in node.get("parts", [node.get("part")]) for inside in moves]
    if name == "cells":
        parts = [(node["touched"], "remove"), *([(node["inside"], move)] if move != "remove" else [])]
    return [(held, inside) for part, inside in parts for held in _reached(part)]


def _sizes_complaint(node: Table, move: str, records: int) -> str:
    """Return what is wrong where records leave a set of fixed size: its sizes are needed, and enough records stay."""
    if node.get("scheme") != "without_replacement" or move != "remove":
        return ""
    if "population" not in node or "batch_size" not in node:
        return "without_replacement under remove: no rule for a rate alone"
    stays = node["batch_size"] <= node["population"] - records
    return "" if stays else f"without_replacement under remove: no rule where {records} records leave too few"
