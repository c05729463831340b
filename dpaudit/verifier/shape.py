"""The form of a certificate: its keys and values, the checker's table of rules, and its own texts.

`tables.json` holds all of them. A form names a table's keys (a ? after one that may be missing) with the form of what
stands there: a kind of value below, `[form]` for a list, `+[form]` for one that is not empty, words parted by | for a
choice of them, or another table.
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
    "numbers": (lambda value: {*map(type, value.values())} <= {int, float}, "a table of numbers"),
    "versions": (lambda value: {"python", "dpaudit"} <= {*value} and {*map(type, value.values())} == {str}, "versions"),
}
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
    expected = {key.rstrip("?"): member for key, member in fields.items()}
    unknown, missing = value.keys() - expected.keys(), fields.keys() - {f"{key}?" for key in expected} - value.keys()
    require(not unknown, f"{name} has the unknown keys {', '.join(sorted(unknown))}")
    require(not missing, f"{name} lacks {', '.join(sorted(missing))}")
    for key, member in value.items():
        _check(member, expected[key], f"{name}.{key}")


def children(node: Table) -> list[Table]:
    """Return the parts of a node."""
    return [*node.get("parts", []), *(node[key] for key in ("inside", "touched", "part") if key in node)]


def name_of(node: Table) -> str:
    """Return the name of a node in the table: its kind, the scheme of its sample, or what a premise hangs on."""
    if node["node"] == "subsample":
        return str(node.get("scheme", "poisson"))
    if node["node"] == "shuffle" and any(part.get("mechanism", {}).get("name") == "finite" for part in walk(node)):
        return "shuffled_table"
    kind = str(node["node"])
    return str(TABLES["names"].get(f"{kind} {node.get('visibility') or node.get('per')}", kind))


def walk(node: Table) -> list[Table]:
    """Return all nodes, parents first."""
    return [node, *(below for part in children(node) for below in walk(part))]
